// GatherTree: the complete beams of a beam search, from the token and the parent beam of every step.
// Spec: operation-sets/operation-specs/movement/gather-tree-1
#include "ops/movement/common.hpp"

namespace ovir::ops::gather_tree {
namespace {

enum Input { step_ids, parent_ids, max_seq_len, end_token };

void infer(InferContext& c) {
  c.require_rank(step_ids, 3);
  c.require_rank(parent_ids, 3);
  c.require_rank(max_seq_len, 1);
  c.require_rank(end_token, 0);
  auto out = c.require_same_shape(step_ids, parent_ids);
  const auto& lengths = c.shape(max_seq_len);
  if (!out.has_rank()) out = PartialShape::of_rank(3);
  if (lengths.has_rank())
    out[1] = c.require_same_dim(out[1], lengths[0], max_seq_len, "the batch of \"step_ids\"",
                                "the number of elements of \"max_seq_len\"");
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& steps = c.in(step_ids);
  const auto steps_f = c.floats(step_ids), parents = c.floats(parent_ids), lengths = c.floats(max_seq_len);
  const auto end = c.floats(end_token).at(0);
  auto& to = c.out(0);
  const auto max_time = steps.dim(0), batch_size = steps.dim(1), beam_width = steps.dim(2);
  std::vector<double> ids(steps_f.size(), end);
  const auto at = [&](i64 time, i64 batch, i64 beam) { return (time * batch_size + batch) * beam_width + beam; };

  for (i64 batch = 0; batch < batch_size; ++batch) {
    const auto sequence = static_cast<i64>(std::min(static_cast<double>(max_time), lengths[batch]));
    for (i64 beam = 0; beam < beam_width && sequence > 0; ++beam) {
      ids[at(sequence - 1, batch, beam)] = steps_f[at(sequence - 1, batch, beam)];
      auto parent = parents[at(sequence - 1, batch, beam)];
      for (auto level = sequence - 1; level-- > 0;) {
        if (!(parent >= 0 && parent < static_cast<double>(beam_width)))
          fail_at(c.version(), parent_ids, Code::E0507,
                  fmt::format("input \"parent_ids\" of GatherTree must name one of {1} beams, but holds {0}", parent,
                              beam_width));
        const auto from = at(level, batch, static_cast<i64>(parent));
        ids[at(level, batch, beam)] = steps_f[from];
        parent = parents[from];
      }
      bool finished = false;
      for (i64 time = 0; time < sequence; ++time) {
        auto& id = ids[at(time, batch, beam)];
        if (finished) id = end;
        else if (id == end) finished = true;
      }
    }
  }
  dispatch(to.type(), Numbers{}, [&]<class T>() {
    for (std::size_t i = 0; i < ids.size(); ++i) to.mutable_data<T>()[i] = static_cast<T>(ids[i]);
  });
}

constexpr TypeVar T{"T", kFloat | kInteger};
constexpr PortDef kInputs[] = {
    {"step_ids", T},
    {.name = "parent_ids", .type = T, .indexes = {.along = Indexes::Along::axis, .data = step_ids, .at = 2}},
    {"max_seq_len", T},
    {"end_token", T}};
constexpr PortDef kOutputs[] = {{"final_ids", T}};
constexpr Version kVersions[] = {{.since = 1, .inputs = kInputs, .outputs = kOutputs, .infer = infer, .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "GatherTree", .spec = "movement/gather-tree", .versions = kVersions};

}  // namespace ovir::ops::gather_tree
