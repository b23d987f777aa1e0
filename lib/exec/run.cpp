// One run of a plan.
#include "exec/executor.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "base/float_mode.hpp"
#include "exec/evaluate.hpp"
#include "exec/growing_states.hpp"
#include "exec/initial_values.hpp"
#include "exec/out_of_memory.hpp"
#include "exec/planned_work.hpp"
#include "exec/stored.hpp"
#include "exec/watcher.hpp"
#include "model/explain.hpp"
#include "model/report.hpp"
#include "op/compute.hpp"
#include "op/infer_context.hpp"
#include "op/shared_attrs.hpp"
#include "op/work.hpp"
#include "plan/measuring_kernel.hpp"
#include "plan/passes.hpp"
#include "tensor/copy.hpp"

namespace ovir {

class Executor::Run final : private EvalHost {
 public:
  Run(Executor& executor, RunContext& context, Sized& sized, std::span<const i64> iterations)
      : executor_(executor),
        plan_(*executor.plan_),
        context_(context),
        sized_(sized),
        growing_(plan_, sized, context),
        iterations_(iterations) {}

  void run(std::span<const Tensor> inputs, std::span<Tensor> results) {
    spend(sized_.work + (iterations_.empty() ? 0 : kStepsOfAnIteration));
    bind(inputs);
    if (context_.observer) watcher_.emplace(plan_, context_, sized_, *executor_.side_, iterations_).begin();
    const bool alone = context_.observer || context_.profiler;
    for (int s = 0; s < std::ssize(plan_.steps);) {
      context_.runtime.check();
      step_ = s;
      const auto& step = plan_.steps[s];
      const auto* joined = alone || sized_.steps[s].joined < 0 ? nullptr : &sized_.joined[sized_.steps[s].joined];
      const int end = joined ? joined->end : s + 1;
      const bool spared = is_spared(plan_, step, context_.states);
      if (watcher_ && spared) watch_spared(step, sized_.steps[s]);
      else if (watcher_) execute_watched(step, sized_.steps[s]);
      else if (spared) work_ = 0;
      else if (context_.profiler) execute_timed(step, sized_.steps[s]);
      else if (joined) execute_joined(s, *joined);
      else execute(step, sized_.steps[s]);
      for (; s < end; ++s) {
        if (executor_.recording_ && plan_.steps[s].by_shapes) record(plan_.steps[s]);
        if (sized_.all_planned) continue;
        for (const auto id : plan_.steps[s].frees)
          if (!sized_.fixed[id]) sized_.tensors[id] = Tensor();
      }
    }
    if (watcher_) watcher_->end();
    hand_over(results);
  }

 private:
  // --- before and after

  void bind(std::span<const Tensor> inputs) {
    for (std::size_t k = 0; k < plan_.parameters.size(); ++k) {
      const auto id = plan_.parameters[k];
      const auto stored = plan_.values[id].stored;
      const bool other = stored != ElementType::dynamic && inputs[k].type() != stored;
      sized_.tensors[id] =
          other ? sized_.converted(k, inputs[k], stored, context_.runtime.pool()) : inputs[k].unpacked().borrowed();
    }
    // Results lie in storage of their own, the last run's where nobody holds it any more.
    for (auto& [id, spare] : sized_.spare)
      sized_.tensors[id] = spare.renewed(plan_.value(id).stored, *sized_.shapes[id]);
  }

  void hand_over(std::span<Tensor> results) {
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = sized_.result(plan_, k);
    for (const auto id : sized_.moving) sized_.tensors[id] = Tensor();
  }

  void record(const Step& step) {
    // One that stays dynamic says each time what it takes.
    if (step.caching == Caching::none) executor_.recording_->work = saturating_add(executor_.recording_->work, work_);
    for (const auto id : step.outputs)
      if (!sized_.shapes[id] && sized_.tensors[id])
        executor_.recording_->found.emplace_back(id, sized_.tensors[id].shape());
  }

  // --- steps

  void execute(const Step& step, SizedStep& sized) {
    work_ = 0;
    try {
      switch (sized.how) {
        case How::view: return pass_on(step);
        case How::kernel: return run_kernel(step, sized);
        case How::reference: return run_reference(step, sized);
        case How::dynamic: return run_dynamic(step);
      }
    } catch (Failure& failure) {
      if (!step.nodes.empty()) rethrow_at(std::move(failure), step);
      throw;
    } catch (const std::bad_alloc& error) {
      auto failure = out_of_memory("what this layer computes with", error);
      if (!step.nodes.empty()) rethrow_at(std::move(failure), step);
      throw failure;
    }
  }

  void execute_timed(const Step& step, SizedStep& sized) {
    const auto begin = std::chrono::steady_clock::now();
    by_reference_ = false;
    execute(step, sized);
    const auto end = std::chrono::steady_clock::now();
    const bool kernel = step.kernel && !by_reference_;
    std::string name = sized.how == How::view ? "view" : kernel ? step.kernel->name() : "reference";
    context_.profiler->after({plan_, step, iterations_, sized_.tensors, std::move(name), begin, end});
  }

  void pass_on(const Step& step) {
    if (!sized_.fixed[step.outputs[0]]) sized_.pass_on(plan_, step);
  }

  /// Steps that are one job.
  void execute_joined(int begin, const Joined& joined) {
    work_ = 0;
    for (int s = begin; s < joined.end; ++s)
      if (sized_.steps[s].how == How::view) pass_on(plan_.steps[s]);
      else sized_.bind_moved(sized_.steps[s]);
    const FlushToZero mode;
    sized_.run_joined(plan_, joined, context_.runtime.pool());
  }

  void run_kernel(const Step& step, SizedStep& sized) {
    sized_.bind_moved(sized);
    const FlushToZero mode;
    step.kernel->run(*sized.state, sized.in, sized.out, context_.runtime);
  }

  void run_reference(const Step& step, SizedStep& sized) {
    by_reference_ = true;
    for (const auto& [tensor, id] : sized.moved) *tensor = sized_.tensors[id];
    auto& c = *sized.eval;
    c.set_host(this, plan_.node(step).maps);
    compute(c);
    const auto& results = c.finish();
    for (std::size_t o = 0; o < step.outputs.size(); ++o)
      if (results[o]) store_as_planned(step.outputs[o], results[o]);
    c.restart();
    for (const auto& [tensor, id] : sized.moved) *tensor = Tensor();
  }

  /// Puts a value where it is expected: a copy where it has its place already.
  void store(int id, const Tensor& value) {
    auto& place = sized_.tensors[id];
    if (!sized_.fixed[id] && !sized_.planned[id]) {
      // The arena's bytes are overwritten later in the same run.
      place = sized_.arena && value.owner().get() == sized_.arena.get() ? value.copied() : value;
    } else if (place.bytes() != value.bytes() && value.byte_size() > 0) {
      std::memcpy(place.mutable_bytes(), value.unpacked().bytes(), place.byte_size());
    }
  }

  /// What was prepared for a value reads as many bytes as it was planned to have.
  void store_as_planned(int id, const Tensor& value) {
    if (const auto& planned = sized_.shapes[id]; planned && value.shape() != *planned)
      fail_shape(to_string(*planned), value.shape());
    store(id, value);
  }

  std::vector<Tensor> operands(const Step& step) const {
    std::vector<Tensor> list;
    list.reserve(step.inputs.size());
    for (const auto id : step.inputs) list.push_back(plain(id));
    return list;
  }
  /// The operands of a node that is a step of its own, by its input ports: a kernel may have packed a constant, or take
  /// an operand that comes twice only once. Those of a group are the step's.
  std::vector<Tensor> node_operands(const Step& step, std::vector<Tensor> given) const {
    if (step.nodes.size() != 1) return given;
    std::vector<Tensor> list;
    for (const auto& v : plan_.node(step).inputs) {
      const auto id = operand(step, v);
      const auto taken = std::find(step.inputs.begin(), step.inputs.end(), id);
      if (taken != step.inputs.end()) list.push_back(given[taken - step.inputs.begin()]);
      else list.push_back(sized_.tensors[id] ? plain(id) : plan_.value(id).constant);
      list.back() = widened_as_declared(plan_.value(plan_passes::value_of(plan_, v)), list.back());
    }
    return list;
  }
  /// A value as its shape says, for those who look at it; only of a state that grows it may have room.
  Tensor plain(int id) const {
    const auto& tensor = sized_.tensors[id];
    return tensor ? as_declared(plan_.value(id), tensor, sized_.shapes[id]) : tensor;
  }

  /// ReadValue of a variable that has a value, or Assign, where there is nothing to infer: false for any other.
  bool run_state(const Step& step, bool spared) {
    const auto& node = plan_.node(step);
    if ((step.infers && !spared) || (node.op->kind != Kind::read_value && node.op->kind != Kind::assign)) return false;
    const auto& variable = node.as<VariableAttrs>().variable_id;
    work_ = 0;
    if (node.op->kind == Kind::assign) {
      assign(variable, plain(step.inputs[0]));
      for (const auto id : step.outputs) store(id, state(variable));
      return true;
    }
    const auto held = state(variable);
    if (!held) return false;
    require_planned(plan_.value(step.outputs[0]), held);
    store_as_planned(step.outputs[0], held);
    return true;
  }

  /// What is kept of the step under way.
  DynamicStep& dynamic(const Step& step) {
    auto& kept = executor_.dynamic_[step_];
    if (!kept) kept = std::make_unique<DynamicStep>(plan_, step);
    return *kept;
  }

  void run_dynamic(const Step& step) {
    const bool spared = is_spared_initial(plan_, step, sized_.tensors, context_.states);
    // An initial value that is there is judged in every run.
    if (step.caching == Caching::read && !spared) dynamic(step).infer(operands(step));
    by_reference_ = !step.kernel;
    if (growing_.run(step, work_)) return;
    if (step.nodes.size() == 1 && run_state(step, spared)) return;
    auto inputs = operands(step);
    const bool whole = step.nodes.size() == 1 && step.inputs.size() == plan_.node(step).inputs.size();
    std::vector<Tensor> results;
    if (step.kernel || whole) {
      auto& call = dynamic(step).infer(inputs);
      if (step.kernel && run_sized(step, call, inputs)) return;
      by_reference_ = true;
      leave_room(step, inputs);
      if (whole) {
        work_ = call.work;
        spend(work_);
        results = evaluate_node(plan_, step, inputs, call.outputs, this);
      }
    }
    if (!whole) {
      leave_room(step, inputs);
      work_ = 0;
      results = evaluate_group(plan_, step, inputs, this, work_);
    }
    if (plan_.node(step).op->kind == Kind::read_value) require_planned(plan_.value(step.outputs[0]), results[0]);
    for (std::size_t o = 0; o < step.outputs.size() && o < results.size(); ++o)
      if (results[o]) store_as_inferred(step.outputs[o], results[o]);
  }

  void store_as_inferred(int id, const Tensor& value) {
    const auto& inferred = plan_.value(id).shape;
    if (!inferred.contains(value.shape())) fail_shape(to_string(inferred), value.shape());
    store_as_planned(id, value);
  }

  /// For reference kernels: operands as their shapes say. Of those that have room ShapeOf reads no more than the shape.
  void leave_room(const Step& step, std::vector<Tensor>& inputs) {
    if (step.nodes.size() == 1 && plan_.node(step).version->shape_only) return;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (sized_.rooms[step.inputs[i]] > 0) inputs[i] = growing_.make_dense(step.inputs[i]);
  }

  /// False where the kernel does not take these sizes.
  bool run_sized(const Step& step, DynamicStep::Call& call, std::span<const Tensor> inputs) {
    const auto is_open = [](const Fact& f) { return !f.shape.is_static(); };
    const bool open = std::any_of(call.outputs.begin(), call.outputs.begin() + std::ssize(step.outputs), is_open);
    const auto* const measuring = open ? dynamic_cast<const MeasuringKernel*>(step.kernel.get()) : nullptr;
    if (open && !measuring) return false;
    if (std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.packed(); })) return false;
    std::vector<Tensor> outputs;
    std::vector<View> views;
    views.reserve(step.inputs.size() + step.outputs.size());
    outputs.reserve(step.outputs.size());  // views point at the shapes in it
    for (const auto& t : inputs) {
      const auto i = views.size();
      const bool held = step.kernel->holds(static_cast<int>(i));
      views.push_back(held ? View{t.type(), Layout::plain, t.shape(), nullptr} : t.view());
      views.back().room = sized_.rooms[step.inputs[i]];
    }
    const auto add_output = [&](std::size_t o, Shape shape) {
      outputs.push_back(allocate(plan_.value(step.outputs[o]).stored, std::move(shape)));
      views.push_back(outputs.back().view());
    };
    for (std::size_t o = 0; o < step.outputs.size() && !open; ++o) add_output(o, call.outputs[o].shape.to_shape());
    if (step.written && !open) views[inputs.size()].dims = *step.written;
    const std::span<const View> in(views.data(), inputs.size());
    const auto out = [&] { return std::span<const View>(views).subspan(inputs.size()); };
    dynamic(step).prepare(call, {in, out()}, context_.runtime);
    if (!call.state) return false;
    work_ = call.work / kStepsAtOnce;
    spend(work_);
    Tensor scratch;
    if (call.state->scratch_bytes > 0) {
      scratch = allocate(ElementType::u8, {call.state->scratch_bytes});
      call.state->scratch = scratch.mutable_bytes();
    }
    {
      const FlushToZero mode;
      if (measuring) {
        std::vector<Shape> shapes(step.outputs.size());
        measuring->measure(*call.state, in, shapes, context_.runtime);
        for (std::size_t o = 0; o < shapes.size(); ++o) add_output(o, std::move(shapes[o]));
      }
      step.kernel->run(*call.state, in, out(), context_.runtime);
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) store_as_inferred(step.outputs[o], outputs[o]);
    return true;
  }

  // --- EvalHost

  Tensor allocate(ElementType type, Shape shape) override {
    return context_.blocks.allocate(type, std::move(shape), executor_.runs_);
  }
  Tensor state(const std::string& name) override { return context_.states.value(name, context_.runtime.pool()); }
  void assign(const std::string& name, const Tensor& value) override { context_.states.assign(name, value); }
  void run_body(int body, std::span<const Tensor> parameters, std::span<Tensor> results) override {
    const auto& step = plan_.steps[step_];
    auto& inner = executor_.bodies_[{step_, body}];
    if (!inner) inner = std::make_unique<Executor>(step.bodies[body]);
    if (calls_of_ != step_) {
      calls_of_ = step_;
      calls_ = 0;
    }
    auto& iterations = executor_.below_;
    iterations.assign(iterations_.begin(), iterations_.end());
    iterations.push_back(calls_++);
    const int here = step_;
    try {
      inner->run(context_, parameters, iterations, results);
    } catch (Failure& failure) {
      explain_call(failure.diagnostic, step, body, iterations.back());
      throw;
    }
    step_ = here;
  }

  /// Adds to a fault in a body what its parameters receive, as `check` does, and when it came.
  void explain_call(Diagnostic& d, const Step& step, int body, i64 iteration) const {
    if (d.code == Code::E0003) return;
    const auto& node = plan_.node(step);
    const auto& map = node.maps[body];
    explain_body(d, *plan_.model, node, map, *node.bodies[body]);
    if (map.role == "body")
      d.notes.push_back(
          {fmt::format("found in iteration {} of {}", iteration, describe(*node.layer)), node.layer->at, "", ""});
  }

  /// The value that an input of the step's node is: a kernel may have packed a constant, which is none of the step's.
  int operand(const Step& step, ValueRef v) const {
    const auto same = std::find_if(step.operands.begin(), step.operands.end(),
                                   [&](ValueRef o) { return plan_passes::is_same_value(plan_, o, v); });
    return same != step.operands.end() ? step.inputs[same - step.operands.begin()] : plan_passes::value_of(plan_, v);
  }

  /// Of a fault that a kernel found: its own layer, or the last of a group, of whose inner values there are none.
  [[noreturn]] void rethrow_at(Failure failure, const Step& step) const {
    std::vector<Fact> facts;
    if (step.nodes.size() == 1)
      for (const auto& v : plan_.node(step).inputs) {
        const auto id = operand(step, v);
        auto fact = plan_.facts->of(v);
        if (sized_.shapes[id]) fact.shape = PartialShape(*sized_.shapes[id]);
        if (const auto tensor = plain(id)) {
          if (sized_.rooms[id] == 0) fact.value = tensor;
          fact.shape = PartialShape(tensor.shape());
        }
        facts.push_back(std::move(fact));
      }
    complete(failure.diagnostic, plan_, step.nodes.back(), facts);
    throw failure;
  }

  // --- observers

  void execute_watched(const Step& step, SizedStep& sized) {
    const int last = step.nodes.empty() ? -1 : step.nodes.back();
    if (last >= 0 && watcher_->wants(last)) execute_and_tell(step, sized, last);
    else execute(step, sized);
    for (const auto id : step.outputs)
      if (watcher_->needs(id) && sized_.tensors[id]) watcher_->come(id, plain(id).copied());
  }

  void execute_and_tell(const Step& step, SizedStep& sized, int last) {
    auto given = operands(step);
    if (sized.overwrites >= 0) given[sized.overwrites] = given[sized.overwrites].copied();
    for (std::size_t i = 0; i < given.size(); ++i)
      if (lost_.contains(step.inputs[i])) given[i] = Tensor();
    const auto inputs = node_operands(step, std::move(given));
    const std::string kernel = step.kernel ? step.kernel->name() : "reference";
    if (step.nodes.size() == 1) watcher_->announce(last, inputs, kernel);
    const auto start = std::chrono::steady_clock::now();
    execute(step, sized);
    const auto took = std::chrono::steady_clock::now() - start;
    std::vector<Tensor> outputs;
    for (const auto id : step.outputs) outputs.push_back(plain(id));
    outputs = watcher_->complete(last, std::move(outputs));
    const auto before = outputs;
    watcher_->tell(last, inputs, outputs, kernel, took);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (outputs[o] && outputs[o].bytes() != before[o].bytes() && plan_.value(step.outputs[o]).reads > 0)
        replace(step.outputs[o], outputs[o]);
  }

  /// A step of an initial value that the run can do without: observers see it where it can be computed.
  void watch_spared(const Step& step, SizedStep& sized) {
    const bool lacks = std::ranges::any_of(step.inputs, [this](int id) { return lost_.contains(id); });
    try {
      if (!lacks) return execute_watched(step, sized);
    } catch (const Failure& failure) {
      if (is_limit(failure)) throw;  // the same run is well without anybody who looks on
    }
    lost_.insert(step.outputs.begin(), step.outputs.end());
  }

  void replace(int id, const Tensor& value) {
    const auto old = plain(id);
    if (value.type() != old.type() || value.shape() != old.shape())
      throw std::logic_error("an observer may replace a value only by one of the same type and shape");
    // The observer may have kept what was computed: those bytes stay as they are.
    auto& place = sized_.tensors[id];
    if (sized_.planned[id] && !sized_.fixed[id]) place = place.copied();
    store(id, as_stored(plan_.value(id), value));
  }

  Executor& executor_;
  const Plan& plan_;
  RunContext& context_;
  Sized& sized_;
  GrowingStates growing_;
  std::span<const i64> iterations_;
  std::optional<Watcher> watcher_;  ///< where there is an observer
  std::set<int> lost_;              ///< values that watch_spared() could not compute
  int step_ = 0;
  i64 work_ = 0;               ///< of the step under way, where it was not known before
  bool by_reference_ = false;  ///< the reference kernels ran the step, for the profiler
  int calls_of_ = -1;
  i64 calls_ = 0;
};

void Executor::run(RunContext& context, std::span<const Tensor> inputs, std::span<const i64> iterations,
                   std::span<Tensor> results) {
  if (context.observer && watched_in_ != context.run) {
    side_ = std::make_unique<SideValues>(*plan_, *context.observer);
    watched_in_ = context.run;
  }
  recording_ = nullptr;
  context.blocks.begin_run(runs_);
  auto& sized = sized_for(context, inputs);
  try {
    Run(*this, context, sized, iterations).run(inputs, results);
  } catch (...) {
    if (recording_) recent_.pop_front();  // half of a run tells too little
    recording_ = nullptr;
    throw;
  }
  recording_ = nullptr;
}

}  // namespace ovir
