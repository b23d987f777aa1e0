#include "pattern_examples.hpp"

namespace ovir::testing::patterns::extract_image_patches {
namespace {

void patches(Net& n, const PartialShape& image, const char* sizes, const char* strides, const char* rates,
             const char* auto_pad) {
  n.result(n.op("ExtractImagePatches-3", {n.input(image)},
                {{"sizes", sizes}, {"strides", strides}, {"rates", rates}, {"auto_pad", auto_pad}}));
}
void side_by_side(Net& n) { patches(n, {2, 3, 10, 13}, "3,3", "1,1", "1,1", "same_upper"); }
void apart(Net& n) { patches(n, {1, 5, 12, 11}, "2,3", "3,2", "2,1", "same_lower"); }
void within(Net& n) { patches(n, {2, 3, 10, 9}, "3,2", "5,3", "1,2", "valid"); }
/// Patches that are larger than the image.
void beyond(Net& n) { patches(n, {1, 2, 2, 3}, "5,7", "1,2", "2,3", "same_upper"); }

// clang-format off
constexpr Example kExamples[] = {
    {"extract_image_patches", side_by_side, kOften, kOpen},
    {"extract_image_patches", apart},
    {"extract_image_patches", within, kOnce},
    {"extract_image_patches", beyond},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"extract_image_patches", kExamples};

}  // namespace ovir::testing::patterns::extract_image_patches
