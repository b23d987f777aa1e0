// LRN: divides each element by a power of the sum of squares in the region around it.
// Spec: operation-sets/operation-specs/normalization/lrn-1
#include "op/kit/line_attrs.hpp"
#include "op/work.hpp"
#include "ops/normalization/common.hpp"

namespace ovir::ops::lrn {
namespace {

enum Input { data, axes };

using Attrs = LrnAttrs;

void infer(InferContext& c) {
  c.require_attr(c.attrs<Attrs>().size > 0, "size", "must be positive, but is {}", c.attrs<Attrs>().size);
  c.output(0, normalization::infer_axes(c, axes));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto over = c.ints(axes);
  const auto& shape = from.shape();
  const auto strides = strides_of(shape);
  const auto scale = a.alpha / std::pow(static_cast<double>(a.size), static_cast<double>(over.size()));
  Shape regional(shape.rank(), 0);
  for (const auto axis : over) regional[axis < 0 ? axis + from.rank() : axis] = 1;

  dispatch(to.type(), Floats{}, [&]<class T>() {
    const auto* x = from.data<T>();
    // The sum over a box is the sum along one axis of the sums along the others.
    std::pmr::vector<double> sums(from.size(), c.memory()), before(c.memory());
    std::transform(x, x + from.size(), sums.begin(),
                   [](T v) { return static_cast<double>(v) * static_cast<double>(v); });
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (regional[axis] == 0) continue;
      before = sums;
      i64 i = 0;
      for (IndexWalker at(shape); !at.done(); at.next(), ++i) {
        // data[max(0, b - size / 2) : min(length, b + size / 2 + 1)]
        const auto half = std::min(a.size / 2, shape[axis]);
        double sum = 0;
        for (auto b = std::max<i64>(0, at[axis] - half); b < std::min(shape[axis], at[axis] + half + 1); ++b)
          sum += before[i + (b - at[axis]) * strides[axis]];
        sums[i] = sum;
      }
    }
    for (i64 i = 0; i < from.size(); ++i)
      to.mutable_data<T>()[i] = static_cast<T>(static_cast<double>(x[i]) / std::pow(a.bias + scale * sums[i], a.beta));
  });
}

/// Sums along one axis after the other; any may be among them.
i64 steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape>) {
  i64 n = 0;
  for (const auto length : in[data])
    n = saturating_add(
        n, saturating_mul(saturating_count(in[data]), std::min(version.attrs.as<Attrs>(attrs).size, length)));
  return n;
}

constexpr auto kAttrs =
    attributes<Attrs, Attr<"alpha", &Attrs::alpha, kRequired>, Attr<"beta", &Attrs::beta, kRequired>,
               Attr<"bias", &Attrs::bias, kRequired>, Attr<"size", &Attrs::size, kRequired>>;
constexpr Version kVersions[] = {{.since = 1,
                                  .inputs = normalization::kDataAxesInputs,
                                  .outputs = normalization::kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .reads = ports(axes),
                                  .eval = eval,
                                  .steps = steps}};

}  // namespace

extern constinit const OpDef def{.type = "LRN", .spec = "normalization/lrn", .versions = kVersions};

}  // namespace ovir::ops::lrn
