// Attributes of operations on images; the fast tier reads them too.
#pragma once
#include <cstdint>

#include "op/attributes.hpp"

namespace ovir {

enum class GridSampleMode : std::uint8_t { bilinear, bicubic, nearest };
constexpr auto words(GridSampleMode) {
  return std::to_array<Word<GridSampleMode>>({{"bilinear", GridSampleMode::bilinear},
                                              {"bicubic", GridSampleMode::bicubic},
                                              {"nearest", GridSampleMode::nearest}});
}
enum class GridSamplePadding : std::uint8_t { zeros, border, reflection };
constexpr auto words(GridSamplePadding) {
  return std::to_array<Word<GridSamplePadding>>({{"zeros", GridSamplePadding::zeros},
                                                 {"border", GridSamplePadding::border},
                                                 {"reflection", GridSamplePadding::reflection}});
}
struct GridSampleAttrs {
  bool align_corners = false;
  GridSampleMode mode = GridSampleMode::bilinear;
  GridSamplePadding padding_mode = GridSamplePadding::zeros;
};

enum class RoiAlignMode : std::uint8_t { avg, max };
constexpr auto words(RoiAlignMode) {
  return std::to_array<Word<RoiAlignMode>>({{"avg", RoiAlignMode::avg}, {"max", RoiAlignMode::max}});
}
enum class RoiAlignedMode : std::uint8_t { asymmetric, half_pixel_for_nn, half_pixel };
constexpr auto words(RoiAlignedMode) {
  return std::to_array<Word<RoiAlignedMode>>({{"asymmetric", RoiAlignedMode::asymmetric},
                                              {"half_pixel_for_nn", RoiAlignedMode::half_pixel_for_nn},
                                              {"half_pixel", RoiAlignedMode::half_pixel}});
}
struct RoiAlignAttrs {
  i64 pooled_h = 0, pooled_w = 0, sampling_ratio = 0;
  float spatial_scale = 0;
  RoiAlignMode mode{};
  RoiAlignedMode aligned_mode = RoiAlignedMode::asymmetric;
};

}  // namespace ovir
