// I420toBGR: from I420 planes to BGR pixels.
// Spec: operation-sets/operation-specs/image/i420-to-bgr-8
#include "ops/image/common.hpp"

namespace ovir::ops::i420_to_bgr {
namespace {

void infer(InferContext& c) { image::infer_from_yuv(c, image::Chroma::planar); }
void eval(EvalContext& c) { image::convert_from_yuv(c, image::Chroma::planar, image::Order::bgr); }

constexpr Version kVersions[] = {
    {.since = 8, .inputs = image::kI420, .outputs = image::kColors, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "I420toBGR", .spec = "image/i420-to-bgr", .versions = kVersions};

}  // namespace ovir::ops::i420_to_bgr
