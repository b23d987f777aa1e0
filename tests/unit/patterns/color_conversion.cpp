#include "pattern_examples.hpp"

namespace ovir::testing::patterns::color_conversion {
namespace {

/// Values from 0 to 255.
int plane(Net& n, const Shape& shape) {
  const auto numbers = n.op("Multiply-1", {n.input(PartialShape(shape)), n.numbers({60}, {})});
  return n.op("Clamp-1", {n.op("Add-1", {numbers, n.numbers({120}, {})})}, {{"min", "0"}, {"max", "255"}});
}
int bytes(Net& n, const Shape& shape) { return n.op("Convert-1", {plane(n, shape)}, {{"destination_type", "u8"}}); }

void nv12(Net& n) { n.result(n.op("NV12toRGB-8", {plane(n, {2, 12, 10, 1})})); }
void nv12_bytes(Net& n) { n.result(n.op("NV12toBGR-8", {bytes(n, {1, 12, 300, 1})})); }
void nv12_planes(Net& n) { n.result(n.op("NV12toRGB-8", {bytes(n, {2, 8, 130, 1}), bytes(n, {2, 4, 65, 2})})); }
void i420(Net& n) { n.result(n.op("I420toBGR-8", {plane(n, {2, 12, 10, 1})})); }
void i420_planes(Net& n) {
  n.result(n.op("I420toRGB-8", {bytes(n, {2, 8, 130, 1}), bytes(n, {2, 4, 65, 1}), bytes(n, {2, 4, 65, 1})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"nv12.to_rgb", nv12},
    {"nv12.to_bgr", nv12_bytes, kOnce, kFixed, kF32Only},
    {"nv12.to_rgb", nv12_planes, kOften, kFixed, kF32Only},
    {"i420.to_bgr", i420},
    {"i420.to_rgb", i420_planes, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"color_conversion", kExamples};

}  // namespace ovir::testing::patterns::color_conversion
