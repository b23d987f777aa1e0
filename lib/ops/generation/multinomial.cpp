// Multinomial: classes drawn by their probabilities.
// Spec: operation-sets/operation-specs/generation/multinomial-13
#include "op/kit/random.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::multinomial {
namespace {

enum Input { probs, num_samples };

struct Attrs {
  ElementType convert_type = ElementType::dynamic;
  bool with_replacement = false, log_probs = false;
  std::uint64_t global_seed = 0, op_seed = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_index_type(a.convert_type, "convert_type");
  c.require_rank(probs, 2);
  c.require_single(num_samples);
  const auto& from = c.shape(probs);
  PartialShape out{from.dim(0), Dim()};
  if (const auto count = c.require_at_least(num_samples, 0); count && count->size() == 1) {
    out[1] = count->front().to_dim();
    // "the size of probs' class_size dimension is required to be larger or equal to num_samples"
    c.require(a.with_replacement || !from.has_rank() || out[1].min <= from[1].max, num_samples, Code::E0508,
              "Multinomial cannot draw {} samples of {} classes without replacement", to_string(out[1]),
              to_string(from.dim(1)));
    c.require(!from.has_rank() || from[1].max > 0 || from[0].min == 0 || out[1].min == 0, num_samples, Code::E0508,
              "Multinomial cannot draw {} of 0 classes", to_string(out[1]));
  }
  c.output(0, a.convert_type, std::move(out));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  auto weights = c.floats(probs);
  const auto batches = c.in(probs).dim(0), classes = c.in(probs).dim(1), samples = c.scalar_int(num_samples);
  auto& to = c.out(0, {batches, samples});
  if (a.log_probs)
    for (auto& w : weights) w = std::exp(w);
  Philox philox(a.global_seed, a.op_seed);
  std::vector<i64> drawn;
  for (i64 b = 0; b < batches; ++b) {
    const auto row = weights.begin() + b * classes;
    for (i64 s = 0; s < samples; ++s) {
      double sum = 0;
      for (i64 k = 0; k < classes; ++k) sum += row[k];
      // The first class at which the cumulative probability reaches the random number.
      const auto random = philox.next_double() * sum;
      double reached = 0;
      i64 pick = -1;
      for (i64 k = 0; k < classes && (pick < 0 || reached < random); ++k) {
        reached += row[k];
        if (row[k] > 0 || pick < 0) pick = k;
      }
      drawn.push_back(pick);
      if (!a.with_replacement) row[pick] = 0;
    }
  }
  dispatch(to.type(), Indices{}, [&]<class T>() {
    std::transform(drawn.begin(), drawn.end(), to.mutable_data<T>(), [](i64 k) { return static_cast<T>(k); });
  });
}

/// Every sample adds up all classes.
i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  return saturating_mul(saturating_count(out[0]), saturating_mul(2, in[probs][1]));
}

constexpr PortDef kInputs[] = {{"probs", {"T_IN", kFloat}}, {"num_samples", {"T_SAMPLES", kIndex}}};
constexpr PortDef kOutputs[] = {{"output", {"T_OUT", kIndex}}};
constexpr Version kVersions[] = {
    {.since = 13,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"convert_type", &Attrs::convert_type, kRequired>,
                         Attr<"with_replacement", &Attrs::with_replacement, kRequired>,
                         Attr<"log_probs", &Attrs::log_probs, kRequired>, Attr<"global_seed", &Attrs::global_seed>,
                         Attr<"op_seed", &Attrs::op_seed>>,
     .infer = infer,
     .reads = ports(num_samples),
     .eval = eval,
     .pure = false,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{.type = "Multinomial", .spec = "generation/multinomial", .versions = kVersions};

}  // namespace ovir::ops::multinomial
