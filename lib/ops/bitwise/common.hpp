// Bitwise operations: integers of any width; all but the shifts take booleans too.
#pragma once
#include "op/kit/elementwise.hpp"

namespace ovir::ops {

using Bits = decltype(Integers{} + Boolean{});

inline constexpr TypeVar kBitsT{"T", kInteger | kBoolean}, kShiftedT{"T", kInteger};
inline constexpr PortDef kBitsInput[] = {{"data", kBitsT}}, kBitsOutput[] = {{"output", kBitsT}};
inline constexpr PortDef kBitsPair[] = {{"a", kBitsT}, {"b", kBitsT}};
inline constexpr PortDef kShiftedPair[] = {{"a", kShiftedT}, {"b", kShiftedT}},
                         kShiftedOutput[] = {{"output", kShiftedT}};

consteval Version bitwise_version(EvalFn eval) {
  return {.since = 13,
          .inputs = kBitsPair,
          .outputs = kBitsOutput,
          .attrs = kBroadcastAttrs,
          .infer = infer_binary,
          .eval = eval};
}
consteval Version shift_version(EvalFn eval) {
  return {.since = 15,
          .inputs = kShiftedPair,
          .outputs = kShiftedOutput,
          .attrs = kBroadcastAttrs,
          .infer = infer_binary,
          .eval = eval};
}

/// The bits that an unsigned type of fewer than eight has; all for other types. Such elements come as bytes.
inline std::uint64_t used_bits(ElementType t) {
  return contains(kUnsigned, t) && bit_width(t) < 8 ? (std::uint64_t{1} << bit_width(t)) - 1 : ~std::uint64_t{0};
}

}  // namespace ovir::ops
