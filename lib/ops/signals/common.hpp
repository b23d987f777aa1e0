// The discrete Fourier transforms: one line at a time, and along the axes of a tensor.
#pragma once
#include <complex>
#include <memory_resource>
#include <span>
#include <vector>

#include "op/op.hpp"

namespace ovir::ops::signals {

using Complex = std::complex<double>;
using Line = std::pmr::vector<Complex>;

inline constexpr TypeVar T{"T", kFloat}, TAxes{"T_IND", kIndex}, TSize{"T_SIZE", kIndex};
inline constexpr PortDef kInputs[] = {{"data", T}, {"axes", TAxes}, {"signal_size", TSize, Arity::optional}};
inline constexpr PortDef kOutputs[] = {{"output", T}};

enum class Direction { forward, inverse };

/// X[k] = Σ x[j] exp(∓2πi·jk/n) for lines of n elements: the minus is the forward transform. Not scaled.
class Fourier {
 public:
  Fourier(i64 n, Direction direction, std::pmr::memory_resource* memory);
  /// Stays until the next line is transformed.
  std::span<const Complex> operator()(std::span<const Complex> line);
  /// Of an inverse transform: the line that the forward one makes `line` of.
  std::span<const Complex> restored(std::span<const Complex> line);

 private:
  Line roots_, result_, scratch_;
};

/// A tensor of complex numbers.
struct Field {
  Shape shape;
  Line values;
  /// Every line along `axis`, cut or filled with zeros to `length`, replaced by f(line); f may change its length.
  template <class F>
  void along(i64 axis, i64 length, F f);
};
/// From real numbers, or from a last axis of (real, imaginary); and back. Where there were no numbers, all sums are 0.
Field read(const Tensor& t, bool is_complex, std::pmr::memory_resource* memory);
void write(const Field& f, Tensor& t, bool as_complex);

/// The axes as non-negative numbers and the length asked for along each (-1: as it is). `rank` is without the axis of
/// real and imaginary parts.
struct Transform {
  Shape axes, sizes;
};
Transform transform(EvalContext& c, i64 rank);

/// What all four check; the shape of the data without the axis of parts, with the sizes asked for where they are known.
/// `last` receives the last axis where axes are known, else -1; nothing where the axes may be any.
PartialShape infer(InferContext& c, bool complex_input, std::optional<i64>& last, Dim& last_size);

/// DFT and IDFT.
void infer_complex(InferContext& c);
void eval_complex(EvalContext& c, Direction direction);

template <class F>
void Field::along(i64 axis, i64 length, F f) {
  const AxisView view(shape, axis);
  Line line(length, values.get_allocator()), result(values.get_allocator());
  i64 after = length;
  for (i64 o = 0; o < view.outer && !values.empty(); ++o)
    for (i64 i = 0; i < view.inner; ++i) {
      std::fill(line.begin(), line.end(), Complex{});
      for (i64 k = 0; k < std::min(view.length, length); ++k) line[k] = values[view.offset(o, k, i)];
      const std::span<const Complex> changed = f(line);
      after = std::ssize(changed);
      if (result.empty()) result.resize(view.lines() * after);
      for (i64 k = 0; k < after; ++k) result[(o * after + k) * view.inner + i] = changed[k];
    }
  values = std::move(result);
  shape[axis] = after;
}

}  // namespace ovir::ops::signals
