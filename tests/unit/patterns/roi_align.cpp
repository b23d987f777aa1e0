#include "pattern_examples.hpp"

namespace ovir::testing::patterns::roi_align {
namespace {

void aligned(Net& n, std::string_view version, std::string_view mode, std::string_view ratio, Texts more = {},
             i64 height = 17, i64 width = 20) {
  const int rois = n.numbers({0, 0, 40, 30, 10.5F, 3, 90, 70, -20, 5, 7, 6, 30, 30, 30, 30}, {4, 4});
  Texts attributes{{"pooled_h", "3"},
                   {"pooled_w", "5"},
                   {"sampling_ratio", std::string(ratio)},
                   {"spatial_scale", "0.25"},
                   {"mode", std::string(mode)}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  n.result(n.op(version, {n.input({2, 40, height, width}), rois, n.indices({0, 1, 1, 0})}, attributes));
}
void mean(Net& n) { aligned(n, "ROIAlign-9", "avg", "2", {{"aligned_mode", "half_pixel"}}); }
void mean_of_pixels(Net& n) { aligned(n, "ROIAlign-9", "avg", "0", {{"aligned_mode", "half_pixel_for_nn"}}); }
/// Maps so small that they are turned.
void mean_of_turned(Net& n) { aligned(n, "ROIAlign-9", "avg", "3", {{"aligned_mode", "asymmetric"}}, 7, 8); }
void largest_of_turned(Net& n) { aligned(n, "ROIAlign-3", "max", "2", {}, 7, 8); }
void largest(Net& n) { aligned(n, "ROIAlign-3", "max", "0"); }

// clang-format off
constexpr Example kExamples[] = {
    {"roi_align", mean},
    {"roi_align", mean_of_pixels, kOnce},
    {"roi_align", largest},
    {"roi_align", mean_of_turned},
    {"roi_align", largest_of_turned, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"roi_align", kExamples};

}  // namespace ovir::testing::patterns::roi_align
