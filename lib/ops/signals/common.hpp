// The discrete Fourier transforms: one line at a time, and along the axes of a tensor.
#pragma once
#include <complex>

#include "op/op.hpp"

namespace ovir::ops::signals {

using Complex = std::complex<double>;
using Line = std::vector<Complex>;

inline constexpr TypeVar T{"T", kFloat}, TAxes{"T_IND", kIndex}, TSize{"T_SIZE", kIndex};
inline constexpr PortDef kInputs[] = {{"data", T}, {"axes", TAxes}, {"signal_size", TSize, Arity::optional}};
inline constexpr PortDef kOutputs[] = {{"output", T}};

/// X[k] = Σ x[j] exp(∓2πi·jk/n): the minus is the forward transform. Not scaled.
Line transform(const Line& x, bool inverse);
/// The line that the forward transform makes x of.
Line restore(const Line& x);

/// A tensor of complex numbers.
struct Field {
  Shape shape;
  Line values;
  /// Every line along `axis`, cut or filled with zeros to `length`, replaced by f(line); f may change its length.
  template <class F>
  void along(std::int64_t axis, std::int64_t length, F f);
};
/// From real numbers, or from a last axis of (real, imaginary); and back.
Field read(const Tensor& t, bool is_complex);
void write(const Field& f, Tensor& t, bool as_complex);

/// The axes as non-negative numbers and the length asked for along each (-1: as it is). `rank` is without the axis of
/// real and imaginary parts.
struct Plan {
  std::vector<std::int64_t> axes, sizes;
};
Plan plan(EvalContext& c, std::int64_t rank);

/// What all four check; the shape of the data without the axis of parts, with the sizes asked for where they are known.
/// `last` receives the last axis where axes are known, else -1; nothing where the axes may be any.
PartialShape infer(InferContext& c, bool complex_input, std::optional<std::int64_t>& last, Dim& last_size);

/// DFT and IDFT.
void infer_complex(InferContext& c);
void eval_complex(EvalContext& c, bool inverse);

template <class F>
void Field::along(std::int64_t axis, std::int64_t length, F f) {
  const auto at = static_cast<std::size_t>(axis);
  const auto before = shape[at];
  std::int64_t inner = 1;
  for (auto i = at + 1; i < shape.size(); ++i) inner *= shape[i];
  const auto outer = before * inner == 0 ? 0 : static_cast<std::int64_t>(values.size()) / (before * inner);
  Line line(static_cast<std::size_t>(length)), result;
  std::int64_t after = length;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      std::fill(line.begin(), line.end(), Complex{});
      for (std::int64_t k = 0; k < std::min(before, length); ++k)
        line[static_cast<std::size_t>(k)] = values[static_cast<std::size_t>((o * before + k) * inner + i)];
      const auto turned = f(line);
      after = static_cast<std::int64_t>(turned.size());
      if (result.empty()) result.resize(static_cast<std::size_t>(outer * after * inner));
      for (std::int64_t k = 0; k < after; ++k)
        result[static_cast<std::size_t>((o * after + k) * inner + i)] = turned[static_cast<std::size_t>(k)];
    }
  values = std::move(result);
  shape[at] = after;
}

}  // namespace ovir::ops::signals
