// CTCGreedyDecoder: the most probable class of every step, blanks and repetitions left out.
// Spec: operation-sets/operation-specs/sequence/ctc-greedy-decoder-1
#include "op/op.hpp"

namespace ovir::ops::ctc_greedy_decoder {
namespace {

enum Input { data, sequence_mask };

struct Attrs {
  bool ctc_merge_repeated = true;
};

void infer(InferContext& c) {
  c.require_rank(data, 3);
  c.require_rank(sequence_mask, 2);
  auto steps = c.shape(data).dim(0), batch = c.shape(data).dim(1);
  if (const auto& mask = c.shape(sequence_mask); mask.has_rank()) {
    steps = c.require_same_dim(steps, mask[0], sequence_mask, "the number of steps of \"data\"",
                               "that of \"sequence_mask\"");
    batch = c.require_same_dim(batch, mask[1], sequence_mask, "the batch of \"data\"", "that of \"sequence_mask\"");
  }
  c.output(0, PartialShape{batch, steps, Dim(1), Dim(1)});
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto steps = from.dim(0), batch = from.dim(1), classes = from.dim(2);
  const auto mask = c.floats(sequence_mask);
  auto& out = c.out(0, {batch, steps, 1, 1});
  dispatch(from.type(), Floats{}, [&]<class T>() {
    std::fill_n(out.mutable_data<T>(), out.size(), T(-1));
    for (i64 n = 0; n < batch; ++n) {
      T* to = out.mutable_data<T>() + n * steps;
      i64 before = -1;
      for (i64 t = 0; t < steps && mask[t * batch + n] != 0; ++t) {
        const T* row = from.data<T>() + (t * batch + n) * classes;
        const auto best = std::max_element(row, row + classes) - row;
        const bool blank = best == classes - 1;
        if (!blank && !(c.attrs<Attrs>().ctc_merge_repeated && best == before)) *to++ = static_cast<T>(best);
        before = best;
      }
    }
  });
}

constexpr TypeVar T{"T_F", kFloat};
constexpr PortDef kInputs[] = {{"data", T}, {"sequence_mask", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"ctc_merge_repeated", &Attrs::ctc_merge_repeated>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "CTCGreedyDecoder", .spec = "sequence/ctc-greedy-decoder", .versions = kVersions};

}  // namespace ovir::ops::ctc_greedy_decoder
