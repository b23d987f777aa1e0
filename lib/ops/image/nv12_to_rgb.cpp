// NV12toRGB: from NV12 planes to RGB pixels.
// Spec: operation-sets/operation-specs/image/nv12-to-rgb-8
#include "ops/image/common.hpp"

namespace ovir::ops::nv12_to_rgb {
namespace {

void infer(InferContext& c) { image::infer_from_yuv(c, image::Chroma::interleaved); }
void eval(EvalContext& c) { image::convert_from_yuv(c, image::Chroma::interleaved, image::Order::rgb); }

constexpr Version kVersions[] = {
    {.since = 8, .inputs = image::kNv12, .outputs = image::kColors, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "NV12toRGB", .spec = "image/nv12-to-rgb", .versions = kVersions};

}  // namespace ovir::ops::nv12_to_rgb
