#include "pattern_examples.hpp"

namespace ovir::testing::patterns::psroi_pooling {
namespace {

void averages(Net& n, const PartialShape& maps, i64 group, float second) {
  // Regions that leave the image, one pixel, malformed, beside it, and one behind the end of the list.
  const auto rois =
      n.numbers({0,  0,  0, 40,  30, second, 10.5F, 3, 90, 70, second, -20, 5,  7, 6, 0,  9,  9, 9, 9, second, 30, 30,
                 10, 10, 0, 990, 3,  999,    30,    0, 4,  8,  60,     44,  -1, 0, 0, 40, 30, 0, 0, 0, 40,     30},
                {9, 5});
  n.result(n.op(
      "PSROIPooling-1", {n.input(maps), rois},
      {{"output_dim", "3"}, {"group_size", std::to_string(group)}, {"spatial_scale", "0.5"}, {"mode", "average"}}));
}
void average(Net& n) { averages(n, {2, 12, 17, 20}, 2, 1); }
void average_of_open(Net& n) { averages(n, {2, 12, 17, 20}, 2, 0); }
/// Bins whose rows are long.
void average_of_long(Net& n) { averages(n, {2, 3, 30, 40}, 1, 1); }

void points(Net& n, const PartialShape& maps, i64 channels, i64 group, float second) {
  const auto rois =
      n.numbers({0, 0,   0,    1,    1,    second, 0.125F, 0.25F, 0.75F, 0.5F, second, -0.5F, 0.125F, 0.5F, 1.25F,
                 0, 0.5, 0.5F, 0.5F, 0.5F, second, 0.75F,  0.75F, 0.25F, 0.5F, -1,     0,     0,      1,    1},
                {6, 5});
  n.result(n.op("PSROIPooling-1", {n.input(maps), rois},
                {{"output_dim", std::to_string(channels)},
                 {"group_size", std::to_string(group)},
                 {"spatial_scale", "1"},
                 {"mode", "bilinear"},
                 {"spatial_bins_x", "3"},
                 {"spatial_bins_y", "2"}}));
}
void bilinear(Net& n) { points(n, {2, 18, 17, 20}, 3, 4, 1); }
void bilinear_of_open(Net& n) { points(n, {2, 54, 9, 8}, 9, 4, 0); }
/// Maps so small that they are turned.
void bilinear_of_turned(Net& n) { points(n, {2, 54, 9, 8}, 9, 4, 1); }
void one_bin(Net& n) { points(n, {2, 18, 17, 20}, 3, 1, 1); }

// clang-format off
constexpr Example kExamples[] = {
    {"psroi_pooling.average", average},
    {"psroi_pooling.average", average_of_open, kOnce, kOpen},
    {"psroi_pooling.average", average_of_open, kOften, kOpen},
    {"psroi_pooling.average", average_of_long},
    {"psroi_pooling.bilinear", bilinear},
    {"psroi_pooling.bilinear", bilinear_of_open, kOnce, kOpen},
    {"psroi_pooling.bilinear", bilinear_of_open, kOften, kOpen},
    {"psroi_pooling.bilinear", bilinear_of_turned},
    {"psroi_pooling.bilinear", one_bin},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"psroi_pooling", kExamples};

}  // namespace ovir::testing::patterns::psroi_pooling
