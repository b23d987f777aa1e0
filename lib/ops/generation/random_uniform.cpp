// RandomUniform: random numbers of [minval, maxval), by Philox or the Mersenne Twister.
// Spec: operation-sets/operation-specs/generation/random-uniform-8
#include <random>

#include "op/kit/random.hpp"
#include "op/kit/ranks.hpp"
#include "op/op.hpp"

namespace ovir::ops::random_uniform {
namespace {

using Alignment = RandomAlignment;
using Attrs = RandomUniformAttrs;

enum Input { shape, minval, maxval };

constexpr TypeSet kTypes = kFloat | kIndex;

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().output_type;
  c.require_attr(contains(kTypes, type), "output_type", "must be i32, i64, f16, bf16, f32 or f64, but is {}",
                 name(type));
  for (int port : {minval, maxval}) {
    c.require_single(port);
    c.require(c.type(port) == ElementType::dynamic || c.type(port) == type, port, Code::E0503,
              "input \"{0}\" of RandomUniform must be {2} as \"output_type\" is, but is {1}", c.port_name(port),
              name(c.type(port)), name(type));
  }
  const auto low = c.floats(minval), high = c.floats(maxval);
  if (low && high && low->size() == 1 && high->size() == 1)
    c.require(low->front() < high->front(), maxval, Code::E0508,
              "input \"minval\" of RandomUniform must be less than \"maxval\", but they are {} and {}", low->front(),
              high->front());

  c.require_rank(shape, 1);
  PartialShape out;
  if (const auto lengths = c.require_at_least(shape, 0)) {
    for (const auto& v : *lengths) out.push_back(v.to_dim());
  } else {
    out = shape_of_rank(axis_count(c.shape(shape)));
  }
  c.output(0, type, std::move(out));
}

/// Where the fraction of a number of [0, 1) comes from: as many low bits of a word as `type` has (Philox), or one more
/// (the Mersenne Twister, whose numbers have no leading one).
int fraction_bits(ElementType type, Alignment alignment) {
  int bits = 52;
  if (type == ElementType::f16) bits = 10;
  if (type == ElementType::bf16) bits = 7;
  if (type == ElementType::f32) bits = 23;
  return alignment == Alignment::pytorch ? bits + 1 : bits;
}

template <class T, class Next>
void generate(const Attrs& a, T low, T high, Tensor& to, Next next) {
  const bool pytorch = a.alignment == Alignment::pytorch;
  std::uint64_t range = 0;
  bool small =
      std::is_integral_v<T> && !pytorch;  // one word a number: PyTorch's i64 only where both ends fit into 32 bits
  if constexpr (std::is_integral_v<T>) {
    range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    small = small || (low <= i64{UINT32_MAX} && high <= i64{UINT32_MAX});
  }
  const bool wide = sizeof(T) == 8 && !small;
  const auto bits = fraction_bits(a.output_type, a.alignment);
  for (auto& value : to.mutable_values<T>()) {
    std::uint64_t word = next();
    if (wide) word = word << 32 | next();
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(word % range + static_cast<std::uint64_t>(low));
    } else {
      const auto fraction = static_cast<T>(static_cast<double>(word & ((std::uint64_t{1} << bits) - 1)) /
                                           static_cast<double>(std::uint64_t{1} << bits));
      value = fraction * (high - low) + low;
    }
  }
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  auto& to = c.out(0);
  dispatch(to.type(), Floats{} + Indices{}, [&]<class T>() {
    const auto lowest = *c.in(minval).data<T>(), highest = *c.in(maxval).data<T>();
    if (a.alignment == Alignment::pytorch) {
      std::mt19937 twister(static_cast<std::uint32_t>(random_key(a.global_seed, a.op_seed)));
      generate<T>(a, lowest, highest, to, [&] { return static_cast<std::uint32_t>(twister()); });
    } else {
      Philox philox(a.global_seed, a.op_seed);
      generate<T>(a, lowest, highest, to, [&] { return philox.next(); });
    }
  });
}

constexpr TypeVar TShape{"T_SHAPE", kInteger}, TValue{"T_VALUE", kTypes};
constexpr PortDef kInputs[] = {{"shape", TShape}, {"minval", TValue}, {"maxval", TValue}};
constexpr PortDef kOutputs[] = {{"output", TValue}};
constexpr Version kVersions[] = {
    {.since = 8,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"output_type", &Attrs::output_type, kRequired>,
                         Attr<"global_seed", &Attrs::global_seed>, Attr<"op_seed", &Attrs::op_seed>,
                         Attr<"alignment", &Attrs::alignment>>,
     .infer = infer,
     .reads = ports(shape, minval, maxval),
     .eval = eval,
     .pure = false},
};

}  // namespace

extern constinit const OpDef def{.type = "RandomUniform", .spec = "generation/random-uniform", .versions = kVersions};

}  // namespace ovir::ops::random_uniform
