// Round: the nearest integer; mode says where halves go.
// Spec: operation-sets/operation-specs/arithmetic/round-5
#include "op/elementwise.hpp"

namespace ovir {
namespace ops::round {
namespace {
enum class Mode : std::uint8_t { half_to_even, half_away_from_zero };
}
}  // namespace ops::round

template <>
struct EnumNames<ops::round::Mode> {
  static constexpr std::pair<std::string_view, ops::round::Mode> table[] = {
      {"half_to_even", ops::round::Mode::half_to_even}, {"half_away_from_zero", ops::round::Mode::half_away_from_zero}};
};

namespace ops::round {
namespace {

struct Attrs {
  Mode mode = Mode::half_to_even;
};

void eval(EvalContext& c) {
  const bool even = c.attrs<Attrs>().mode == Mode::half_to_even;
  eval_unary<Numbers>(c, [even]<class T>(T x) {
    if constexpr (std::is_integral_v<T>) return x;
    else return even ? std::nearbyint(x) : std::round(x);
  });
}

constexpr auto kAttrs = attributes<Attrs, Attr<"mode", &Attrs::mode>>;

constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kNumericInput,
     .outputs = kNumericOutput,
     .attrs = kAttrs,
     .infer = infer_unary,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Round", .versions = kVersions};

}  // namespace ops::round
}  // namespace ovir
