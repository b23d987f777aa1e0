// RGBtoNV12: from RGB pixels to NV12 planes.
// Spec: operation-sets/operation-specs/image/rgb-to-nv12-17
#include "ops/image/common.hpp"

namespace ovir::ops::rgb_to_nv12 {
namespace {

void eval(EvalContext& c) { image::convert_to_nv12(c, image::Order::rgb); }

constexpr Version kVersions[] = {
    {.since = 17,
     .inputs = image::kImage,
     .outputs = image::kNv12,
     .attrs = image::kNv12Attrs,
     .infer = image::infer_to_nv12,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "RGBtoNV12", .spec = "image/rgb-to-nv12", .versions = kVersions};

}  // namespace ovir::ops::rgb_to_nv12
