#include "exec/session.hpp"

#include <algorithm>

#include "exec/block_pool.hpp"
#include "model/report.hpp"
#include "op/infer_context.hpp"
#include "op/widened.hpp"

namespace ovir {
namespace {

/// Adds to a Failure the layer that it arose in.
[[noreturn]] void rethrow_at(Failure failure, const Model& model, const Node& node) {
  auto& d = failure.diagnostic;
  if (!d.layer) {
    d.layer = layer_ref(model, *node.layer);
    if (!d.at) d.at = node.layer->at;
  }
  throw failure;
}

}  // namespace

struct Session::Impl {
  std::shared_ptr<const Plan> plan;
  bool repeated = false;
  States states;
  BlockPool blocks;
  std::vector<Tensor> kept;  // by slot: what follows from constants, where runs repeat

  /// One run of a plan: of the model, or of a body within it.
  struct Frame {
    const Plan& plan;
    const Observer& observer;
    std::string path;
    std::vector<std::int64_t> iterations;
    std::vector<Tensor> slots;
    bool as_planned = true;  // the inputs are within what was planned for: fixed shapes hold
  };

  std::vector<Tensor> run(const Plan& p, std::span<const Tensor> inputs, const Observer& observer, std::string path,
                          std::vector<std::int64_t> iterations) {
    Frame frame{p,
                observer,
                std::move(path),
                std::move(iterations),
                std::vector<Tensor>(static_cast<std::size_t>(p.slot_count)),
                true};
    for (const auto& [slot, value] : p.constants) frame.slots[static_cast<std::size_t>(slot)] = value;
    for (std::size_t k = 0; k < p.parameter_slots.size(); ++k) {
      frame.slots[static_cast<std::size_t>(p.parameter_slots[k])] = inputs[k];
      frame.as_planned &= p.parameters[k].shape.contains(inputs[k].shape());
    }
    const bool whole = &p == plan.get();
    if (whole && repeated && kept.empty()) kept.resize(static_cast<std::size_t>(p.slot_count));
    for (const auto& step : p.steps) {
      const auto& node = p.model->nodes[static_cast<std::size_t>(step.node)];
      const auto first = static_cast<std::size_t>(step.first_output);
      const bool keep = whole && repeated && step.from_constants;
      if (keep && kept[first]) {
        for (std::size_t o = 0; o < step.facts.size(); ++o) frame.slots[first + o] = kept[first + o];
      } else {
        execute(frame, step, node);
        if (keep)
          for (std::size_t o = 0; o < step.facts.size(); ++o) kept[first + o] = frame.slots[first + o];
      }
      for (const auto slot : step.frees) frame.slots[static_cast<std::size_t>(slot)] = Tensor();
    }
    std::vector<Tensor> results;
    for (const auto slot : p.result_slots) results.push_back(frame.slots[static_cast<std::size_t>(slot)].unpacked());
    return results;
  }

  void execute(Frame& frame, const Step& step, const Node& node) {
    const auto& model = *frame.plan.model;
    std::vector<Tensor> inputs;
    for (const auto slot : step.inputs) inputs.push_back(frame.slots[static_cast<std::size_t>(slot)]);
    try {
      std::vector<Fact> inferred;
      std::span<const Fact> outputs = step.facts;
      if (!step.fixed_shapes || !frame.as_planned) {
        inferred = infer_now(step, node, inputs);
        outputs = inferred;
      }
      EvalContext c(*node.version, node.attrs.get(), inputs, outputs);
      c.set_states(&states);
      c.set_allocate([this](ElementType type, Shape shape) { return blocks.allocate(type, std::move(shape)); });
      c.set_unwanted(step.unwanted);
      std::int64_t calls = 0;
      c.set_bodies(node.maps, [&](int body, const std::vector<Tensor>& parameters) {
        auto iterations = frame.iterations;
        iterations.push_back(calls++);
        const auto k = static_cast<std::size_t>(body);
        return run(*step.bodies[k], parameters, frame.observer, node.bodies[k]->path, std::move(iterations));
      });
      step.kernel ? step.kernel(c) : node.version->eval(c);
      auto results = c.finish();
      const auto count = std::min(results.size(), step.facts.size());
      if (node.op->kind == Kind::read_value) require_planned(step.facts.at(0), results.at(0));
      for (std::size_t o = 0; o < count; ++o) {
        if (frame.observer && results[o])
          frame.observer({model, node, static_cast<int>(o), results[o], frame.path, frame.iterations});
        frame.slots[static_cast<std::size_t>(step.first_output) + o] = std::move(results[o]);
      }
    } catch (Failure& failure) {
      rethrow_at(std::move(failure), model, node);
    }
  }

  /// A state may come from a file or from an Assign of any shape; the steps behind it were planned for the variable's.
  static void require_planned(const Fact& variable, const Tensor& held) {
    if (variable.type != ElementType::dynamic && held.type() != variable.type &&
        !(is_half(variable.type) && held.type() == ElementType::f32))
      fail(Code::E0503, "the state is {}, but the variable's element type is {}", name(held.type()),
           name(variable.type));
    if (!variable.shape.contains(held.shape()))
      fail(Code::E0505, "the state has shape {}, but the variable's shape is {}", to_string(held.shape()),
           to_string(variable.shape));
  }

  /// The output facts of this very call, from the actual inputs.
  static std::vector<Fact> infer_now(const Step& step, const Node& node, const std::vector<Tensor>& inputs) {
    std::vector<Fact> facts;
    facts.reserve(inputs.size());
    const bool widened = any_widened(inputs);
    for (const auto& t : inputs)
      facts.push_back({widened && is_half(t.type()) ? ElementType::f32 : t.type(), t.shape(), t, nullptr});
    InferContext c(*node.op, *node.version, node.attrs.get(), facts, static_cast<int>(step.facts.size()));
    c.set_declared(step.facts);
    c.set_bodies(node.maps, [](int, const std::vector<Fact>&) -> std::vector<Fact> { return {}; });
    c.check_signature();
    // A layer with bodies finds its outputs' shapes by running them.
    if (!node.bodies.empty()) return step.facts;
    if (node.version->infer) node.version->infer(c);
    return std::move(c.outputs());
  }
};

Session::Session(std::shared_ptr<const Plan> plan, bool repeated) : impl_(std::make_unique<Impl>()) {
  impl_->plan = std::move(plan);
  impl_->repeated = repeated;
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

States& Session::states() { return impl_->states; }

std::vector<Tensor> Session::run(std::span<const Tensor> inputs, const Observer& observer) {
  const auto& plan = *impl_->plan;
  const auto& model = *plan.model;
  if (inputs.size() != plan.parameters.size())
    fail(Code::E0702, "the model has {} inputs, but {} were given", plan.parameters.size(), inputs.size());
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& wanted = plan.parameters[k];
    auto& given = values[k];
    const bool exchanged = given.type() == exchanged_type(model, wanted.type, true);
    Diagnostic d;
    d.layer = layer_ref(model, *model[model.parameters[k]].layer);
    d.at = model[model.parameters[k]].layer->at;
    if (wanted.type != ElementType::dynamic && given.type() != wanted.type && !exchanged) {
      d.code = Code::E0704;
      d.message = fmt::format("input \"{}\" must be {}, but {} was given", model.parameter_name(static_cast<int>(k)),
                              name(wanted.type), name(given.type()));
      fail(std::move(d));
    }
    if (!wanted.shape.contains(given.shape())) {
      d.code = Code::E0703;
      d.message =
          fmt::format("input \"{}\" must have shape {}, but {} was given", model.parameter_name(static_cast<int>(k)),
                      to_string(wanted.shape), to_string(given.shape()));
      fail(std::move(d));
    }
  }
  auto results = impl_->run(plan, values, observer, model.path, {});
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto declared = plan.result_types[k] == ElementType::dynamic ? results[k].type() : plan.result_types[k];
    if (const auto type = exchanged_type(model, declared, false); type != results[k].type())
      results[k] = convert(results[k], type);
  }
  return results;
}

}  // namespace ovir
