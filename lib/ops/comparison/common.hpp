// Comparisons of two tensors: any one element type in, booleans out.
#pragma once
#include "op/kit/elementwise.hpp"

namespace ovir::ops {

using Comparable = decltype(Numbers{} + Boolean{} + TypeList<TypeEntry<ElementType::string, std::string_view>>{});

inline constexpr TypeVar kComparedT{"T", kAnyType};
inline constexpr PortDef kComparedPair[] = {{"a", kComparedT}, {"b", kComparedT}};
/// Of IsFinite, IsInf and IsNaN.
inline constexpr PortDef kTestedInput[] = {{"data", {"T_IN", kFloat | kNarrowFloat}}};

consteval Version comparison_version(int since, EvalFn eval) {
  return {.since = since,
          .inputs = kComparedPair,
          .outputs = kBooleanOutput,
          .attrs = kBroadcastAttrs,
          .infer = infer_binary,
          .eval = eval,
          .error = ErrorBound::elementwise};
}

}  // namespace ovir::ops
