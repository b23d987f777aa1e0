// I420toRGB: from I420 planes to RGB pixels.
// Spec: operation-sets/operation-specs/image/i420-to-rgb-8
#include "ops/image/common.hpp"

namespace ovir::ops::i420_to_rgb {
namespace {

void infer(InferContext& c) { image::infer_from_yuv(c, image::Chroma::planar); }
void eval(EvalContext& c) { image::convert_from_yuv(c, image::Chroma::planar, image::Order::rgb); }

constexpr Version kVersions[] = {
    {.since = 8, .inputs = image::kI420, .outputs = image::kColors, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "I420toRGB", .spec = "image/i420-to-rgb", .versions = kVersions};

}  // namespace ovir::ops::i420_to_rgb
