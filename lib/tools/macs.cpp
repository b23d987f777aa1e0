#include "tools/macs.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace ovir::tools {

std::optional<i64> macs_of(const Node& node, std::span<const Fact> inputs, std::span<const Fact> outputs) {
  if (!node.version || !node.version->macs) return 0;
  const auto shapes = [](std::span<const Fact> facts) -> std::optional<std::vector<Shape>> {
    std::vector<Shape> list;
    for (const auto& f : facts) {
      if (!f.shape.is_static()) return std::nullopt;
      list.push_back(f.shape.to_shape());
    }
    return list;
  };
  const auto in = shapes(inputs), out = shapes(outputs);
  if (!in || !out) return std::nullopt;
  const auto macs = node.version->macs(*node.version, node.attrs.get(), *in, *out);
  return macs == std::numeric_limits<i64>::max() ? std::nullopt : std::optional(macs);
}

}  // namespace ovir::tools
