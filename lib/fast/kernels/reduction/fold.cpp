// Plain loops, which the compiler makes vectors of.
#include <limits>
#include <type_traits>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/reduction/reduce.hpp"
#include "fast/kernels/types.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 256;   // neighbors done together
constexpr i64 kLanes = 32;  // of a line

/// rows(x, step, count, columns, to): to[c] becomes that and the terms x[r · step + c], r < count, joined.
/// row(x, n): n terms joined.
template <class T, class A, class Rows, class Row, class Join>
void fold_all(const T* x, T* y, const Reduced& s, ThreadPool& pool, A start, Rows rows, Row row, Join join) {
  const auto line = s.n * s.inner, results = s.outer * s.middle;
  const auto first = [&](i64 i) { return x + (i / s.middle * s.parts * s.middle + i % s.middle) * line; };
  const auto each = static_cast<double>(s.parts * s.n) / 4;
  if (s.inner == 1)
    return parallel_ranges(pool, results, 10 + each, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        auto all = start;
        for (i64 p = 0; p < s.parts; ++p) all = join(all, row(first(i) + p * s.middle * line, s.n));
        y[i] = static_cast<T>(all);
      }
    });
  const auto runs = ceil_div(s.inner, kRun);
  const auto cost = 20 + each * static_cast<double>(std::min(s.inner, kRun));
  parallel_ranges(pool, results * runs, cost, [&](i64 begin, i64 end) {
    alignas(64) A part[kRun];
    for (auto i = begin; i < end; ++i) {
      const auto place = i % runs * kRun, width = std::min(kRun, s.inner - place);
      std::fill_n(part, width, start);
      for (i64 p = 0; p < s.parts; ++p) rows(first(i / runs) + p * s.middle * line + place, s.inner, s.n, width, part);
      T* to = y + i / runs * s.inner + place;
      for (i64 c = 0; c < width; ++c) to[c] = static_cast<T>(part[c]);
    }
  });
}

template <class T, class A, class Term, class Join>
void fold_terms(const T* x, T* y, const Reduced& s, ThreadPool& pool, A start, Term term, Join join) {
  const auto rows = [=](const T* from, i64 step, i64 count, i64 columns, A* to) {
    i64 r = 0;
    for (; r + 4 <= count; r += 4) {  // `to` is read and written a quarter as often
      const T *a = from + r * step, *b = a + step, *c = b + step, *d = c + step;
      for (i64 i = 0; i < columns; ++i)
        to[i] = join(to[i], join(join(term(a[i]), term(b[i])), join(term(c[i]), term(d[i]))));
    }
    for (; r < count; ++r)
      for (i64 i = 0; i < columns; ++i) to[i] = join(to[i], term(from[r * step + i]));
  };
  const auto row = [=](const T* from, i64 n) {
    auto all = start;
    for (i64 i = 0; i < n; ++i) all = join(all, term(from[i]));
    return all;
  };
  fold_all(x, y, s, pool, start, rows, row, join);
}

void multiply(const float* x, float* y, const Reduced& s, ThreadPool& pool) {
  const auto& table = line_isa();
  const auto rows = [&](const float* from, i64 step, i64 count, i64 columns, double* to) {
    table.multiply(from, step, count, to, columns);
  };
  const auto row = [&](const float* from, i64 n) {
    alignas(64) double part[kLanes];
    auto width = std::min(n, kLanes);
    const auto whole = n / width;
    std::fill_n(part, width, 1.0);
    table.multiply(from, width, whole, part, width);
    table.multiply(from + whole * width, 0, 1, part, n - whole * width);
    for (; width > 1; width -= width / 2)
      for (i64 i = 0, half = width / 2; i < half; ++i) part[i] *= part[width - half + i];
    return part[0];
  };
  fold_all(x, y, s, pool, 1.0, rows, row, [](double a, double b) { return a * b; });
}

/// Sums and products modulo 2^bits follow from those of unsigned integers.
template <class T>
using Modular = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
void fold_integers(Fold what, const T* x, T* y, const Reduced& s, ThreadPool& pool) {
  using A = Modular<T>;
  const auto term = [](T v) { return static_cast<A>(v); };
  const auto same = [](T v) { return v; };
  switch (what) {
    case Fold::sum: return fold_terms(x, y, s, pool, A{0}, term, [](A a, A b) { return a + b; });
    case Fold::product: return fold_terms(x, y, s, pool, A{1}, term, [](A a, A b) { return a * b; });
    case Fold::maximum:
      return fold_terms(x, y, s, pool, std::numeric_limits<T>::min(), same, [](T a, T b) { return a > b ? a : b; });
    default:
      return fold_terms(x, y, s, pool, std::numeric_limits<T>::max(), same, [](T a, T b) { return a < b ? a : b; });
  }
}

using Bytes = std::uint8_t;
void fold_booleans(bool all, const Bytes* x, Bytes* y, const Reduced& s, ThreadPool& pool) {
  const auto term = [](Bytes v) { return static_cast<Bytes>(v != 0); };
  if (all) fold_terms(x, y, s, pool, Bytes{1}, term, [](Bytes a, Bytes b) { return static_cast<Bytes>(a & b); });
  else fold_terms(x, y, s, pool, Bytes{0}, term, [](Bytes a, Bytes b) { return static_cast<Bytes>(a | b); });
}

}  // namespace

bool can_fold(Fold what, ElementType type) {
  if (what == Fold::all || what == Fold::any) return type == ElementType::boolean;
  return is_among(type, Integers{}) || (what == Fold::product && type == ElementType::f32);
}

void fold(Fold what, ElementType type, const void* x, void* y, const Reduced& shape, ThreadPool& pool) {
  if (what == Fold::all || what == Fold::any)
    return fold_booleans(what == Fold::all, static_cast<const Bytes*>(x), static_cast<Bytes*>(y), shape, pool);
  if (type == ElementType::f32) return multiply(static_cast<const float*>(x), static_cast<float*>(y), shape, pool);
  dispatch(type, Integers{},
           [&]<class T>() { fold_integers(what, static_cast<const T*>(x), static_cast<T*>(y), shape, pool); });
}

}  // namespace ovir::fast
