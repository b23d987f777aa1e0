// Operations of integers.
#pragma once
#include <cstdint>

namespace ovir::fast {

/// Integers of 1, 2, 4 or 8 bytes.
struct WholeType {
  int bytes;
  bool is_signed;
};

/// Operations of two integers; they wrap. A quotient or remainder by 0 is 0. Comparisons give bytes of 0 and 1.
enum class Whole : std::uint8_t {
  add,
  subtract,
  multiply,
  squared_difference,
  maximum,
  minimum,
  bits_and,
  bits_or,
  bits_xor,
  absolute,  ///< of the first operand, which is signed
  sign,      ///< alike
  divide,    ///< without what is behind the point
  floor_divide,
  mod,        ///< with the sign of the first operand
  floor_mod,  ///< with the sign of the second
  power,      ///< of a negative exponent what 1 / a^-b truncates to, 0 for a = 0
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
};

/// What many integers become; sums and products wrap. `absolute` is the sum of absolute values; all and any are of
/// booleans.
enum class Fold : std::uint8_t { sum, mean, absolute, product, maximum, minimum, all, any };

}  // namespace ovir::fast
