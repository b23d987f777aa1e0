// ReorgYolo: blocks of pixels become channels, in the order that YOLO v2 has them.
// Spec: operation-sets/operation-specs/detection/reorg-yolo-1
#include "op/op.hpp"
#include "op/ports.hpp"

namespace ovir::ops::reorg_yolo {
namespace {

enum Input { data };

struct Attrs {
  std::vector<i64> stride;
};

void infer(InferContext& c) {
  const auto& strides = c.attrs<Attrs>().stride;
  c.require_attr(!strides.empty(), "stride", "must hold a number, but is empty");
  c.require_each(
      strides, [](i64 s) { return s > 0 && s < (1 << 15); }, "stride", "must be in 1..{1}, but is {0}", (1 << 15) - 1);
  c.require_each(
      strides, [&](i64 s) { return s == strides[0]; }, "stride", "must hold equal strides, but holds {1} and {0}",
      strides[0]);
  const auto stride = strides[0];
  c.require_rank(data, 4);
  auto shape = c.shape(data);
  if (!shape.has_rank()) return c.output(0, shape);
  for (const i64 axis : {2, 3}) {
    c.require(!shape[axis].is_static() || shape[axis].length() % stride == 0, data, Code::E0506,
              "dim {} of input \"data\" of ReorgYolo must be a multiple of {}, but its shape is {}", axis, stride,
              to_string(c.shape(data)));
    shape[axis] = Dim(div_ceil(shape[axis], stride).min, div_floor(shape[axis], stride).max);
  }
  c.require(shape[1].max >= stride * stride, data, Code::E0506,
            "input \"data\" of ReorgYolo must have {} channels or more, but its shape is {}", stride * stride,
            to_string(c.shape(data)));
  shape[1] = shape[1] * Dim(stride * stride);
  c.output(0, std::move(shape));
}

/// Written as the layer is: `data` is read as if it had stride² fewer channels of stride² more pixels, and its pixels
/// are dealt out to as many channels as it has, in its own height and width.
void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto stride = c.attrs<Attrs>().stride[0];
  const auto batch = from.dim(0), channels = from.dim(1), height = from.dim(2), width = from.dim(3);
  const auto fewer = channels / (stride * stride);
  auto& out = c.out(0, {batch, channels * stride * stride, height / stride, width / stride});
  dispatch_width(byte_width(from.type()), [&]<class E>() {
    E* to = out.mutable_data<E>();
    for (i64 n = 0; n < batch; ++n)
      for (i64 k = 0; k < channels; ++k) {
        const auto offset = k / fewer;  // beyond the block where channels are no multiple of stride²
        for (i64 h = 0; h < height; ++h)
          for (i64 w = 0; w < width; ++w) {
            const auto y = h * stride + offset / stride, x = w * stride + offset % stride;
            const auto at = ((n * fewer + k % fewer) * height * stride + y) * width * stride + x;
            if (at >= from.size())
              fail_at(c.version(), data, Code::E0506,
                      fmt::format("input \"data\" of ReorgYolo must have a multiple of {} channels, but has {}",
                                  stride * stride, channels));
            *to++ = from.data<E>()[at];
          }
      }
  });
}

constexpr TypeVar T{"T", kNumeric};
constexpr PortDef kInputs[] = {{"data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 2,
     .spec = "detection/reorg-yolo-1",
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"stride", &Attrs::stride, kRequired>>,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{.type = "ReorgYolo", .spec = "detection/reorg-yolo", .versions = kVersions};

}  // namespace ovir::ops::reorg_yolo
