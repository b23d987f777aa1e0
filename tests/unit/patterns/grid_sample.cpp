#include "pattern_examples.hpp"

namespace ovir::testing::patterns::grid_sample {
namespace {

void sampled(Net& n, std::string_view mode, std::string_view padding, std::string_view align) {
  n.result(n.op(
      "GridSample-9", {n.input({2, 70, 6, 5}), n.input({2, 9, 10, 2})},
      {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", std::string(align)}}));
}
void bilinear(Net& n) { sampled(n, "bilinear", "zeros", "false"); }
void bilinear_inside(Net& n) { sampled(n, "bilinear", "border", "true"); }
void bicubic(Net& n) { sampled(n, "bicubic", "reflection", "false"); }
void bicubic_zeros(Net& n) { sampled(n, "bicubic", "zeros", "true"); }
/// Channels too few to turn images for.
void few_channels(Net& n) {
  n.result(n.op("GridSample-9", {n.input({1, 3, 6, 5}), n.input({1, 9, 10, 2})},
                {{"mode", "bilinear"}, {"padding_mode", "zeros"}, {"align_corners", "false"}}));
}
void nearest(Net& n) { sampled(n, "nearest", "zeros", "false"); }
void nearest_mirrored(Net& n) { sampled(n, "nearest", "reflection", "true"); }
void bilinear_mirrored(Net& n) { sampled(n, "bilinear", "reflection", "true"); }

// clang-format off
constexpr Example kExamples[] = {
    {"grid_sample", bilinear},
    {"grid_sample", bilinear, kOnce, kOpen},
    {"grid_sample", bilinear_inside},
    {"grid_sample", bicubic},
    {"grid_sample", bicubic_zeros},
    {"grid_sample", nearest},
    {"grid_sample", nearest_mirrored},
    {"grid_sample", bilinear_mirrored},
    {"grid_sample", few_channels},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"grid_sample", kExamples};

}  // namespace ovir::testing::patterns::grid_sample
