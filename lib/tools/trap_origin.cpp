// Where an operand's element came from: back through layers that move or pass on values, and through the bodies of
// loops, to an input, a constant, or the layer that made it.
#include <algorithm>
#include <cmath>

#include "tools/trap_finder.hpp"

namespace ovir::tools {
namespace {

constexpr int kLongest = 32;

/// The layer that a body belongs to.
struct Around {
  const Model* model = nullptr;
  int node = -1;
  int body = 0;
};

std::optional<Around> around(const Model& whole, const Model& body) {
  for (int i = 0; i < std::ssize(whole.nodes); ++i)
    for (int b = 0; b < std::ssize(whole.nodes[i].bodies); ++b) {
      const auto& inner = *whole.nodes[i].bodies[b];
      if (&inner == &body) return Around{&whole, i, b};
      if (const auto deeper = around(inner, body)) return deeper;
    }
  return std::nullopt;
}

/// An element on its way back: of the operand of a layer, or of the output of one.
struct TracedElement {
  const Model* model = nullptr;
  ValueRef value;
  std::vector<i64> iterations;
  Shape index;
  std::string text;
};

class Walk {
 public:
  Walk(const History& history, const Model& whole) : history_(history), whole_(whole) {}

  std::vector<TrapEvent::Step> run(std::optional<TracedElement> spot) {
    for (int i = 0; spot && i < kLongest; ++i) spot = back(std::move(*spot));
    return std::move(steps_);
  }

 private:
  /// Tells of the layer that gave this element and goes on to the operand that it came from.
  std::optional<TracedElement> back(TracedElement s) {
    const auto& node = (*s.model)[s.value.node];
    const bool given = node.op->kind == Kind::parameter || node.op->kind == Kind::constant;
    steps_.push_back({{s.model, s.value.node, s.value.port, s.iterations, s.index, s.text}, ""});
    if (node.op->kind == Kind::parameter) return s.model->path.empty() ? std::nullopt : out_of_body(std::move(s));
    if (given) return std::nullopt;
    if (!node.bodies.empty()) return into_body(std::move(s), node);
    const auto* const computed = history_.find(node, s.iterations);
    if (!computed) return std::nullopt;
    return through(std::move(s), *computed);
  }

  std::optional<TracedElement> through(TracedElement s, const Computed& layer) {
    const auto& out = layer.out[s.value.port];
    if (!out || out.rank() != s.index.rank()) return std::nullopt;
    const auto at = offset_of(out.shape(), s.index);
    const bool real = is_float(out.type());
    const auto call = layer.call();
    std::vector<OperandElement> from;
    if (const auto moved = moved_from(call, s.value.port, out.shape(), at)) {
      from = {*moved};
    } else if (real && !std::isfinite(element(out, at))) {
      auto reason = reason_for(layer, s.value.port, at);
      steps_.back().cause = reason.cause;
      from = std::move(reason.due_to);
    } else if (const auto operands = elementwise_operands(call, out, at)) {
      from = *operands;
    }
    const auto next = likeliest(layer, from, real);
    if (!next) return std::nullopt;
    return operand_spot(layer, *next);
  }

  /// Of several operands: one that isn't finite, or the larger of integers.
  static std::optional<OperandElement> likeliest(const Computed& layer, const std::vector<OperandElement>& from,
                                                 bool real) {
    if (from.size() == 1) return from[0];
    std::optional<OperandElement> best;
    double largest = -1;
    for (const auto& e : from) {
      const auto v = element(layer.in[e.port], e.at);
      if (real && !std::isfinite(v)) return e;
      const bool constant = (*layer.model)[layer.node().inputs[e.port].node].op->kind == Kind::constant;
      if (real || constant || std::abs(v) <= largest) continue;
      largest = std::abs(v);
      best = e;
    }
    return best;
  }

  static TracedElement operand_spot(const Computed& layer, const OperandElement& e) {
    const auto& t = layer.in[e.port];
    return {layer.model, layer.node().inputs[e.port], layer.iterations, index_of(t.shape(), e.at),
            element_text(t, e.at)};
  }

  /// From a body's Parameter to what it receives: the previous iteration's result, or an operand of the layer around.
  std::optional<TracedElement> out_of_body(TracedElement s) const {
    const auto outer = around(whole_, *s.model);
    if (!outer || s.iterations.empty()) return std::nullopt;
    const auto& node = (*outer->model)[outer->node];
    const auto& map = node.maps[outer->body];
    const auto& parameters = s.model->parameters;
    const auto k = static_cast<int>(std::find(parameters.begin(), parameters.end(), s.value.node) - parameters.begin());
    const auto iteration = s.iterations.back();
    for (const auto& edge : map.feedback)
      if (edge.parameter == k && iteration > 0) {
        s.value = (*s.model)[s.model->results[edge.result]].inputs.at(0);
        --s.iterations.back();
        return s;
      }
    const auto link =
        std::find_if(map.inputs.begin(), map.inputs.end(), [&](const BodyLink& l) { return l.inner == k; });
    if (link == map.inputs.end()) return std::nullopt;
    s.iterations.pop_back();
    if (link->sliced) {
      const auto* const shapes = history_.operands_of(node, s.iterations);
      if (!shapes || s.index.empty()) return std::nullopt;
      const auto& whole = (*shapes)[link->port];
      const auto axis = link->axis < 0 ? link->axis + whole.rank() : link->axis;
      const auto start = link->start < 0 ? link->start + whole[axis] + 1 : link->start;
      s.index[axis] += start + iteration * link->stride - (link->stride < 0 ? link->part_size : 0);
    }
    s.value = node.inputs[link->port];
    s.model = outer->model;
    return s;
  }

  /// From an output of If, Loop or TensorIterator to the body's layer that gave it.
  std::optional<TracedElement> into_body(TracedElement s, const Node& node) const {
    for (std::size_t b = 0; b < node.bodies.size(); ++b) {
      const auto& body = *node.bodies[b];
      for (const auto& link : node.maps[b].outputs) {
        if (link.port != s.value.port || (link.sliced && link.stride < 0)) continue;
        const auto from = body[body.results[link.inner]].inputs.at(0);
        auto iterations = history_.last_iteration(body[from.node], s.iterations);
        if (!iterations) continue;
        if (link.sliced) {
          const auto axis = link.axis < 0 ? link.axis + s.index.rank() : link.axis;
          iterations->back() = s.index[axis] / link.part_size;
          s.index[axis] %= link.part_size;
        }
        return TracedElement{&body, from, std::move(*iterations), s.index, s.text};
      }
    }
    return std::nullopt;
  }

  const History& history_;
  const Model& whole_;
  std::vector<TrapEvent::Step> steps_;
};

}  // namespace

std::vector<TrapEvent::Step> origin_of(const History& history, const Model& whole, const Computed& layer,
                                       const std::vector<OperandElement>& due_to) {
  // The operand to follow: one that isn't finite, else the only one.
  std::optional<OperandElement> first;
  for (const auto& e : due_to)
    if (const auto& t = layer.in[e.port]; !first && is_float(t.type()))
      if (!std::isfinite(element(t, e.at))) first = e;
  if (!first && due_to.size() == 1) first = due_to[0];
  if (!first) return {};
  const auto& t = layer.in[first->port];
  return Walk(history, whole)
      .run(TracedElement{layer.model, layer.node().inputs[first->port], layer.iterations,
                         index_of(t.shape(), first->at), element_text(t, first->at)});
}

std::vector<TrapEvent::Step> origin_of(const History& history, const Model& whole, const Place& given) {
  if (given.model->path.empty()) return {};
  auto steps =
      Walk(history, whole)
          .run(TracedElement{given.model, {given.node, given.port}, given.iterations, given.index, given.value});
  if (!steps.empty()) steps.erase(steps.begin());  // the place itself
  return steps;
}

}  // namespace ovir::tools
