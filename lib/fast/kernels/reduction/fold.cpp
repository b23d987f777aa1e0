#include <array>
#include <functional>
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
/// row(x, n): n terms joined. finish(A): the result.
template <class T, class A, class Rows, class Row, class Join, class Finish>
void fold_all(const T* x, T* y, const Reduced& s, ThreadPool& pool, A start, Rows rows, Row row, Join join,
              Finish finish) {
  const auto line = s.n * s.inner, results = s.outer * s.middle;
  const auto first = [&](i64 i) { return x + (i / s.middle * s.parts * s.middle + i % s.middle) * line; };
  const auto each = static_cast<double>(s.parts * s.n) / 4;
  if (s.inner == 1)
    return parallel_ranges(pool, results, 10 + each, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        auto all = s.parts > 0 ? row(first(i), s.n) : start;
        for (i64 p = 1; p < s.parts; ++p) all = join(all, row(first(i) + p * s.middle * line, s.n));
        y[i] = finish(all);
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
      for (i64 c = 0; c < width; ++c) to[c] = finish(part[c]);
    }
  });
}

/// Booleans, of which any byte but 0 is true.
template <class Join>
void fold_booleans(const std::uint8_t* x, std::uint8_t* y, const Reduced& s, ThreadPool& pool, int start, Join join) {
  using Byte = std::uint8_t;
  const auto term = [](Byte v) { return static_cast<int>(v != 0); };
  const auto rows = [=](const Byte* from, i64 step, i64 count, i64 columns, Byte* to) {
    i64 r = 0;
    for (; r + 4 <= count; r += 4) {  // `to` is read and written a quarter as often
      const Byte *a = from + r * step, *b = a + step, *c = b + step, *d = c + step;
      for (i64 i = 0; i < columns; ++i)
        to[i] = static_cast<Byte>(join(to[i], join(join(term(a[i]), term(b[i])), join(term(c[i]), term(d[i])))));
    }
    for (; r < count; ++r)
      for (i64 i = 0; i < columns; ++i) to[i] = static_cast<Byte>(join(to[i], term(from[r * step + i])));
  };
  const auto row = [=](const Byte* from, i64 n) {
    int all = start;
    for (i64 i = 0; i < n; ++i) all = join(all, term(from[i]));
    return static_cast<Byte>(all);
  };
  const auto join_bytes = [=](Byte a, Byte b) { return static_cast<Byte>(join(a, b)); };
  fold_all(x, y, s, pool, static_cast<Byte>(start), rows, row, join_bytes, [](Byte v) { return v; });
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
  fold_all(x, y, s, pool, 1.0, rows, row, std::multiplies<>(), [](double v) { return static_cast<float>(v); });
}

template <class T>
void fold_integers(Fold what, WholeType type, const T* x, T* y, const Reduced& s, ThreadPool& pool) {
  const auto& table = line_isa();
  const auto fold_row = [&](Fold f, const T* from, i64 n) {
    T all;
    table.whole_row(f, type, from, n, &all);
    return all;
  };
  const auto row = [&](const T* from, i64 n) { return fold_row(what, from, n); };
  const auto rows = [&](const T* from, i64 step, i64 count, i64 columns, T* to) {
    table.whole_columns(what, type, from, step, count, to, columns);
  };
  const auto join = [&](T a, T b) {
    const T both[] = {a, b};
    return fold_row(what == Fold::absolute ? Fold::sum : what, both, 2);
  };
  fold_all(x, y, s, pool, row(x, 0), rows, row, join, [](T v) { return v; });
}

/// Means, without what is behind the point; 0 where there is nothing.
template <class T>
void average(WholeType type, const T* x, T* y, const Reduced& s, ThreadPool& pool) {
  using Sum = std::uint64_t;
  const auto& table = line_isa();
  const auto rows = [&](const T* from, i64 step, i64 count, i64 columns, Sum* to) {
    std::array<i64, kRun> sums;
    table.whole_sums(type, from, step, count, sums.data(), columns);
    for (i64 c = 0; c < columns; ++c) to[c] += static_cast<Sum>(sums[c]);
  };
  const auto row = [&](const T* from, i64 n) { return static_cast<Sum>(table.whole_sum(type, from, n)); };
  const auto finish = [count = s.parts * s.n](Sum sum) {
    if (count == 0) return T{0};
    if constexpr (std::is_signed_v<T>) return static_cast<T>(static_cast<i64>(sum) / count);
    else return static_cast<T>(sum / static_cast<Sum>(count));
  };
  fold_all(x, y, s, pool, Sum{0}, rows, row, std::plus<>(), finish);
}

}  // namespace

bool can_fold(Fold what, ElementType type) {
  if (what == Fold::all || what == Fold::any) return type == ElementType::boolean;
  return is_among(type, Integers{}) || (what == Fold::product && type == ElementType::f32);
}

void fold(Fold what, ElementType type, const void* from, void* to, const Reduced& shape, ThreadPool& pool) {
  if (what == Fold::all || what == Fold::any) {
    const auto* x = static_cast<const std::uint8_t*>(from);
    auto* y = static_cast<std::uint8_t*>(to);
    if (what == Fold::all) fold_booleans(x, y, shape, pool, 1, std::bit_and<>());
    else fold_booleans(x, y, shape, pool, 0, std::bit_or<>());
    return;
  }
  if (type == ElementType::f32) return multiply(static_cast<const float*>(from), static_cast<float*>(to), shape, pool);
  dispatch(type, Integers{}, [&]<class T>() {
    const auto* x = static_cast<const T*>(from);
    auto* y = static_cast<T*>(to);
    if (what == Fold::mean) average(whole_type(type), x, y, shape, pool);
    else fold_integers(what, whole_type(type), x, y, shape, pool);
  });
}

}  // namespace ovir::fast
