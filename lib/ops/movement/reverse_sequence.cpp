// ReverseSequence: the first seq_lengths[b] elements along seq_axis of batch b, back to front.
// Spec: operation-sets/operation-specs/movement/reverse-sequence-1
#include "ops/movement/common.hpp"

namespace ovir::ops::reverse_sequence {
namespace {

enum Input { data, seq_lengths };

struct Attrs {
  i64 batch_axis = 0, seq_axis = 1;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_rank_at_least(data, 2);
  c.require_rank(seq_lengths, 1);
  auto out = c.shape(data);
  if (out.has_rank()) {
    const auto batch_axis = c.require_axis(a.batch_axis, -1, out.rank(), "batch_axis"),
               seq = c.require_axis(a.seq_axis, -1, out.rank(), "seq_axis");
    c.require_attr(seq != batch_axis, "seq_axis", "must be another axis than \"batch_axis\", but both are axis {}",
                   seq);
    auto& batch = out[batch_axis];
    batch = c.require_same_dim(batch, axis_count(c.shape(seq_lengths)), seq_lengths, "the batch of \"data\"",
                               "the number of elements of \"seq_lengths\"");
    if (const auto lengths = c.ints(seq_lengths))
      for (const auto n : *lengths)
        c.require(0 <= n && n <= out[seq].max, seq_lengths, Code::E0508,
                  "input \"seq_lengths\" of ReverseSequence must be in 1..{2} for \"data\" {1}, but holds {0}", n,
                  to_string(c.shape(data)), to_string(out[seq]));
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto lengths = c.ints(seq_lengths);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto batch = movement::normalized(a.batch_axis, from.rank()),
             seq = movement::normalized(a.seq_axis, from.rank());
  std::memcpy(to.mutable_bytes(), from.bytes(), from.byte_size());

  const auto strides = strides_of(from.shape());
  const auto width = byte_width(from.type());
  for (i64 b = 0; b < std::ssize(lengths); ++b) {
    const auto n = lengths[b];
    if (n == 0) continue;
    auto part = from.shape();
    auto backwards = strides;
    part[batch] = 1;
    part[seq] = n;
    backwards[seq] = -strides[seq];
    const auto begin = b * strides[batch];
    copy_strided(part, from.bytes() + (begin + (n - 1) * strides[seq]) * width, backwards,
                 to.mutable_bytes() + begin * width, strides, width);
  }
}

constexpr TypeVar T{"T", kAnyType}, TLengths{"T_LENGTHS", kFloat | kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"seq_lengths", TLengths}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"batch_axis", &Attrs::batch_axis>, Attr<"seq_axis", &Attrs::seq_axis>>,
     .infer = infer,
     .reads = ports(seq_lengths),
     .eval = eval,
     .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{.type = "ReverseSequence", .spec = "movement/reverse-sequence", .versions = kVersions};

}  // namespace ovir::ops::reverse_sequence
