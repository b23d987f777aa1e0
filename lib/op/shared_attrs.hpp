// Attributes that the fast tier reads as well as the operation's own file.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "op/attributes.hpp"

namespace ovir {

struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
};

enum class MvnEps : std::uint8_t { inside_sqrt, outside_sqrt };
constexpr auto words(MvnEps) {
  return std::to_array<Word<MvnEps>>({{"inside_sqrt", MvnEps::inside_sqrt}, {"outside_sqrt", MvnEps::outside_sqrt}});
}
/// Version 6; of version 1 the first three, where the axes follow from across_channels or reduction_axes.
struct MvnAttrs {
  bool normalize_variance = true, across_channels = false;
  double eps = 1e-9;
  MvnEps eps_mode = MvnEps::inside_sqrt;
  std::optional<std::vector<std::int64_t>> reduction_axes;
};

struct ScaledDotProductAttentionAttrs {
  bool causal = false;
};

}  // namespace ovir
