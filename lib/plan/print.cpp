#include "plan/print.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ovir {
namespace {

std::string type_of(const Value& v) {
  auto text = fmt::format("{}{}", name(v.declared), to_string(v.shape));
  if (v.stored != v.declared) text += fmt::format(" as {}", name(v.stored));
  if (v.layout == Layout::blocked) text += " blocked";
  return text;
}

std::string list_of(const std::vector<int>& values) {
  std::string text;
  for (const auto id : values) text += fmt::format("{}%{}", text.empty() ? "" : ", ", id);
  return text;
}

std::string kernel_of(const Plan& plan, const Step& step) {
  if (step.kernel) return step.kernel->name();
  return step.view ? "view" : fmt::format("reference.{}", plan.node(step).op->type);
}

std::string layers_of(const Plan& plan, const Step& step) {
  std::string text;
  for (const auto node : step.nodes)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", printable((*plan.model)[node].layer->name));
  return text;
}

}  // namespace

std::string to_text(const Plan& plan, int indent) {
  const std::string margin(indent, ' ');
  std::string text;
  for (int k = 0; k < std::ssize(plan.parameters); ++k) {
    const auto& value = plan.value(plan.parameters[k]);
    text += fmt::format("{}%{} = input \"{}\"   {}\n", margin, plan.parameters[k],
                        printable(plan.model->parameter_name(k)), type_of(value));
  }
  for (const auto& step : plan.steps) {
    std::string types;
    for (const auto id : step.outputs) types += fmt::format("{}{}", types.empty() ? "" : ", ", type_of(plan.value(id)));
    text += fmt::format("{}{} = {}({})   {}", margin, list_of(step.outputs), kernel_of(plan, step),
                        list_of(step.inputs), types);
    if (!step.nodes.empty()) text += fmt::format("   {}", layers_of(plan, step));
    if (step.infers) text += "   (shapes when it runs)";
    if (!step.why.empty()) text += fmt::format("   ({})", step.why);
    text += '\n';
    for (const auto& body : step.bodies) text += to_text(*body, indent + 2);
  }
  for (int k = 0; k < std::ssize(plan.results); ++k)
    text += fmt::format("{}output \"{}\" = %{}\n", margin, printable(plan.model->result_name(k)), plan.results[k]);
  return text;
}

}  // namespace ovir
