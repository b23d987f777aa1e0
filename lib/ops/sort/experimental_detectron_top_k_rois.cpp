// ExperimentalDetectronTopKROIs: the regions of highest probability, best first.
// Spec: operation-sets/operation-specs/sort/experimental-detectron-top-krois-6
#include <numeric>

#include "op/op.hpp"

namespace ovir::ops::experimental_detectron_top_k_rois {
namespace {

enum Input { rois, probabilities };

struct Attrs {
  i64 max_rois = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(0 <= a.max_rois && a.max_rois < (i64{1} << 31), "max_rois", "must be in 0..{1}, but is {0}",
                 a.max_rois, INT32_MAX);
  c.require_rank(rois, 2);
  c.require_rank(probabilities, 1);
  if (const auto& shape = c.shape(rois); shape.has_rank()) {
    c.require(shape[1].contains(4), rois, Code::E0506,
              "input \"input_rois\" of ExperimentalDetectronTopKROIs must have 4 columns, but its shape is {}",
              to_string(shape));
    c.require_same_dim(shape[0], axis_count(c.shape(probabilities)), probabilities,
                       "the number of rows of \"input_rois\"", "the number of elements of \"rois_probs\"");
  }
  c.output(0, PartialShape{Dim(a.max_rois), Dim(4)});
}

void eval(EvalContext& c) {
  const auto& from = c.in(rois);
  const auto weights = c.floats(probabilities);
  auto& out = c.out(0, {c.attrs<Attrs>().max_rois, 4});
  std::vector<i64> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](i64 i, i64 j) { return weights[i] > weights[j]; });
  order.resize(std::min<i64>(std::ssize(order), out.dim(0)));
  dispatch(out.type(), Floats{}, [&]<class T>() {
    std::fill_n(out.mutable_data<T>(), out.size(), T(0));  // where there are too few
    T* to = out.mutable_data<T>();
    for (const auto i : order) to = std::copy_n(from.data<T>() + i * 4, 4, to);
  });
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"input_rois", T}, {"rois_probs", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"max_rois", &Attrs::max_rois>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ExperimentalDetectronTopKROIs", .spec = "sort/experimental-detectron-top-krois", .versions = kVersions};

}  // namespace ovir::ops::experimental_detectron_top_k_rois
