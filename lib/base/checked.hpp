// 64-bit arithmetic that says when it overflows: every size in ovir is computed with it.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "base/int.hpp"

namespace ovir {

[[nodiscard]] inline std::optional<i64> checked_mul(i64 a, i64 b) {
  i64 r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

[[nodiscard]] inline std::optional<i64> checked_add(i64 a, i64 b) {
  i64 r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// Of numbers that are not negative, INT64_MAX where the result is more: for estimates, which need only be large then.
[[nodiscard]] inline i64 saturating_mul(i64 a, i64 b) {
  return checked_mul(a, b).value_or(std::numeric_limits<i64>::max());
}
[[nodiscard]] inline i64 saturating_add(i64 a, i64 b) {
  return checked_add(a, b).value_or(std::numeric_limits<i64>::max());
}

/// The product of `dims`; nothing when it overflows or a dim is negative. A zero dim makes it 0 whatever the others
/// are.
[[nodiscard]] inline std::optional<i64> checked_product(std::span<const i64> dims) {
  i64 n = 1;
  bool zero = false, over = false;
  for (const auto d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) zero = true;
    else if (__builtin_mul_overflow(n, d, &n)) over = true;
  }
  if (zero) return 0;
  if (over) return std::nullopt;
  return n;
}

}  // namespace ovir
