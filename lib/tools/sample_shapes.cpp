#include "tools/sample_shapes.hpp"

#include <algorithm>

#include "tools/lengths.hpp"

namespace ovir::tools {
namespace {

constexpr i64 kBudget = 2'000'000;  // layers inferred in all

/// Asks inference whether it accepts shapes of the inputs.
class Judge {
 public:
  explicit Judge(const Model& model) : model_(model) {}

  bool accepts(const std::vector<PartialShape>& shapes) {
    if (left_ <= 0) throw OutOfBudget();
    passes::InferOptions options;
    options.compare_declared = false;
    options.stop_at_fault = true;
    for (int k = 0; k < std::ssize(shapes); ++k) options.shapes[k] = shapes[k];
    Diagnostics diagnostics;
    const auto facts = passes::infer(model_, options, diagnostics);
    left_ -= std::ssize(facts.outputs);
    return diagnostics.errors() == 0;
  }

 private:
  const Model& model_;
  i64 left_ = kBudget;
};

/// The shapes of the inputs; nothing where they are refused before any length is chosen.
std::optional<std::vector<PartialShape>> shapes_of(const Model& model, const passes::InferOptions& options) {
  auto inferring = options;
  inferring.compare_declared = false;
  inferring.stop_at_fault = true;
  Diagnostics diagnostics;
  const auto facts = passes::infer(model, inferring, diagnostics);
  if (diagnostics.errors() > 0) return std::nullopt;
  std::vector<PartialShape> shapes;
  for (const auto node : model.parameters) {
    shapes.push_back(facts.of({node, 0}).shape);
    for (auto& d : shapes.back().dims()) d.symbol = 0;
  }
  return shapes;
}

i64 within(const Dim& d, i64 n) { return std::clamp(n, std::max<i64>(d.min, std::min<i64>(d.max, 1)), d.max); }

/// 1 to 16, then four lengths an octave.
std::vector<i64> candidates() {
  std::vector<i64> list;
  for (i64 n = 1; n < 16; ++n) list.push_back(n);
  for (i64 n = 16; n <= 16384; n *= 2)
    for (i64 quarter = 4; quarter < 8; ++quarter) list.push_back(n / 4 * quarter);
  return list;
}

/// Every open dim of axis 0 gets `first`, of any other axis `rest`; a length that is given for the axis goes before.
std::vector<PartialShape> filled(std::vector<PartialShape> shapes, const std::map<i64, i64>& given, i64 first,
                                 i64 rest) {
  for (auto& shape : shapes)
    for (i64 axis = 0; axis < shape.rank(); ++axis) {
      auto& d = shape[axis];
      const auto known = given.find(axis);
      if (!d.is_static()) d = within(d, known != given.end() ? known->second : axis == 0 ? first : rest);
    }
  return shapes;
}

/// The lengths of the axes of inputs that are given, where these agree with what other inputs leave open.
std::map<i64, i64> given_lengths(const std::vector<PartialShape>& shapes, const passes::InferOptions& options) {
  std::map<i64, i64> lengths;
  for (const auto& [k, unused] : options.shapes) {
    const auto& shape = shapes[k];
    for (i64 axis = 0; axis < shape.rank(); ++axis)
      if (shape[axis].is_static()) lengths.emplace(axis, shape[axis].length());
  }
  return lengths;
}

std::vector<Shape> fixed(const std::vector<PartialShape>& shapes) {
  std::vector<Shape> list;
  for (const auto& shape : shapes) list.push_back(shape.to_shape());
  return list;
}

/// One dim after the other, each as short as is accepted while the later ones are open.
std::optional<std::vector<PartialShape>> filled_one_by_one(Judge& judge, std::vector<PartialShape> shapes) {
  for (auto& shape : shapes)
    for (auto& d : shape.dims()) {
      if (d.is_static()) continue;
      const auto open = d;
      const auto lengths = candidates();
      const auto accepted = std::find_if(lengths.begin(), lengths.end(), [&](i64 n) {
        d = within(open, n);
        return judge.accepts(shapes);
      });
      if (accepted == lengths.end()) return std::nullopt;
    }
  return shapes;
}

}  // namespace

std::optional<std::vector<Shape>> sample_shapes(const Model& model, const passes::InferOptions& options) {
  const auto shapes = shapes_of(model, options);
  if (!shapes || std::any_of(shapes->begin(), shapes->end(), [](const auto& s) { return !s.has_rank(); }))
    return std::nullopt;
  Judge judge(model);
  try {
    const auto given = given_lengths(*shapes, options);
    for (const auto& lengths : {given, std::map<i64, i64>()})
      for (const bool batch : {true, false})
        for (const auto n : candidates())
          if (auto whole = filled(*shapes, lengths, batch ? 1 : n, n); judge.accepts(whole)) return fixed(whole);
    if (const auto whole = filled_one_by_one(judge, *shapes)) return fixed(*whole);
  } catch (const OutOfBudget&) {
  }
  return std::nullopt;
}

namespace {

/// Dims that were asked to have one length and begin with one length.
struct Group {
  std::vector<std::pair<std::size_t, i64>> dims;  ///< Parameter, axis
  i64 wanted = 0, base = 0;
};

std::vector<Group> groups_of(const std::map<int, Shape>& refused, const std::vector<Shape>& base) {
  std::vector<Group> groups;
  for (const auto& [input, shape] : refused) {
    if (shape.size() != base[input].size()) return {};
    for (i64 axis = 0; axis < std::ssize(shape); ++axis) {
      const auto wanted = shape[axis], from = base[input][axis];
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const Group& g) { return g.wanted == wanted && g.base == from; });
      if (group == groups.end()) group = groups.insert(group, {{}, wanted, from});
      group->dims.emplace_back(input, axis);
    }
  }
  return groups;
}

std::vector<PartialShape> partial(const std::vector<Shape>& shapes) { return {shapes.begin(), shapes.end()}; }

void set(std::vector<PartialShape>& shapes, const Group& group, i64 length) {
  for (const auto& [input, axis] : group.dims) shapes[input][axis] = length;
}

/// The shapes that are accepted where dims of one group alone change, by the least; -1 below, 1 above.
std::optional<std::vector<PartialShape>> nearest_by_one(Judge& judge, const std::vector<PartialShape>& wanted,
                                                        const std::vector<Group>& groups, i64 direction) {
  constexpr i64 kNear = 64;
  for (i64 distance = 1; distance <= kNear; ++distance)
    for (const auto& group : groups) {
      const auto length = group.wanted + direction * distance;
      if (length < 1) continue;
      auto shapes = wanted;
      set(shapes, group, length);
      if (judge.accepts(shapes)) return shapes;
    }
  return std::nullopt;
}

/// The accepted length nearest to the wanted one, itself included.
std::optional<i64> nearest(const Lengths& lengths, i64 wanted, i64 step) {
  for (auto n = wanted; n >= 1 && n <= Lengths::kLongest; n += step)
    if (lengths.contains(n)) return n;
  return std::nullopt;
}

}  // namespace

NearestShapes nearest_shapes(const Model& model, const std::map<int, Shape>& refused) {
  const auto base = sample_shapes(model, {});
  if (!base) return {};
  const auto groups = groups_of(refused, *base);
  Judge judge(model);
  NearestShapes found;
  try {
    auto wanted = partial(*base);
    for (const auto& group : groups) set(wanted, group, group.wanted);
    for (const i64 direction : {-1, 1})
      if (const auto shapes = nearest_by_one(judge, wanted, groups, direction))
        (direction < 0 ? found.below : found.above) = fixed(*shapes);
    if (found.below || found.above) return found;
    auto below = partial(*base), above = below;
    bool lower = !groups.empty(), upper = lower;
    for (const auto& group : groups) {
      if (group.wanted == group.base) continue;
      auto lengths = search_lengths(group.base, [&](i64 n) {
        auto shapes = partial(*base);
        set(shapes, group, n);
        return judge.accepts(shapes);
      });
      const auto down = nearest(lengths, group.wanted, -1), up = nearest(lengths, group.wanted, 1);
      lower = lower && down;
      upper = upper && up;
      if (down) set(below, group, *down);
      if (up) set(above, group, *up);
    }
    if (lower && judge.accepts(below)) found.below = fixed(below);
    if (upper && judge.accepts(above)) found.above = fixed(above);
  } catch (const OutOfBudget&) {
  }
  return found;
}

}  // namespace ovir::tools
