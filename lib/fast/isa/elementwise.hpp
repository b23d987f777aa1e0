// What the elementwise loops compute. f32; NaN in, NaN out unless stated.
#pragma once
#include <cstdint>

#include "base/int.hpp"

namespace ovir::fast {

/// Functions of one value. a and b are Unary's parameters.
enum class Function : std::uint8_t {
  identity,
  clamp,         ///< to [a, b]; Relu is [0, inf]
  prelu,         ///< x < 0 ? a·x : x; a may be per column where a loop takes slopes
  sigmoid,       ///< 1 / (1 + exp(-x))
  swish,         ///< x / (1 + exp(-a·x))
  swish_short,   ///< the same within 3.4e-5 of x, for a > 0: for results that are rounded to bf16 or levels
  hswish,        ///< x · clamp(x + 3, 0, 6) / 6
  hsigmoid,      ///< clamp(x + 3, 0, 6) / 6
  hard_sigmoid,  ///< clamp(a·x + b, 0, 1)
  gelu_erf,      ///< x · (1 + erf(x/√2)) / 2
  gelu_short,    ///< the same within 3.4e-5 of x: for results that are rounded to bf16
  gelu_tanh,     ///< x · (1 + tanh(√(2/π)·(x + 0.044715·x³))) / 2
  tanh,
  elu,       ///< x < 0 ? a·(exp(x) - 1) : x
  selu,      ///< b·(x > 0 ? x : a·(exp(x) - 1))
  mish,      ///< x · tanh(log(1 + exp(x)))
  softplus,  ///< log(1 + exp(x))
  softsign,  ///< x / (1 + |x|)
  exp,
  log,
  erf,
  sqrt,
  abs,
  negative,
  square,
  reciprocal,
  floor,
  ceiling,
  round_even,  ///< halves to the even neighbour
  round_away,  ///< halves away from zero
  sign,
  sin,
  cos,
  tan,
  sinh,
  cosh,
  asin,
  acos,
  atan,
  asinh,
  acosh,
  atanh,
  linear,  ///< a·x + b, rounded twice
};

struct Unary {
  Function f = Function::identity;
  float a = 0, b = 0;
  /// Functions that a tile computes as it is stored, by two comparisons.
  bool is_clamp() const { return f == Function::identity || f == Function::clamp; }
  /// For a result that is rounded to bf16 or levels.
  Unary shortened() const {
    if (f == Function::gelu_erf) return {Function::gelu_short};
    return f == Function::swish && a > 0 ? Unary{Function::swish_short, a} : *this;
  }
};

enum class Binary : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  squared_difference,
  prelu,
  mod,        ///< with the sign of the first operand
  floor_mod,  ///< with the sign of the second
  power,
};

/// Limits of FakeQuantize, as many as its loop says: x becomes
/// round((x - in_low) / in_range · steps) / steps · out_range + out_low, out_low up to in_min, out_high beyond in_max.
struct QuantizeLimits {
  const float *in_min, *in_max, *in_low, *in_range, *out_low, *out_range, *out_high;
  float steps;
};

/// `norm` is the square root of the sum of squares, `absolute` the sum of absolute values.
enum class Reduction : std::uint8_t { sum, mean, maximum, minimum, norm, absolute };

/// Rows of scores that become probabilities in their place: exp(x·scale + mask), by their sum; NaN where nothing is
/// seen.
struct SoftmaxRows {
  float* scores;
  i64 width;  ///< from row to row, a multiple of 32: what does not count becomes 0
  i64 rows;
  i64 n;                     ///< the most numbers of a row that count
  i64 first = n, rises = 0;  ///< `first` of the first row, `rises` more in each of the next; not 0
  float scale;
  const float* added = nullptr;         ///< a mask that is added, or
  const unsigned char* seen = nullptr;  ///< where a score counts; or neither
  bool hides = false;                   ///< where `seen` is not 0, instead of where it is 0, a score is `hidden`
  float hidden = -__builtin_inff();
  i64 mask_row = 0, mask_column = 0;  ///< 0 where it is broadcast; mask_column may be 1
};

/// Rows of n numbers that become (x - mean) / √(variance + ε) · weight + bias, as RowNormalization has it
/// (normalization/rows.hpp).
struct ShortRows {
  const float* x;
  float* y;  ///< may be x
  i64 rows, n;
  bool center, scale, epsilon_inside;
  float epsilon;
  const float *weight, *bias;  ///< n numbers; null: none
};

/// Pixels whose channels become (x - mean)·weight / √(variance + ε) + bias, mean and variance being those of the pixel.
struct NormalizedChannels {
  i64 channels;
  i64 step;  ///< floats from a channel to the next, or, of blocks, from 16 to the next
  float epsilon;
  const float *weight, *bias;  ///< by channel
};

}  // namespace ovir::fast
