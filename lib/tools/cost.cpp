#include "tools/cost.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "tools/macs.hpp"

namespace ovir::tools {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Saturating, so that absurd shapes give absurd numbers and nothing worse.
constexpr auto kMax = std::numeric_limits<i64>::max();
i64 times(i64 a, i64 b) { return checked_mul(a, b).value_or(kMax); }
i64 plus(i64 a, i64 b) { return checked_add(a, b).value_or(kMax); }

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
    const auto& t = node.constant;
    if (t && is_weight(t.type())) w.parameters = t.size();
    return w;
  }

  /// One model or body. `around`: the tensors alive outside it. Gives the most bytes that are alive at a time in it.
  void walk(const Model& model, const Facts& facts, i64 runs, const std::vector<AliveTensor>& around,
            i64 around_bytes) {
    const auto n = model.nodes.size();
    std::vector<std::size_t> last(n, 0);  // by node: the last that reads it
    for (std::size_t i = 0; i < n; ++i) {
      last[i] = std::max(last[i], i);
      for (const auto& v : model.nodes[i].inputs)
        if (v.node >= 0) last[at(v.node)] = model.nodes[i].op->kind == Kind::result ? n : std::max(last[at(v.node)], i);
    }
    // A view's bytes are those of its input.
    for (std::size_t i = n; i-- > 0;)
      if (const auto& node = model.nodes[i]; node.version->view && node.inputs[0].node >= 0)
        last[at(node.inputs[0].node)] = std::max(last[at(node.inputs[0].node)], last[i]);
    const auto constant = from_constants(model);
    std::vector<Weights> brought(n);  // by node: constants that only lead here
    for (std::size_t i = 0; i < n; ++i) {
      const auto& node = model.nodes[i];
      if (node.op->kind == Kind::constant) brought[i] = weights_of(node);
      cost_.parameters = plus(cost_.parameters, brought[i].parameters);
      cost_.weights = plus(cost_.weights, brought[i].bytes);
    }
    auto alive = around;
    auto bytes = around_bytes;
    for (std::size_t i = 0; i < n; ++i) {
      const auto& node = model.nodes[i];
      const auto kind = node.op->kind;
      if (kind == Kind::constant || kind == Kind::result) continue;
      const bool known = is_known(node, facts, i) || (constant[i] && kind == Kind::compute);
      bool missing = false;
      // The Parameters of a body receive what lies outside it, or a result of the iteration before.
      if (!known && !(kind == Kind::parameter && !model.path.empty()))
        bytes = plus(bytes, give(model, node, facts, static_cast<int>(i), alive, missing));
      LayerCost layer{&model, static_cast<int>(i), runs, 0, 0, 0};
      // What leads from constants to here alone (decompression) belongs to the layer that reads it.
      for (const auto& v : node.inputs)
        if (v.node >= 0) layer.parameters = plus(layer.parameters, std::exchange(brought[at(v.node)].parameters, 0));
      if (constant[i]) brought[i].parameters = std::exchange(layer.parameters, 0);
      if (kind == Kind::compute && !known) {
        count(layer, node, facts, i, missing);
        cost_.layers.push_back(layer);
        if (missing) cost_.open.push_back(layer);
        cost_.macs = plus(cost_.macs, layer.macs);
        cost_.moved = plus(cost_.moved, layer.moved);
      }
      if (bytes > cost_.peak) note_peak(model, static_cast<int>(i), bytes, alive);
      for (std::size_t b = 0; b < node.bodies.size() && b < facts.bodies[i].size(); ++b) {
        const auto iterations = trips(model, node, facts, i, b);
        if (!iterations) cost_.open.push_back(layer);
        walk(*node.bodies[b], facts.bodies[i][b], times(runs, iterations.value_or(1)), alive, bytes);
      }
      const auto dead = [&](const AliveTensor& t) { return t.model == &model && last[at(t.node)] <= i; };
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
      const auto known = [&](ValueRef v) { return v.node >= 0 && constant[at(v.node)]; };
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
    const auto& outputs = facts.outputs[at(i)];
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const auto size = bytes_of(outputs[o]);
      missing = missing || !size || !outputs[o].shape.is_static();
      if (!size) continue;
      alive.push_back({&model, i, static_cast<int>(o), outputs[o].type, *largest(outputs[o].shape), *size});
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

  /// How often a body runs; nothing where only the run tells.
  static std::optional<i64> trips(const Model&, const Node& node, const Facts& facts, std::size_t i, std::size_t b) {
    const auto& map = node.maps[b];
    if (!node.op->bodies.empty() && !node.op->bodies[std::min(b, node.op->bodies.size() - 1)].iterates) return 1;
    std::optional<i64> count;
    for (const auto& link : map.inputs) {
      if (!link.sliced || link.port < 0) continue;
      const auto& shape = facts.of(node.inputs[at(link.port)]).shape;
      if (!shape.has_rank()) return std::nullopt;
      const auto axis = link.axis < 0 ? link.axis + shape.rank() : link.axis;
      if (axis < 0 || axis >= shape.rank() || !shape[axis].is_static() || link.stride == 0) return std::nullopt;
      const auto border = [&](i64 v) { return v < 0 ? v + shape[axis].length() + 1 : v; };
      const auto parts = std::abs(border(link.end) - border(link.start)) / std::abs(link.stride);
      count = std::min(count.value_or(parts), parts);
    }
    for (const auto& link : map.outputs) {
      if (count || !link.sliced || link.port < 0) continue;
      const auto& shape = facts.outputs[i][at(link.port)].shape;
      if (!shape.has_rank()) continue;
      const auto axis = link.axis < 0 ? link.axis + shape.rank() : link.axis;
      if (axis >= 0 && axis < shape.rank() && shape[axis].is_static()) count = shape[axis].length() / link.part_size;
    }
    // A body that counts its iterations has their greatest number at input 0.
    const bool counts = !node.op->bodies.empty() && node.op->bodies[0].counts && !node.inputs.empty();
    if (const auto& limit = counts ? facts.of(node.inputs[0]).value : Tensor(); limit && limit.size() == 1)
      if (const auto max = to_i64(limit)[0]; max >= 0) count = std::min(count.value_or(max), max);
    return count;
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

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array kUnits{Unit{"", 1},     Unit{"k", 1e3},    Unit{"m", 1e6},       Unit{"g", 1e9},
                            Unit{"t", 1e12}, Unit{"kib", 1024}, Unit{"mib", 1048576}, Unit{"gib", 1073741824},
                            Unit{"kb", 1e3}, Unit{"mb", 1e6},   Unit{"gb", 1e9},      Unit{"b", 1}};
constexpr std::array<std::string_view, 5> kNames{"parameters", "macs", "weights", "moved", "peak"};

}  // namespace

Cost cost_of(const Model& model, const Facts& facts) { return Counter().run(model, facts); }

double CostDemand::value(const Cost& cost) const {
  const std::array values{cost.parameters, cost.macs, cost.weights, cost.moved, cost.peak};
  return static_cast<double>(
      values[static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin())]);
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
          fmt::format("expected a demand such as macs<300M or peak<=64MiB, not '{}'{}", printable(word), why));
    };
    if (after == word.npos) wrong("");
    CostDemand d{std::string(word), std::string(trim(word.substr(0, sign))),
                 std::string(trim(word.substr(sign, after - sign))), 0};
    if (std::find(kNames.begin(), kNames.end(), d.name) == kNames.end())
      wrong(fmt::format("; the numbers are {}", fmt::join(kNames, ", ")));
    const auto& c = d.comparison;
    if (c != "<" && c != "<=" && c != ">" && c != ">=" && c != "==") wrong("; compare with <, <=, >, >= or ==");
    const auto number = word.substr(after);
    const auto end =
        std::find_if(number.begin(), number.end(), [](char x) { return x >= 'A' && x != 'e'; }) - number.begin();
    const auto value = parse_number<double>(number.substr(0, static_cast<std::size_t>(end)));
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) {
      return equals_ignoring_case(u.name, trim(number.substr(static_cast<std::size_t>(end))));
    });
    if (!value || unit == kUnits.end()) wrong("; a number may end in k, M, G, T, KiB, MiB or GiB");
    d.limit = *value * unit->factor;
    list.push_back(std::move(d));
  }
  return list;
}

}  // namespace ovir::tools
