// Plain loops, which the compiler makes vectors of.
#include "fast/kernels/reduction/running_sum.hpp"

#include <type_traits>

#include "fast/kernels/chunks.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 128;  // neighbors done together
constexpr i64 kLines = 4;  // that are summed side by side: one alone would wait for each of its sums

template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double,
                               std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

template <bool Exclusive, class T>
void columns(const RunningSum& s, const T* x, T* y, i64 width) {
  alignas(64) Sum<T> sum[kRun] = {};
  const auto step = s.reverse ? -s.inner : s.inner;
  auto at = s.reverse ? (s.n - 1) * s.inner : 0;
  for (i64 k = 0; k < s.n; ++k, at += step)
    for (i64 c = 0; c < width; ++c) {
      const auto before = sum[c];
      sum[c] += static_cast<Sum<T>>(x[at + c]);
      y[at + c] = static_cast<T>(Exclusive ? before : sum[c]);
    }
}

template <bool Exclusive, i64 Lines, class T>
void lines(const RunningSum& s, const T* x, T* y) {
  Sum<T> sum[Lines] = {};
  for (i64 k = 0; k < s.n; ++k)
    for (i64 l = 0; l < Lines; ++l) {
      const auto at = l * s.n + (s.reverse ? s.n - 1 - k : k);
      const auto before = sum[l];
      sum[l] += static_cast<Sum<T>>(x[at]);
      y[at] = static_cast<T>(Exclusive ? before : sum[l]);
    }
}

template <bool Exclusive, class T>
void sums(const RunningSum& s, const T* x, T* y, ThreadPool& pool) {
  const auto n = static_cast<double>(s.n);
  if (s.inner == 1)
    return parallel_ranges(pool, ceil_div(s.outer, kLines), 5 + n * static_cast<double>(std::min(s.outer, kLines)),
                           [&](i64 begin, i64 end) {
                             auto l = begin * kLines;
                             const auto last = std::min(end * kLines, s.outer);
                             for (; l + kLines <= last; l += kLines)
                               lines<Exclusive, kLines>(s, x + l * s.n, y + l * s.n);
                             for (; l < last; ++l) lines<Exclusive, 1>(s, x + l * s.n, y + l * s.n);
                           });
  const auto runs = ceil_div(s.inner, kRun);
  const auto cost = 20 + n * (5 + static_cast<double>(std::min(s.inner, kRun)) / 2);
  parallel_ranges(pool, s.outer * runs, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i % runs * kRun, place = i / runs * s.n * s.inner + first;
      columns<Exclusive>(s, x + place, y + place, std::min(kRun, s.inner - first));
    }
  });
}

}  // namespace

void running_sum(const RunningSum& s, const View& x, const View& y, ThreadPool& pool) {
  dispatch(x.type, Numbers{}, [&]<class T>() {
    const T* from = x.as<const T>();
    T* to = y.as<T>();
    if (s.exclusive) sums<true>(s, from, to, pool);
    else sums<false>(s, from, to, pool);
  });
}

}  // namespace ovir::fast
