// Bucketize: for every element, the number of the bucket between sorted boundaries that it falls into.
// Spec: operation-sets/operation-specs/condition/bucketize-3
#include "op/kit/line_attrs.hpp"
#include "op/op.hpp"

namespace ovir::ops::bucketize {
namespace {

enum Input { data, buckets };

using Attrs = BucketizeAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_index_type(a.output_type, "output_type");
  c.require_rank(buckets, 1);
  c.output(0, a.output_type, c.shape(data));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  auto& out = c.out(0, c.in(data).shape());
  const auto search = [&](const auto& values, const auto& bounds) {
    dispatch(out.type(), Indices{}, [&]<class I>() {
      std::transform(values.begin(), values.end(), out.mutable_data<I>(), [&](auto v) {
        const auto at = a.with_right_bound ? std::lower_bound(bounds.begin(), bounds.end(), v)
                                           : std::upper_bound(bounds.begin(), bounds.end(), v);
        return static_cast<I>(at - bounds.begin());
      });
    });
  };
  // The two inputs may have different types: compare in one that holds both.
  if (contains(kInteger, c.in(data).type()) && contains(kInteger, c.in(buckets).type()))
    search(to_i64(c.in(data)), to_i64(c.in(buckets)));
  else search(to_f64(c.in(data)), to_f64(c.in(buckets)));
}

constexpr TypeVar T{"T", kNumeric}, TBoundaries{"T_BOUNDARIES", kNumeric}, TIndex{"T_IND", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"buckets", TBoundaries}};
constexpr PortDef kOutputs[] = {{"output", TIndex}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"output_type", &Attrs::output_type>,
                         Attr<"with_right_bound", &Attrs::with_right_bound>>,
     .infer = infer,
     .eval = eval,
     .error = ErrorBound::elementwise},
};

}  // namespace

extern constinit const OpDef def{.type = "Bucketize", .spec = "condition/bucketize", .versions = kVersions};

}  // namespace ovir::ops::bucketize
