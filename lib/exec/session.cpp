#include "exec/session.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>

#include "base/text.hpp"
#include "exec/executor.hpp"
#include "exec/out_of_memory.hpp"
#include "exec/planned_work.hpp"
#include "exec/shape_plans.hpp"
#include "exec/stored.hpp"
#include "model/report.hpp"
#include "op/shared_attrs.hpp"
#include "op/work.hpp"
#include "tensor/copy.hpp"

namespace ovir {
namespace {

std::vector<std::string> names_of(const Layer& layer, int port) {
  std::vector<std::string> names;
  if (port < std::ssize(layer.outputs)) names = layer.outputs[port].names;
  names.push_back(layer.name);
  return names;
}

void find_variables(const Plan& plan, std::vector<Variable>& variables) {
  const auto& model = *plan.model;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto& node = model.nodes[i];
    if (node.op->kind != Kind::read_value) continue;
    const auto& fact = plan.facts->outputs[i].at(0);
    variables.push_back({node.as<VariableAttrs>().variable_id, fact.type, fact.shape});
  }
  for (const auto& step : plan.steps)
    for (const auto& body : step.bodies) find_variables(*body, variables);
}

int position(const std::vector<ModelPort>& ports, std::string_view name) {
  for (int k = 0; k < std::ssize(ports); ++k)
    if (std::find(ports[k].names.begin(), ports[k].names.end(), name) != ports[k].names.end()) return k;
  return -1;
}

/// While a run is under way.
class Busy {
 public:
  explicit Busy(std::atomic_flag& running) : running_(running) {
    if (running_.test_and_set()) throw std::logic_error("the session is running already");
  }
  ~Busy() { running_.clear(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic_flag& running_;
};

}  // namespace

struct Session::Impl {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<const Plan> plan;
  SessionStates states;
  BlockPool blocks;
  Executor executor;
  std::vector<ModelPort> inputs, outputs;
  std::vector<Variable> variables;
  ShapePlans by_shape;
  std::vector<Spare> exchanged;  ///< by result: storage of those that are handed out in another type, or are states
  Profiler* profiler = nullptr;
  PlannedWork planned;
  std::uint64_t runs = 0;
  bool stopped = false;
  std::atomic_flag running;

  Impl(std::shared_ptr<Runtime> r, std::shared_ptr<const Plan> p, PlanFor plan_for)
      : runtime(std::move(r)), plan(std::move(p)), executor(plan), by_shape(std::move(plan_for), executor.arenas()) {
    const auto& model = *plan->model;
    for (int k = 0; k < std::ssize(model.parameters); ++k) {
      const auto& value = plan->value(plan->parameters[k]);
      inputs.push_back({model.parameter_name(k), names_of(*model[model.parameters[k]].layer, 0),
                        exchanged_type(model, value.declared, true), value.shape});
    }
    for (int k = 0; k < std::ssize(model.results); ++k) {
      const auto from = model[model.results[k]].inputs.at(0);
      const auto& fact = plan->facts->of(from);
      auto names = names_of(*model[from.node].layer, from.port);
      const auto name = model.result_name(k);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.insert(names.begin(), name);
      outputs.push_back({name, std::move(names), exchanged_type(model, fact.type, false), fact.shape});
    }
    exchanged.resize(outputs.size());
    find_variables(*plan, variables);
    planned = planned_work(*plan);
  }

  i64 work_limit(std::span<const Tensor> values) const {
    if (runtime->work() > 0) return runtime->work();
    auto bytes = bytes_of(*plan->model->graph);
    for (const auto& t : values) bytes = saturating_add(bytes, t.byte_size());
    return default_work_limit(bytes);
  }

  /// Results in the types that the model gives them in, in bytes that the caller may write to.
  void hand_out(std::vector<Tensor>& results) {
    for (std::size_t k = 0; k < results.size(); ++k) {
      auto& result = results[k];
      const auto type = outputs[k].type == ElementType::dynamic ? result.type() : outputs[k].type;
      if (type == result.type() && !states.hold(result)) continue;
      if (type == ElementType::string) {
        result = result.copied();
        continue;
      }
      auto& other = exchanged[k].renewed(type, result.shape());
      convert_into(result, other, runtime->pool());
      result = other;
    }
  }

  const Variable& variable(std::string_view id) const {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.id == id; });
    if (found == variables.end()) fail(Code::E0701, "the model has no variable \"{}\"", id);
    return *found;
  }

  void check(std::span<const Tensor> values) const {
    const auto& model = *plan->model;
    if (values.size() != inputs.size())
      fail(Code::E0702, "the model takes {}, but the run was given {}", counted(inputs.size(), "input"), values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto& wanted = plan->value(plan->parameters[k]);
      const auto& value = values[k];
      const auto refuse = [&](Code code, std::string message) {
        auto d = diagnose(code, std::move(message));
        locate(d, model, *model[model.parameters[k]].layer);
        fail(std::move(d));
      };
      if (!value) refuse(Code::E0702, fmt::format("missing value for input \"{}\"", inputs[k].name));
      if (wanted.declared != ElementType::dynamic && value.type() != wanted.declared && value.type() != inputs[k].type)
        refuse(Code::E0704, fmt::format("input \"{}\" must be {}, but {} was given", inputs[k].name,
                                        ovir::name(wanted.declared), ovir::name(value.type())));
      if (!wanted.shape.contains(value.shape()))
        refuse(Code::E0703, fmt::format("input \"{}\" must have shape {}, but {} was given", inputs[k].name,
                                        to_string(wanted.shape), to_string(value.shape())));
    }
  }
};

Session::Session(std::shared_ptr<Runtime> runtime, std::shared_ptr<const Plan> plan, PlanFor plan_for) {
  if (!runtime || !plan) throw std::invalid_argument("a session needs a runtime and a plan");
  impl_ = std::make_unique<Impl>(std::move(runtime), std::move(plan), std::move(plan_for));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::Impl& Session::impl() const {
  if (!impl_) throw std::logic_error("the session was moved from");
  return *impl_;
}

const std::vector<ModelPort>& Session::inputs() const { return impl().inputs; }
const std::vector<ModelPort>& Session::outputs() const { return impl().outputs; }
const std::vector<Variable>& Session::variables() const { return impl().variables; }
int Session::input(std::string_view name) const { return position(impl().inputs, name); }
int Session::output(std::string_view name) const { return position(impl().outputs, name); }
void Session::set_profiler(Profiler* profiler) { impl().profiler = profiler; }
bool Session::stopped() const { return impl().stopped; }

std::vector<Tensor> Session::run(std::span<const Tensor> inputs, Observer* observer) {
  std::vector<Tensor> results;
  run(inputs, results, observer);
  return results;
}

void Session::run(std::span<const Tensor> inputs, std::vector<Tensor>& results, Observer* observer) {
  auto& session = impl();
  const Busy busy(session.running);
  if (!inputs.empty() && inputs.data() == results.data())
    throw std::invalid_argument("results cannot take the place of the inputs");
  session.check(inputs);
  results.resize(session.outputs.size());
  for (auto& r : results) r = Tensor();
  const MemoryBudget::Scope scope(session.runtime->memory());
  auto* own = session.by_shape.find(inputs, *session.runtime->memory());
  WorkBudget work(session.work_limit(inputs));
  require_work(session.planned, work.limit());
  const WorkBudget::Scope working(work);
  session.stopped = false;
  RunContext context{*session.runtime, session.states, session.blocks, observer, session.profiler, ++session.runs};
  // A run that does not come to its end leaves the states as they were.
  session.states.begin();
  try {
    (own ? *own : session.executor).run(context, inputs, {}, results);
    session.hand_out(results);
  } catch (const StoppedByObserver&) {
    session.stopped = true;
    results.clear();
    session.states.undo();
    return;
  } catch (const std::bad_alloc& error) {
    session.states.undo();
    throw out_of_memory("the run", error);
  } catch (...) {
    session.states.undo();
    throw;
  }
  session.states.commit();
}

std::shared_ptr<const Plan> Session::plan_of(std::span<const Tensor> inputs) {
  auto& session = impl();
  session.check(inputs);
  const MemoryBudget::Scope scope(session.runtime->memory());
  const auto* own = session.by_shape.find(inputs, *session.runtime->memory());
  return own ? own->plan() : session.plan;
}

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs, Observer* observer) {
  std::vector<Tensor> given(impl().inputs.size());
  for (const auto& [name, value] : inputs) {
    const auto k = input(name);
    if (k < 0) fail(Code::E0701, "the model has no input \"{}\"", name);
    if (given[k]) fail(Code::E0706, "input \"{}\" was given twice", name);
    given[k] = value;
  }
  auto results = run(given, observer);
  std::map<std::string, Tensor> named;
  for (std::size_t k = 0; k < results.size(); ++k) named.emplace(impl().outputs[k].name, std::move(results[k]));
  return named;
}

Tensor Session::state(std::string_view variable) const {
  impl().variable(variable);
  return impl().states.copy(variable, impl().runtime->pool());
}

void Session::set_state(std::string_view variable, const Tensor& value) {
  const auto& known = impl().variable(variable);
  const bool widened = impl().plan->options.precision != Precision::declared && is_float(known.type);
  const bool wide = widened && value.type() == ElementType::f32;
  if (known.type != ElementType::dynamic && value.type() != known.type && !wide)
    fail(Code::E0704, "the state of variable \"{}\" must be {}, but {} was given", variable, name(known.type),
         name(value.type()));
  if (!known.shape.contains(value.shape()))
    fail(Code::E0703, "the state of variable \"{}\" must have shape {}, but {} was given", variable,
         to_string(known.shape), to_string(value.shape()));
  const bool changes = widened && !wide;
  impl().states.assign(std::string(variable), changes ? convert(value, ElementType::f32) : value.copied());
}

void Session::reset_states() { impl().states = {}; }

}  // namespace ovir
