#include "pattern_examples.hpp"

namespace ovir::testing::patterns::roi_pooling {
namespace {

void pooled_regions(Net& n, std::string_view method, int maps, int rois, std::string_view scale) {
  n.result(n.op(
      "ROIPooling-2", {maps, rois},
      {{"pooled_h", "3"}, {"pooled_w", "5"}, {"spatial_scale", std::string(scale)}, {"method", std::string(method)}}));
}
/// Regions that leave the image, of one pixel, malformed and none of whose bins has a pixel, the last behind the end of
/// the list. Most are of image 1 where there are two.
int pixels(Net& n, float second) {
  return n.numbers(
      {0,  0,  0, 40,  30, second, 10.5F, 3, 90, 70, second, -20, 5,  7, 6, 0,  9,  9, 9, 9, second, 30, 30,
       10, 10, 0, 990, 3,  999,    30,    0, 4,  8,  60,     44,  -1, 0, 0, 40, 30, 0, 0, 0, 40,     30},
      {9, 5});
}
/// The same of normalized regions.
int normalized_regions(Net& n, float second) {
  return n.numbers({0, 0,   0,    1,    1,    second, 0.125F, 0.25F, 0.75F, 0.5F, second, -0.5F, 0.125F, 0.5F, 1.25F,
                    0, 0.5, 0.5F, 0.5F, 0.5F, second, 0.75F,  0.75F, 0.25F, 0.5F, -1,     0,     0,      1,    1},
                   {6, 5});
}
void largest(Net& n) { pooled_regions(n, "max", n.input({2, 3, 17, 20}), pixels(n, 1), "0.25"); }
void largest_of_open(Net& n) { pooled_regions(n, "max", n.input({2, 40, 17, 20}), pixels(n, 0), "0.25"); }
/// Maps so small that they are turned.
void largest_of_turned(Net& n) { pooled_regions(n, "max", n.input({2, 150, 9, 8}), pixels(n, 1), "0.125"); }
/// Turned, and bins of more pixels than are taken at a time. Planes are all of NaN and the rest are numbers.
void largest_of_many(Net& n) {
  const auto x = n.op("Log-1", {n.op("Add-1", {n.input({1, 12, 40, 60}), n.weights({1, 12, 1, 1}, 4)})});
  std::vector<float> rois;
  for (int r = 0; r < 90; ++r) rois.insert(rois.end(), {0, static_cast<float>(r), 0, 59, static_cast<float>(r)});
  pooled_regions(n, "max", x, n.constant(convert(floats({90, 5}, rois), n.type())), "1");
}
void points(Net& n) { pooled_regions(n, "bilinear", n.input({2, 3, 17, 20}), normalized_regions(n, 1), "1"); }
void points_of_open(Net& n) { pooled_regions(n, "bilinear", n.input({2, 40, 17, 20}), normalized_regions(n, 0), "1"); }
void points_of_turned(Net& n) { pooled_regions(n, "bilinear", n.input({2, 150, 9, 8}), normalized_regions(n, 1), "1"); }

// clang-format off
constexpr Example kExamples[] = {
    {"roi_pooling.max", largest},
    {"roi_pooling.max", largest_of_open, kOnce, kOpen},
    {"roi_pooling.max", largest_of_open, kOften, kOpen},
    {"roi_pooling.max", largest_of_turned},
    {"roi_pooling.max", largest_of_many},
    {"roi_pooling.bilinear", points},
    {"roi_pooling.bilinear", points_of_open, kOnce, kOpen},
    {"roi_pooling.bilinear", points_of_open, kOften, kOpen},
    {"roi_pooling.bilinear", points_of_turned},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"roi_pooling", kExamples};

}  // namespace ovir::testing::patterns::roi_pooling
