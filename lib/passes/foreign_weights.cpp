#include "passes/foreign_weights.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "model/report.hpp"

namespace ovir::passes {
namespace {

struct Constants {
  std::vector<ByteRange> ranges;
  const Node* absurd = nullptr;
  std::string value;  ///< of the absurd one
};

/// Lengths, axes and bounds are small, or the ends of their type.
bool is_absurd(i64 v) {
  constexpr i64 kLarge = i64{1} << 40;
  constexpr auto kEnds = std::numeric_limits<i64>::max() - (i64{1} << 32);
  return (v > kLarge && v < kEnds) || (v < -kLarge && v > -kEnds);
}

/// NaN, or larger than anything but the greatest float, which masks hold.
bool is_absurd(double v) {
  const auto size = std::abs(v);
  return std::isnan(v) || (size > 1e30 && size < 3.4e38);
}

std::string absurd_value(const Tensor& t) {
  constexpr i64 kLooked = 64;
  if (!t || t.size() > kLooked || t.size() == 0) return {};
  if (t.type() == ElementType::i64)
    for (const auto v : to_i64(t))
      if (is_absurd(v)) return std::to_string(v);
  if (t.type() == ElementType::f32)
    for (const auto v : to_f64(t))
      if (is_absurd(v))
        return std::isnan(v) ? "nan" : fmt::format("{}", static_cast<float>(v));  // its sign says nothing
  return {};
}

void collect(const Model& model, Constants& constants) {
  for (const auto& node : model.nodes) {
    for (const auto& body : node.bodies) collect(*body, constants);
    if (!node.op || node.op->kind != Kind::constant) continue;
    if (const auto range = stored_bytes(node)) constants.ranges.push_back(*range);
    if (constants.absurd) continue;
    if (auto value = absurd_value(node.constant); !value.empty()) {
      constants.absurd = &node;
      constants.value = std::move(value);
    }
  }
}

/// How many of `size` bytes none of the ranges holds.
i64 unused(std::vector<ByteRange> ranges, i64 size) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  i64 used = 0, reached = 0;
  for (const auto& range : ranges) {
    const auto begin = std::max(range.begin, reached), end = std::min(range.end, size);
    if (begin >= end) continue;
    used += end - begin;
    reached = end;
  }
  return size - used;
}

}  // namespace

void suspect_weights(const Model& model, Diagnostics& diagnostics) {
  constexpr Code kAboutValues[] = {Code::E0302, Code::E0505, Code::E0506, Code::E0507, Code::E0508, Code::E0512};
  const auto& graph = *model.graph;
  const auto& all = diagnostics.all();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Diagnostic& d) {
    return std::find(std::begin(kAboutValues), std::end(kAboutValues), d.code) != std::end(kAboutValues);
  });
  if (at == all.end() || !graph.weights) return;
  Constants constants;
  collect(model, constants);
  const i64 size = graph.weights->size();
  const auto left = unused(constants.ranges, size);
  // Writers align constants by some bytes.
  const auto gaps = 64 * (std::ssize(constants.ranges) + 1);
  std::vector<std::string> signs;
  if (left > gaps && left > size / 100)
    signs.push_back(fmt::format("{} of its {} belong to no constant", size_text(left), size_text(size)));
  if (constants.absurd)
    signs.push_back(fmt::format("{} holds {}", describe(*constants.absurd->layer), constants.value));
  if (signs.empty()) return;
  diagnostics.add_note(at - all.begin(),
                       {fmt::format("{} may belong to another model: {}", printable(graph.weights_path),
                                    fmt::format("{}{}{}", signs.front(), signs.size() > 1 ? ", and " : "",
                                                signs.size() > 1 ? signs.back() : "")),
                        {},
                        "",
                        ""});
}

}  // namespace ovir::passes
