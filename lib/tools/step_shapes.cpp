#include "tools/step_shapes.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "base/checked.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::tools {
namespace {

using StateShapes = std::map<std::string, PartialShape>;

/// What is inferred; nothing where the shapes are refused.
std::optional<Facts> inferred(const Model& model, const std::vector<PartialShape>& inputs, const StateShapes& states) {
  passes::InferOptions options;
  options.compare_declared = false;
  options.stop_at_fault = true;
  options.states = states;
  for (int k = 0; k < std::ssize(inputs); ++k) options.shapes[k] = inputs[k];
  Diagnostics diagnostics;
  auto facts = passes::infer(model, options, diagnostics);
  return diagnostics.errors() == 0 ? std::optional(std::move(facts)) : std::nullopt;
}

/// The shape of the initial value; without one, zeros of the variable's shape with its least lengths.
PartialShape initial(const Node& read, const Facts& facts) {
  if (!read.inputs.empty()) return facts.of(read.inputs[0]).shape;
  auto shape = read.as<VariableAttrs>().variable_shape;
  if (shape.has_rank())
    for (auto& d : shape.dims()) d = d.min;
  return shape;
}

}  // namespace

/// `facts`: of the first inference, nothing being known of the states.
void StepShapes::begin(const Facts& facts) {
  open_.emplace();
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
    const auto& node = model_.nodes[i];
    if (node.op->kind != Kind::read_value) continue;
    const auto& id = node.as<VariableAttrs>().variable_id;
    states_.emplace(id, initial(node, facts));
    const auto& shape = facts.outputs[i].at(0).shape;
    if (!shape.has_rank()) continue;
    for (i64 axis = 0; axis < shape.rank(); ++axis)
      if (!shape[axis].is_static()) (*open_)[id].push_back(axis);
  }
}

std::vector<Shape> StepShapes::next(std::vector<Shape> shapes, const std::map<int, Dim>& masks) {
  const auto is_read = [](const Node& node) { return node.op->kind == Kind::read_value; };
  if (std::none_of(model_.nodes.begin(), model_.nodes.end(), is_read)) return shapes;
  std::vector<PartialShape> tried(shapes.begin(), shapes.end());
  for (const auto& [k, lengths] : masks) tried[k][tried[k].rank() - 1] = lengths;
  if (!open_) {
    const auto facts = inferred(model_, tried, {});
    if (!facts) return shapes;
    begin(*facts);
  }

  std::set<i64, std::greater<>> held{0};  // by the states, the longest first
  for (const auto& [id, axes] : *open_)
    for (const auto axis : axes)
      if (const auto& d = states_.at(id).dim(axis); d.is_static()) held.insert(d.length());
  std::optional<Facts> facts;
  for (const auto& [k, lengths] : masks) {
    // The length is that of the new tokens, which may stand in another axis of another input.
    std::vector<i64> own{shapes[k].back()};
    for (const auto& shape : shapes) own.insert(own.end(), shape.begin(), shape.end());
    auto& last = tried[k][tried[k].rank() - 1];
    const auto accepts = [&](i64 length) {
      last = length;
      facts = lengths.contains(length) ? inferred(model_, tried, states_) : std::nullopt;
      return facts.has_value();
    };
    const bool found = std::any_of(held.begin(), held.end(), [&](i64 more) {
      return std::any_of(own.begin(), own.end(), [&](i64 n) { return accepts(saturating_add(n, more)); });
    });
    if (!found) last = own.front();
    shapes[k].back() = last.length();
  }
  if (masks.empty()) facts = inferred(model_, tried, states_);

  for (std::size_t i = 0; i < model_.nodes.size(); ++i)
    if (const auto& node = model_.nodes[i]; node.op->kind == Kind::assign)
      states_.insert_or_assign(node.as<VariableAttrs>().variable_id,
                               facts ? facts->outputs[i].at(0).shape : PartialShape::unknown_rank());
  return shapes;
}

}  // namespace ovir::tools
