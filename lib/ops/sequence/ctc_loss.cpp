// CTCLoss: minus the logarithm of the probability that a sequence of logits reads as a target.
// Spec: operation-sets/operation-specs/sequence/ctc-loss-4
#include "op/op.hpp"
#include "op/ports.hpp"
#include "op/work.hpp"

namespace ovir::ops::ctc_loss {
namespace {

enum Input { logits, logit_length, labels, label_length, blank_index };

struct Attrs {
  bool preprocess_collapse_repeated = false, ctc_merge_repeated = true, unique = false;
};

void infer(InferContext& c) {
  c.require_rank(logits, 3);
  c.require_rank(logit_length, 1);
  c.require_rank(labels, 2);
  c.require_rank(label_length, 1);
  if (c.has(blank_index)) c.require_rank(blank_index, 0);
  Dim batch, steps;
  for (int port = logits; port <= label_length; ++port) {
    const auto& shape = c.shape(port);
    if (!shape.has_rank()) continue;
    batch = c.require_same_dim(batch, shape[0], port, "the batch of \"logits\"",
                               fmt::format("that of \"{}\"", c.port_name(port)));
    if (shape.rank() > 1)
      steps = c.require_same_dim(steps, shape[1], port, "the number of steps of \"logits\"", "that of \"labels\"");
  }
  const auto& from = c.shape(logits);
  const auto classes = from.dim(2);
  c.require(classes.max > 0, logits, Code::E0506,
            "input \"logits\" of CTCLoss must have at least one class, but its shape is {}", to_string(from));
  if (const auto blank = c.scalar_int(blank_index))
    c.require(0 <= *blank && *blank < classes.max, blank_index, Code::E0508,
              "input \"blank_index\" of CTCLoss must be one of {1} classes, but is {0}", *blank, to_string(classes));
  c.output(0, PartialShape{batch});
}

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

std::vector<i64> target_of(const i64* label, i64 length, const Attrs& a) {
  std::vector<i64> target;
  for (i64 i = 0; i < length; ++i) {
    if (a.unique && std::find(target.begin(), target.end(), label[i]) != target.end()) continue;
    if (a.preprocess_collapse_repeated && i > 0 && label[i] == label[i - 1]) continue;
    target.push_back(label[i]);
  }
  return target;
}

/// The logarithm of the sum over all paths that decode to `target`; `p(t, class)` is the logarithm of a probability.
/// States between labels and on them alternate: blank, label 0, blank, label 1, …, blank.
template <class P>
double read(const std::vector<i64>& target, i64 steps, i64 blank, bool merge, P p) {
  const auto states = 2 * target.size() + 1;
  std::vector<double> now(states, kNever), next(states);
  now[0] = 0;  // before the first step: as if after a blank
  for (i64 t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s < states; ++s) {
      const bool on_label = s % 2 == 1;
      double sum = !on_label || merge ? now[s] : kNever;  // to stay on a label needs merging
      if (s > 0) sum = log_add(sum, now[s - 1]);
      // From label to label without a blank, unless merging would make one of two equal ones.
      if (on_label && s > 1 && !(merge && target[s / 2] == target[s / 2 - 1])) sum = log_add(sum, now[s - 2]);
      next[s] = sum == kNever ? kNever : sum + p(t, on_label ? target[s / 2] : blank);
    }
    std::swap(now, next);
  }
  return states > 1 ? log_add(now[states - 1], now[states - 2]) : now[0];
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(logits);
  const auto batch = from.dim(0), steps = from.dim(1), classes = from.dim(2);
  const auto lengths = c.ints(logit_length), all_labels = c.ints(labels), label_lengths = c.ints(label_length);
  const auto blank = c.has(blank_index) ? c.scalar_int(blank_index) : classes - 1;
  auto& out = c.out(0, {batch});
  dispatch(from.type(), Floats{}, [&]<class T>() {
    for (i64 n = 0; n < batch; ++n) {
      const auto length = lengths[n], count = label_lengths[n];
      const auto require = [&](int port, std::string_view port_is, i64 v, i64 most) {
        if (v < 0 || v > most)
          fail_at(
              c.version(), port, Code::E0508,
              fmt::format("element {} of input \"{}\" of CTCLoss must be in 0..{}, but is {}", n, port_is, most, v));
      };
      require(logit_length, "logit_length", length, steps);
      require(label_length, "label_length", count, length);
      const auto target = target_of(all_labels.data() + n * steps, count, a);
      for (const auto label : target)
        if (label < 0 || label >= classes)
          fail_at(c.version(), labels, Code::E0508,
                  fmt::format("input \"labels\" of CTCLoss must name one of {} classes, but holds {}", classes, label));
      const T* rows = from.data<T>() + n * steps * classes;
      std::vector<double> total;  // by step, the logarithm of softmax's denominator
      for (i64 t = 0; t < length; ++t) {
        const T* row = rows + t * classes;
        const double max = static_cast<double>(*std::max_element(row, row + classes));
        double sum = 0;
        for (i64 k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(row[k]) - max);
        total.push_back(max + std::log(sum));
      }
      const auto log_probability = [&](i64 t, i64 k) { return static_cast<double>(rows[t * classes + k]) - total[t]; };
      out.mutable_data<T>()[n] = static_cast<T>(-read(target, length, blank, a.ctc_merge_repeated, log_probability));
    }
  });
}

/// Every step goes through all states, of which a label makes two, with a few logarithms and exponentials; each label
/// may be looked for among those before it.
i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  constexpr i64 kState = 100;
  return saturating_mul(saturating_mul(in[logits][0], saturating_mul(in[logits][1], in[logits][1])), kState);
}

constexpr TypeVar T{"T_F", kFloat}, TLength{"T1", kIndex}, TLabel{"T2", kIndex};
constexpr PortDef kInputs[] = {
    {"logits", T},
    {"logit_length", TLength},
    {.name = "labels", .type = TLabel, .indexes = {.along = Indexes::Along::axis, .data = logits, .at = 2}},
    {"label_length", TLength},
    {.name = "blank_index",
     .type = TLabel,
     .arity = Arity::optional,
     .indexes = {.along = Indexes::Along::axis, .data = logits, .at = 2}}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 4,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"preprocess_collapse_repeated", &Attrs::preprocess_collapse_repeated>,
                         Attr<"ctc_merge_repeated", &Attrs::ctc_merge_repeated>, Attr<"unique", &Attrs::unique>>,
     .infer = infer,
     .reads = ports(blank_index),
     .eval = eval,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{.type = "CTCLoss", .spec = "sequence/ctc-loss", .versions = kVersions};

}  // namespace ovir::ops::ctc_loss
