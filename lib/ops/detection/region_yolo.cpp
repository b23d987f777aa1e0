// RegionYolo: the last layer of YOLO v2 and v3: sigmoid of centers and objectness, softmax or sigmoid of classes.
// Spec: operation-sets/operation-specs/detection/region-yolo-1
#include "op/op.hpp"

namespace ovir::ops::region_yolo {
namespace {

enum Input { data };

struct Attrs {
  std::vector<float> anchors;  // for who reads the output
  i64 axis = 0, end_axis = 0, coords = 0, classes = 0, num = 0;
  bool do_softmax = true;
  std::vector<i64> mask;

  i64 regions() const { return do_softmax ? num : std::ssize(mask); }
  /// Channels of one region: its coordinates, its objectness, its classes.
  i64 channels() const { return coords + 1 + classes; }
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto in_range = [&](i64 v, std::string_view attribute) {
    c.require_attr(0 <= v && v < (1 << 20), attribute, "must be in 0..{1}, but is {0}", v, (1 << 20) - 1);
  };
  in_range(a.coords, "coords");
  in_range(a.classes, "classes");
  in_range(a.num, "num");
  c.require_attr(a.coords >= 2, "coords", "must be 2 or more, as the first two coordinates are the center, but is {}",
                 a.coords);
  c.require_rank(data, 4);
  auto shape = c.shape(data);
  if (!shape.has_rank()) return c.output(0, shape);
  const auto channels = a.regions() * a.channels();
  c.require(shape[1].max >= channels, data, Code::E0506,
            "input \"data\" of RegionYolo must have {} channels for {} regions, but its shape is {}", channels,
            a.regions(), to_string(shape));
  if (!a.do_softmax) {
    shape[1] = Dim(channels);
    return c.output(0, std::move(shape));
  }
  const auto first = c.require_axis(a.axis, -1, 4), last = c.require_axis(a.end_axis, -1, 4, "end_axis");
  c.require_attr(first <= last, "end_axis", "must not be less than \"axis\" ({0}), but is {1}", first, last);
  PartialShape flat;
  Dim product(1);
  for (i64 i = 0; i < 4; ++i) {
    if (i < first || i > last) flat.push_back(shape[i]);
    else product = product * shape[i];
    if (i == last) flat.push_back(product);
  }
  c.output(0, std::move(flat));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto area = from.dim(2) * from.dim(3), stride = from.dim(1) * area, used = a.regions() * a.channels() * area;
  auto& out = c.out(0);
  const auto out_stride = a.do_softmax ? stride : used;
  dispatch(from.type(), Floats{}, [&]<class T>() {
    for (i64 n = 0; n < from.dim(0); ++n) {
      const T* x = from.data<T>() + n * stride;
      T* y = out.mutable_data<T>() + n * out_stride;
      std::copy_n(x, out_stride, y);
      for (i64 r = 0; r < a.regions(); ++r) {
        T* region = y + r * a.channels() * area;
        const auto sigmoid = [&](i64 channel, i64 count) {
          std::transform(region + channel * area, region + (channel + count) * area, region + channel * area,
                         [](T v) { return 1 / (1 + std::exp(-v)); });
        };
        sigmoid(0, 2);
        sigmoid(a.coords, a.do_softmax ? 1 : 1 + a.classes);
        if (!a.do_softmax) continue;
        T* classes = region + (a.coords + 1) * area;
        for (i64 i = 0; i < area; ++i) {
          T max = classes[i], sum = 0;
          for (i64 k = 0; k < a.classes; ++k) max = std::max(max, classes[k * area + i]);
          for (i64 k = 0; k < a.classes; ++k) sum += classes[k * area + i] = std::exp(classes[k * area + i] - max);
          for (i64 k = 0; k < a.classes; ++k) classes[k * area + i] /= sum;
        }
      }
    }
  });
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"anchors", &Attrs::anchors>, Attr<"axis", &Attrs::axis, kRequired>,
                         Attr<"coords", &Attrs::coords, kRequired>, Attr<"classes", &Attrs::classes, kRequired>,
                         Attr<"end_axis", &Attrs::end_axis, kRequired>, Attr<"num", &Attrs::num, kRequired>,
                         Attr<"do_softmax", &Attrs::do_softmax>, Attr<"mask", &Attrs::mask>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "RegionYolo", .spec = "detection/region-yolo", .versions = kVersions};

}  // namespace ovir::ops::region_yolo
