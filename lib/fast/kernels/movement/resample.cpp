#include "fast/kernels/movement/resample.hpp"

#include <array>
#include <type_traits>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

template <i64 value>
using Constant = std::integral_constant<i64, value>;

/// f(count) with a constant for counts that filters have; else with the number.
template <class F>
void with_count(i64 count, const F& f) {
  if (count == 1) f(Constant<1>());
  else if (count == 2) f(Constant<2>());
  else if (count == 4) f(Constant<4>());
  else f(count);
}

/// One element k of a line whose elements lie together, or `inner` numbers of it side by side.
template <class Count, class Inner>
void sum_elements(const AxisTaps& taps, Count count, Inner inner, const float* x, i64 begin, i64 end, float* y) {
  const auto* index = taps.index.data() + begin * count;
  const auto* weight = taps.weight.data() + begin * count;
  for (auto k = begin; k < end; ++k, index += count, weight += count, y += inner)
    for (i64 i = 0; i < inner; ++i) {
      float sum = 0;
      for (i64 t = 0; t < count; ++t) sum += weight[t] * x[index[t] * inner + i];
      y[i] = sum;
    }
}

/// Long rows, some numbers at a time, which stay in registers or the first-level cache.
template <class Count>
void sum_rows(const i64* index, const float* weight, Count count, i64 inner, const float* x, i64 begin, i64 end,
              float* y) {
  constexpr i64 kNumbers = 256;
  std::array<float, kNumbers> sums;
  for (auto first = begin; first < end; first += kNumbers) {
    const auto n = std::min(kNumbers, end - first);
    std::fill_n(sums.data(), n, 0.0F);
    for (i64 t = 0; t < count; ++t) {
      const auto* from = x + index[t] * inner + first;
      const auto w = weight[t];
      for (i64 i = 0; i < n; ++i) sums[i] += w * from[i];
    }
    std::copy_n(sums.data(), n, y + first);
  }
}

}  // namespace

void resample(const AxisTaps& taps, i64 outer, i64 inner, const float* x, float* y, ThreadPool& pool) {
  constexpr i64 kShort = 16, kPiece = 4 << 10;
  const auto in = taps.in * inner, out = taps.out * inner;
  const auto pieces = ceil_div(inner, kPiece);
  const auto a_tap = inner < kShort ? 0.8 : 0.2;
  const auto cost = 1 + static_cast<double>(taps.count * std::min(inner, kPiece)) * a_tap;
  with_count(taps.count, [&](auto count) {
    parallel_ranges(pool, outer * taps.out * pieces, cost, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end;) {
        const auto line = i / pieces / taps.out, k = i / pieces % taps.out;
        const auto* from = x + line * in;
        auto* to = y + line * out + k * inner;
        if (inner < kShort) {
          const auto some = std::min(end - i, taps.out - k);
          if (taps.picks)
            for (auto e = k; e < k + some; ++e) std::copy_n(from + taps.index[e] * inner, inner, to + (e - k) * inner);
          else if (inner == 1) sum_elements(taps, count, Constant<1>(), from, k, k + some, to);
          else if (inner == 3) sum_elements(taps, count, Constant<3>(), from, k, k + some, to);
          else sum_elements(taps, count, inner, from, k, k + some, to);
          i += some;
          continue;
        }
        const auto first = i % pieces * kPiece, last = std::min(first + kPiece, inner);
        const auto* index = taps.index.data() + k * count;
        if (taps.picks) std::copy_n(from + *index * inner + first, last - first, to + first);
        else sum_rows(index, taps.weight.data() + k * count, count, inner, from, first, last, to);
        ++i;
      }
    });
  });
}

}  // namespace ovir::fast
