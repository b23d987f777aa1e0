#include "exec/session.hpp"

#include <algorithm>

#include "exec/executor.hpp"
#include "model/report.hpp"
#include "op/shared_attrs.hpp"

namespace ovir {
namespace {

std::vector<std::string> names_of(const Layer& layer, std::size_t port) {
  std::vector<std::string> names;
  if (port < layer.outputs.size()) names = layer.outputs[port].names;
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

}  // namespace

struct Session::Impl {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<const Plan> plan;
  States states;
  BlockPool blocks;
  Executor executor;
  std::vector<ModelPort> inputs, outputs;
  std::vector<Variable> variables;
  Profiler* profiler = nullptr;
  std::uint64_t runs = 0;
  bool stopped = false;

  Impl(std::shared_ptr<Runtime> r, std::shared_ptr<const Plan> p)
      : runtime(std::move(r)), plan(std::move(p)), executor(plan) {
    const auto& model = *plan->model;
    for (int k = 0; k < std::ssize(model.parameters); ++k) {
      const auto& value = plan->value(plan->parameters[k]);
      inputs.push_back({model.parameter_name(k), names_of(*model[model.parameters[k]].layer, 0),
                        exchanged_type(model, value.declared, true), value.shape});
    }
    for (int k = 0; k < std::ssize(model.results); ++k) {
      const auto from = model[model.results[k]].inputs.at(0);
      const auto& fact = plan->facts->of(from);
      auto names = names_of(*model[from.node].layer, static_cast<std::size_t>(from.port));
      const auto name = model.result_name(k);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.insert(names.begin(), name);
      outputs.push_back({name, std::move(names), exchanged_type(model, fact.type, false), fact.shape});
    }
    find_variables(*plan, variables);
  }

  void check(std::span<const Tensor> values) const {
    const auto& model = *plan->model;
    if (values.size() != inputs.size())
      fail(Code::E0702, "the model has {} inputs, but {} were given", inputs.size(), values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto& wanted = plan->value(plan->parameters[k]);
      const auto& value = values[k];
      const auto refuse = [&](Code code, std::string message) {
        const auto& layer = *model[model.parameters[k]].layer;
        auto d = diagnose(code, std::move(message), layer.at);
        d.layer = layer_ref(model, layer);
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

Session::Session(std::shared_ptr<Runtime> runtime, std::shared_ptr<const Plan> plan)
    : impl_(std::make_unique<Impl>(std::move(runtime), std::move(plan))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::vector<ModelPort>& Session::inputs() const { return impl_->inputs; }
const std::vector<ModelPort>& Session::outputs() const { return impl_->outputs; }
const std::vector<Variable>& Session::variables() const { return impl_->variables; }
int Session::input(std::string_view name) const { return position(impl_->inputs, name); }
int Session::output(std::string_view name) const { return position(impl_->outputs, name); }
void Session::set_profiler(Profiler* profiler) { impl_->profiler = profiler; }
bool Session::stopped() const { return impl_->stopped; }

std::vector<Tensor> Session::run(std::span<const Tensor> inputs, Observer* observer) {
  std::vector<Tensor> results;
  run(inputs, results, observer);
  return results;
}

void Session::run(std::span<const Tensor> inputs, std::vector<Tensor>& results, Observer* observer) {
  auto& impl = *impl_;
  impl.check(inputs);
  for (auto& r : results) r = Tensor();
  const MemoryBudget::Scope scope(impl.runtime->memory());
  impl.stopped = false;
  RunContext context{*impl.runtime, impl.states, impl.blocks, observer, impl.profiler, ++impl.runs};
  // A run that does not come to its end leaves the states as they were.
  std::optional<States> before;
  if (!impl.variables.empty()) before = impl.states;
  try {
    impl.executor.run(context, inputs, {}, results);
  } catch (const StoppedByObserver&) {
    impl.stopped = true;
    results.clear();
    if (before) impl.states = std::move(*before);
    return;
  } catch (...) {
    if (before) impl.states = std::move(*before);
    throw;
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto type = impl.outputs[k].type;
    if (type != ElementType::dynamic && type != results[k].type()) results[k] = convert(results[k], type);
  }
}

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs, Observer* observer) {
  std::vector<Tensor> given(impl_->inputs.size());
  for (const auto& [name, value] : inputs) {
    const auto k = input(name);
    if (k < 0) fail(Code::E0701, "the model has no input \"{}\"", name);
    if (given[k]) fail(Code::E0706, "input \"{}\" was given twice", name);
    given[k] = value;
  }
  auto results = run(given, observer);
  std::map<std::string, Tensor> named;
  for (std::size_t k = 0; k < results.size(); ++k) named.emplace(impl_->outputs[k].name, std::move(results[k]));
  return named;
}

Tensor Session::state(std::string_view variable) const {
  const auto held = impl_->states.find(variable);
  return held == impl_->states.end() ? Tensor() : held->second;
}

void Session::set_state(std::string_view variable, const Tensor& value) {
  const auto& variables = impl_->variables;
  const auto at = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.id == variable; });
  if (at == variables.end()) fail(Code::E0701, "the model has no variable \"{}\"", variable);
  const bool wide = value.type() == ElementType::f32 && impl_->plan->options.precision == Precision::f32 &&
                    contains(kFloat | kNarrowFloat, at->type);
  if (at->type != ElementType::dynamic && value.type() != at->type && !wide)
    fail(Code::E0704, "the state of variable \"{}\" must be {}, but {} was given", variable, name(at->type),
         name(value.type()));
  if (!at->shape.contains(value.shape()))
    fail(Code::E0703, "the state of variable \"{}\" must have shape {}, but {} was given", variable,
         to_string(at->shape), to_string(value.shape()));
  impl_->states.insert_or_assign(std::string(variable), value.copied());
}

void Session::reset_states() { impl_->states.clear(); }

}  // namespace ovir
