// CTCGreedyDecoderSeqLen: the most probable class of every step, blanks and repetitions left out; lengths are given.
// Spec: operation-sets/operation-specs/sequence/ctc-greedy-decoder-seq-len-6
#include "op/kit/line_attrs.hpp"
#include "op/op.hpp"
#include "op/ports.hpp"

namespace ovir::ops::ctc_greedy_decoder_seq_len {
namespace {

enum Input { data, sequence_length, blank_index };
enum Output { classes_index, decoded_length };

using Attrs = CtcGreedyDecoderSeqLenAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_index_type(a.classes_index_type, "classes_index_type");
  c.require_index_type(a.sequence_length_type, "sequence_length_type");
  c.require_rank(data, 3);
  c.require_rank(sequence_length, 1);
  if (c.has(blank_index)) c.require_single(blank_index);
  auto batch = c.shape(data).dim(0), steps = c.shape(data).dim(1);
  if (c.shape(sequence_length).has_rank())
    batch = c.require_same_dim(batch, c.shape(sequence_length)[0], sequence_length, "the batch of \"data\"",
                               "that of \"sequence_length\"");
  c.output(classes_index, a.classes_index_type, PartialShape{batch, steps});
  if (c.output_count() > decoded_length) c.output(decoded_length, a.sequence_length_type, PartialShape{batch});
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto batch = from.dim(0), steps = from.dim(1), classes = from.dim(2);
  const auto lengths = c.ints(sequence_length);
  const auto blank = c.has(blank_index) ? c.scalar_int(blank_index) : classes - 1;
  std::vector<i64> decoded(batch * steps, -1), counts(batch, 0);
  dispatch(from.type(), Floats{}, [&]<class T>() {
    for (i64 n = 0; n < batch; ++n) {
      if (lengths[n] > steps)
        fail_at(c.version(), sequence_length, Code::E0508,
                fmt::format("input \"sequence_length\" of CTCGreedyDecoderSeqLen must not be more than {}, the steps "
                            "of \"data\", but holds {}",
                            steps, lengths[n]));
      i64 before = -1;
      for (i64 t = 0; t < lengths[n]; ++t) {
        const T* row = from.data<T>() + (n * steps + t) * classes;
        const auto best = std::max_element(row, row + classes) - row;
        if (best != blank && !(c.attrs<Attrs>().merge_repeated && best == before))
          decoded[n * steps + counts[n]++] = best;
        before = best;
      }
    }
  });
  const auto put = [&](Tensor& to, const std::vector<i64>& values) {
    dispatch(to.type(), Indices{}, [&]<class I>() {
      std::transform(values.begin(), values.end(), to.mutable_data<I>(), [](i64 v) { return static_cast<I>(v); });
    });
  };
  put(c.out(classes_index, {batch, steps}), decoded);
  if (c.output_count() > decoded_length) put(c.out(decoded_length, {batch}), counts);
}

constexpr TypeVar T{"T_F", kFloat}, TLength{"T_I", kIndex}, TClasses{"T_IND1", kIndex}, TCount{"T_IND2", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"sequence_length", TLength}, {"blank_index", TLength, Arity::optional}};
constexpr PortDef kOutputs[] = {{"classes_index", TClasses}, {"decoded_length", TCount}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"merge_repeated", &Attrs::merge_repeated>,
                         Attr<"classes_index_type", &Attrs::classes_index_type>,
                         Attr<"sequence_length_type", &Attrs::sequence_length_type>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "CTCGreedyDecoderSeqLen", .spec = "sequence/ctc-greedy-decoder-seq-len", .versions = kVersions};

}  // namespace ovir::ops::ctc_greedy_decoder_seq_len
