// NV12toBGR: from NV12 planes to BGR pixels.
// Spec: operation-sets/operation-specs/image/nv12-to-bgr-8
#include "ops/image/common.hpp"

namespace ovir::ops::nv12_to_bgr {
namespace {

void infer(InferContext& c) { image::infer_from_yuv(c, image::Chroma::interleaved); }
void eval(EvalContext& c) { image::convert_from_yuv(c, image::Chroma::interleaved, image::Order::bgr); }

constexpr Version kVersions[] = {
    {.since = 8, .inputs = image::kNv12, .outputs = image::kColors, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "NV12toBGR", .spec = "image/nv12-to-bgr", .versions = kVersions};

}  // namespace ovir::ops::nv12_to_bgr
