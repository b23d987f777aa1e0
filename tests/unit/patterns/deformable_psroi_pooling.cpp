#include "pattern_examples.hpp"

namespace ovir::testing::patterns::deformable_psroi_pooling {
namespace {

/// Regions that leave the image, of one pixel, malformed and beside it, and one that is none before others.
int regions(Net& n, float second) {
  return n.numbers({0, 0, 0, 40, 30, second, 10.5F, 3,  90, 70, -1, 0,   0, 40,  30, second, -20, 5, 7,  6,
                    0, 9, 9, 9,  9,  second, 30,    30, 10, 10, 0,  990, 3, 999, 30, 0,      4,   8, 60, 44},
                   {8, 5});
}
void pooled_regions(Net& n, std::vector<int> inputs, i64 channels, i64 part, i64 columns = 4) {
  n.result(n.op("DeformablePSROIPooling-1", inputs,
                {{"output_dim", std::to_string(channels)},
                 {"group_size", "3"},
                 {"spatial_scale", "0.25"},
                 {"spatial_bins_x", std::to_string(columns)},
                 {"spatial_bins_y", "3"},
                 {"trans_std", "0.5"},
                 {"part_size", std::to_string(part)}}));
}
void plain(Net& n) { pooled_regions(n, {n.input({2, 18, 17, 20}), regions(n, 1)}, 2, 1); }
void plain_of_open(Net& n) { pooled_regions(n, {n.input({2, 18, 17, 20}), regions(n, 0)}, 2, 1); }
/// One point a row: bins are wider than it reaches.
void few_points(Net& n) { pooled_regions(n, {n.input({2, 18, 17, 20}), regions(n, 1)}, 2, 1, 1); }
/// Five channels of two classes: the last one's are more.
void shifted(Net& n) { pooled_regions(n, {n.input({2, 45, 17, 20}), regions(n, 1), n.weights({8, 4, 3, 3})}, 5, 3); }
/// Parts that are not bins, and more classes than channels.
void many_classes(Net& n) {
  pooled_regions(n, {n.input({2, 18, 17, 20}), regions(n, 1), n.weights({8, 6, 2, 2})}, 2, 2);
}

// clang-format off
constexpr Example kExamples[] = {
    {"deformable_psroi_pooling", plain},
    {"deformable_psroi_pooling", plain_of_open, kOnce, kOpen},
    {"deformable_psroi_pooling", plain_of_open, kOften, kOpen},
    {"deformable_psroi_pooling", few_points},
    {"deformable_psroi_pooling", shifted},
    {"deformable_psroi_pooling", many_classes},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"deformable_psroi_pooling", kExamples};

}  // namespace ovir::testing::patterns::deformable_psroi_pooling
