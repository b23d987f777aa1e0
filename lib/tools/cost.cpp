#include "tools/cost.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "model/trips.hpp"
#include "op/shared_attrs.hpp"
#include "tools/macs.hpp"

namespace ovir::tools {
namespace {

/// Saturating, so that absurd shapes give absurd numbers and nothing worse.
constexpr auto kMax = std::numeric_limits<i64>::max();
i64 times(i64 a, i64 b) { return saturating_mul(a, b); }
i64 plus(i64 a, i64 b) { return saturating_add(a, b); }

/// With the greatest length where one is open but bounded; nothing where it has no end.
std::optional<Shape> largest(const PartialShape& shape) {
  if (!shape.has_rank()) return std::nullopt;
  Shape lengths;
  for (const auto& d : shape) {
    if (d.max == Dim::kUnbounded) return std::nullopt;
    lengths.push_back(d.max);
  }
  return lengths;
}

i64 bytes_of(ElementType type, const Shape& shape) {
  const auto n = checked_product(shape);
  return n ? packed_size(type, *n).value_or(times(*n, byte_width(type))) : kMax;
}

/// Bytes of a value, with the greatest shape that it may have; nothing where there is none.
std::optional<i64> bytes_of(const Fact& fact) {
  const auto shape = largest(fact.shape);
  if (!shape || fact.type == ElementType::dynamic) return std::nullopt;
  return bytes_of(fact.type, *shape);
}

bool is_weight(ElementType type) {
  return !contains(kIndex | kBoolean, type) && type != ElementType::string && type != ElementType::u64 &&
         type != ElementType::u32;
}

class Counter {
 public:
  Cost run(const Model& model, const Facts& facts) {
    walk(model, facts, 1, {}, 0);
    return std::move(cost_);
  }

 private:
  using Range = std::pair<i64, i64>;
  struct Weights {
    i64 parameters = 0, bytes = 0;
  };

  /// What a Constant holds, the first time that its bytes are met.
  Weights weights_of(const Node& node) {
    const auto range = stored_bytes(node);
    if (!range || !stored_.insert({range->begin, range->end}).second) return {};
    Weights w;
    w.bytes = range->end - range->begin;
    // The .bin need not be read for that.
    const auto& attrs = node.as<ConstantAttrs>();
    if (is_weight(attrs.element_type)) w.parameters = attrs.shape.count();
    return w;
  }

  /// One model or body. `around`: the tensors alive outside it. Gives the most bytes that are alive at a time in it.
  void walk(const Model& model, const Facts& facts, i64 runs, const std::vector<AliveTensor>& around,
            i64 around_bytes) {
    const auto n = static_cast<int>(model.nodes.size());
    std::vector<int> last(n, 0);  // by node: the last that reads it
    for (int i = 0; i < n; ++i) {
      last[i] = std::max(last[i], i);
      for (const auto& v : model.nodes[i].inputs)
        if (v.node >= 0) last[v.node] = model.nodes[i].op->kind == Kind::result ? n : std::max(last[v.node], i);
    }
    // A view's bytes are those of its input.
    for (int i = n; i-- > 0;)
      if (const auto& node = model.nodes[i]; node.version->view && node.inputs[0].node >= 0)
        last[node.inputs[0].node] = std::max(last[node.inputs[0].node], last[i]);
    const auto constant = from_constants(model);
    std::vector<Weights> brought(n);  // by node: constants that only lead here
    for (int i = 0; i < n; ++i) {
      const auto& node = model.nodes[i];
      if (node.op->kind == Kind::constant) brought[i] = weights_of(node);
      cost_.parameters = plus(cost_.parameters, brought[i].parameters);
      cost_.weights = plus(cost_.weights, brought[i].bytes);
    }
    auto alive = around;
    auto bytes = around_bytes;
    for (int i = 0; i < n; ++i) {
      const auto& node = model.nodes[i];
      const auto kind = node.op->kind;
      if (kind == Kind::constant || kind == Kind::result) continue;
      const bool known = is_known(node, facts, i) || (constant[i] && kind == Kind::compute);
      bool missing = false;
      // The Parameters of a body receive what lies outside it, or a result of the iteration before.
      if (!known && !(kind == Kind::parameter && !model.path.empty()))
        bytes = plus(bytes, give(model, node, facts, i, alive, missing));
      LayerCost layer{&model, i, runs, 0, 0, 0};
      // What leads from constants to here alone (decompression) belongs to the layer that reads it.
      for (const auto& v : node.inputs)
        if (v.node >= 0) layer.parameters = plus(layer.parameters, std::exchange(brought[v.node].parameters, 0));
      if (constant[i]) brought[i].parameters = std::exchange(layer.parameters, 0);
      if (kind == Kind::compute && !known) {
        count(layer, node, facts, i, missing);
        cost_.layers.push_back(layer);
        if (missing) cost_.open.push_back(layer);
        cost_.macs = plus(cost_.macs, layer.macs);
        cost_.moved = plus(cost_.moved, layer.moved);
      }
      if (bytes > cost_.peak) note_peak(model, i, bytes, alive);
      for (int b = 0; b < std::ssize(node.bodies) && b < std::ssize(facts.bodies[i]); ++b) {
        if (facts.bodies[i][b].outputs.empty()) continue;  // at fault, and no Result needs it (W0909)
        const auto iterations = trip_count(model, facts, i, b);
        if (!iterations) cost_.open.push_back(layer);
        walk(*node.bodies[b], facts.bodies[i][b], times(runs, iterations.value_or(1)), alive, bytes);
      }
      const auto dead = [&](const AliveTensor& t) { return t.model == &model && last[t.node] <= i; };
      for (const auto& t : alive)
        if (dead(t)) bytes -= t.bytes;
      alive.erase(std::remove_if(alive.begin(), alive.end(), dead), alive.end());
    }
  }

  /// All its outputs are known beforehand: it need not be computed.
  static bool is_known(const Node& node, const Facts& facts, std::size_t i) {
    const auto& outputs = facts.outputs[i];
    return node.op->kind == Kind::compute && !outputs.empty() &&
           std::all_of(outputs.begin(), outputs.end(), [](const Fact& f) { return static_cast<bool>(f.value); });
  }

  /// By node: whether it follows from constants alone.
  static std::vector<bool> from_constants(const Model& model) {
    std::vector<bool> constant(model.nodes.size());
    for (std::size_t i = 0; i < constant.size(); ++i) {
      const auto& node = model.nodes[i];
      const auto known = [&](ValueRef v) { return v.node >= 0 && constant[v.node]; };
      constant[i] = node.op->kind == Kind::constant ||
                    (node.op->kind == Kind::compute && !node.inputs.empty() && node.version->pure &&
                     std::all_of(node.inputs.begin(), node.inputs.end(), known));
    }
    return constant;
  }

  /// The outputs come alive; a view of an input takes no bytes of its own.
  static i64 give(const Model& model, const Node& node, const Facts& facts, int i, std::vector<AliveTensor>& alive,
                  bool& missing) {
    i64 bytes = 0;
    if (node.version->view) return 0;
    const auto& outputs = facts.outputs[i];
    for (int o = 0; o < std::ssize(outputs); ++o) {
      const auto size = bytes_of(outputs[o]);
      missing = missing || !size || !outputs[o].shape.is_static();
      if (!size) continue;
      alive.push_back({&model, i, o, outputs[o].type, *largest(outputs[o].shape), *size});
      bytes = plus(bytes, *size);
    }
    return bytes;
  }

  static void count(LayerCost& layer, const Node& node, const Facts& facts, std::size_t i, bool& missing) {
    std::vector<Fact> inputs, outputs = facts.outputs[i];
    for (const auto& v : node.inputs) inputs.push_back(facts.of(v));
    for (auto* const list : {&inputs, &outputs})
      for (auto& f : *list)
        if (const auto shape = largest(f.shape)) f.shape = PartialShape(*shape);
    const auto macs = macs_of(node, inputs, outputs);
    missing = missing || !macs;
    layer.macs = times(macs.value_or(0), layer.times);
    if (node.version->view || !node.bodies.empty()) return;
    i64 moved = 0;
    if (!node.version->shape_only)
      for (const auto& f : inputs) moved = plus(moved, bytes_of(f).value_or(0));
    for (const auto& f : outputs) moved = plus(moved, bytes_of(f).value_or(0));
    layer.moved = times(moved, layer.times);
  }

  void note_peak(const Model& model, int node, i64 bytes, const std::vector<AliveTensor>& alive) {
    cost_.peak = bytes;
    cost_.peak_model = &model;
    cost_.peak_node = node;
    cost_.alive = alive;
    std::stable_sort(cost_.alive.begin(), cost_.alive.end(),
                     [](const AliveTensor& a, const AliveTensor& b) { return a.bytes > b.bytes; });
  }

  Cost cost_;
  std::set<Range> stored_;
};

constexpr std::array<std::string_view, 5> kNames{"parameters", "macs", "weights", "moved", "peak"};

}  // namespace

Cost cost_of(const Model& model, const Facts& facts) { return Counter().run(model, facts); }

double CostDemand::value(const Cost& cost) const {
  const std::array values{cost.parameters, cost.macs, cost.weights, cost.moved, cost.peak};
  return static_cast<double>(values[std::find(kNames.begin(), kNames.end(), name) - kNames.begin()]);
}

bool CostDemand::holds(const Cost& cost) const {
  const auto v = value(cost);
  if (comparison == "<") return v < limit;
  if (comparison == "<=") return v <= limit;
  if (comparison == ">") return v > limit;
  if (comparison == ">=") return v >= limit;
  return v == limit;
}

std::vector<CostDemand> parse_demands(std::string_view text) {
  std::vector<CostDemand> list;
  for (const auto part : split(text, ',')) {
    const auto word = trim(part);
    const auto sign = word.find_first_of("<>=");
    const auto after = sign == word.npos ? sign : word.find_first_not_of("<>=", sign);
    const auto wrong = [&](std::string_view why) {
      throw std::invalid_argument(
          fmt::format("expected a demand such as macs<300M or peak<=64MB, not '{}'{}", printable(word), why));
    };
    if (after == word.npos) wrong("");
    CostDemand d{std::string(word), std::string(trim(word.substr(0, sign))),
                 std::string(trim(word.substr(sign, after - sign))), 0};
    if (std::find(kNames.begin(), kNames.end(), d.name) == kNames.end())
      wrong(fmt::format("; the numbers are {}", fmt::join(kNames, ", ")));
    const auto& c = d.comparison;
    if (c != "<" && c != "<=" && c != ">" && c != ">=" && c != "==") wrong("; compare with <, <=, >, >= or ==");
    const auto limit = parse_quantity(word.substr(after));
    if (!limit) wrong("; a number may end in k, M, G, T, KiB, MiB or GiB");
    d.limit = *limit;
    list.push_back(std::move(d));
  }
  return list;
}

}  // namespace ovir::tools
