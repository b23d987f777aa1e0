#include "fast/kernels/reduction/reduce.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 512;  // values summed in one go
constexpr i64 kRun = 64;    // neighbors of an inner axis done together

/// The elements of one result: `parts` times n; `by`: what each is multiplied by, null: nothing.
struct Terms {
  const float *x, *by;
  i64 parts, part_step, n, step;
  i64 count() const { return parts * n; }
};

/// The norm of the terms whose sum of squares was `sum`: taken again where f32 cannot hold the squares.
float norm(float sum, const Terms& t) {
  constexpr float kLeast = 1e-30f, kMost = 1e38f;
  if (sum > kLeast && sum < kMost) return std::sqrt(sum);
  double total = 0;
  for (i64 p = 0; p < t.parts; ++p)
    for (i64 i = 0; i < t.n; ++i) {
      const double v = t.x[p * t.part_step + i * t.step];
      total += v * v;
    }
  return static_cast<float>(std::sqrt(total));
}

bool is_extreme(Reduction what) { return what == Reduction::maximum || what == Reduction::minimum; }

float absolute_sum(const IsaTable& table, const float* x, i64 n) {
  alignas(64) float part[kRun];
  const auto columns = std::min(n, kRun), rows = n / columns;
  table.reduce_columns(Reduction::absolute, x, columns, rows, part, columns);
  auto total = table.sum(part, columns);
  for (auto i = rows * columns; i < n; ++i) total += std::abs(x[i]);
  return total;
}

/// n > 0 terms side by side.
float row(const IsaTable& table, Reduction what, const float* x, i64 n) {
  switch (what) {
    case Reduction::maximum: return table.maximum(x, n);
    case Reduction::minimum: return table.minimum(x, n);
    case Reduction::norm: return table.deviation(x, 0, n);
    case Reduction::absolute: return absolute_sum(table, x, n);
    default: return table.sum(x, n);
  }
}

float rows(const IsaTable& table, Reduction what, const Terms& t) {
  if (is_extreme(what)) {
    const auto infinity = std::numeric_limits<float>::infinity();
    auto best = what == Reduction::maximum ? -infinity : infinity;
    for (i64 p = 0; p < t.parts; ++p) {
      const auto v = row(table, what, t.x + p * t.part_step, t.n);
      if (v != v) return v;
      best = what == Reduction::maximum ? std::max(best, v) : std::min(best, v);
    }
    return best;
  }
  double total = 0;
  for (i64 p = 0; p < t.parts; ++p)
    for (i64 i = 0; i < t.n; i += kPart) {
      const auto at = p * t.part_step + i, count = std::min(kPart, t.n - i);
      total += t.by ? table.dot(t.x + at, t.by + at, count) : row(table, what, t.x + at, count);
    }
  if (what == Reduction::norm) return norm(static_cast<float>(total), t);
  return static_cast<float>(what == Reduction::mean ? total / static_cast<double>(t.count()) : total);
}

/// Adds the sums of the products of so many rows of `width` neighbors to y.
void add_products(const IsaTable& table, const float* x, const float* by, i64 step, i64 rows, float* y, i64 width) {
  constexpr i64 kTogether = 64;
  alignas(64) float products[kTogether * kRun], part[kRun];
  for (i64 r = 0; r < rows; r += kTogether) {
    const auto count = std::min(kTogether, rows - r);
    const auto multiply = [&](i64 row, i64 n) {
      const auto at = (r + row) * step;
      table.binary(Binary::multiply, x + at, 1, by + at, 1, products + row * width, n);
    };
    if (width == step) multiply(0, count * width);
    else
      for (i64 row = 0; row < count; ++row) multiply(row, width);
    table.reduce_columns(Reduction::sum, products, width, count, part, width);
    table.binary(Binary::add, y, 1, part, 1, y, width);
  }
}

/// y[c] for `width` neighbors, of which `t` are the terms of the first.
void columns(const IsaTable& table, Reduction what, const Terms& t, float* y, i64 width) {
  const auto inner = what == Reduction::mean ? Reduction::sum : what;
  const auto join = what == Reduction::maximum   ? Binary::maximum
                    : what == Reduction::minimum ? Binary::minimum
                                                 : Binary::add;
  alignas(64) float part[kRun];
  const auto infinity = std::numeric_limits<float>::infinity();
  std::fill_n(y, width, !is_extreme(what) ? 0 : (what == Reduction::maximum ? -infinity : infinity));
  for (i64 p = 0; p < t.parts; ++p)
    for (i64 i = 0; i < t.n; i += kPart) {
      const auto at = p * t.part_step + i * t.step, count = std::min(kPart, t.n - i);
      if (t.by) {
        add_products(table, t.x + at, t.by + at, t.step, count, y, width);
        continue;
      }
      table.reduce_columns(inner, t.x + at, t.step, count, part, width);
      table.binary(join, y, 1, part, 1, y, width);
    }
  const auto count = static_cast<float>(t.count());
  if (what == Reduction::norm)
    for (i64 c = 0; c < width; ++c) y[c] = norm(y[c], {t.x + c, nullptr, t.parts, t.part_step, t.n, t.step});
  if (what == Reduction::mean) table.binary(Binary::divide, y, 1, &count, 0, y, width);
}

/// Results of so few elements that many of them are computed together: `inner` neighbors from [n][inner] each.
bool are_short(const Reduced& s) {
  constexpr i64 kMostTerms = 16;
  return s.parts == 1 && s.middle == 1 && s.n > 0 && s.n * s.inner <= kRun && (s.inner > 1 || s.n <= kMostTerms) &&
         s.inner < kMostTerms;
}

/// Results [first, first + count) of such, count at most kRun: their elements become columns.
void short_ones(const IsaTable& table, Reduction what, const float* x, const float* by, float* y, const Reduced& s,
                i64 first, i64 count) {
  alignas(64) float terms[kRun * kRun], results[kRun * kRun];
  const auto each = s.n * s.inner;
  x += first * each;
  if (by) {
    table.binary(Binary::multiply, x, 1, by + first * each, 1, results, count * each);
    x = results;
  }
  y += first * s.inner;
  table.transpose(x, each, terms, kRun, count, each);
  auto* to = s.inner == 1 ? y : results;
  for (i64 c = 0; c < s.inner; ++c)
    columns(table, what, {terms + c * kRun, nullptr, 1, 0, s.n, s.inner * kRun}, to + c * kRun, count);
  if (s.inner > 1) table.transpose(results, kRun, y, s.inner, s.inner, count);
}

void reduce(Reduction what, const float* x, const float* by, float* y, const Reduced& s, ThreadPool& pool) {
  const auto& table = isa();
  const auto terms = [&](i64 result) {  // of the first neighbor
    const auto line = s.n * s.inner, o = result / s.middle, m = result % s.middle;
    const auto at = (o * s.parts * s.middle + m) * line;
    return Terms{x + at, by ? by + at : nullptr, s.parts, s.middle * line, s.n, s.inner};
  };
  const auto results = s.outer * s.middle;
  const auto count = static_cast<double>(s.parts * s.n);
  if (are_short(s)) {
    const auto runs = ceil_div(results, kRun);
    return parallel_ranges(pool, runs, 50 + static_cast<double>(kRun * s.inner) * count / 4, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i)
        short_ones(table, what, x, by, y, s, i * kRun, std::min(kRun, results - i * kRun));
    });
  }
  if (s.inner == 1)
    return parallel_ranges(pool, results, 10 + count / 8, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) y[i] = rows(table, what, terms(i));
    });
  const auto runs = ceil_div(s.inner, kRun);
  const auto cost = 10 + count * static_cast<double>(std::min(s.inner, kRun)) / 8;
  parallel_ranges(pool, results * runs, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto place = i % runs * kRun;
      auto t = terms(i / runs);
      t.x += place;
      if (t.by) t.by += place;
      columns(table, what, t, y + i / runs * s.inner + place, std::min(kRun, s.inner - place));
    }
  });
}

}  // namespace

void reduce(Reduction what, const float* x, float* y, const Reduced& s, ThreadPool& pool) {
  reduce(what, x, nullptr, y, s, pool);
}

void reduce_rows(Reduction what, const float* x, float* y, i64 count, i64 n) {
  const auto& table = isa();
  const Reduced s{.outer = count, .n = n};
  for (i64 i = 0; i < count; i += kRun) {
    const auto some = std::min(kRun, count - i);
    if (are_short(s)) short_ones(table, what, x, nullptr, y, s, i, some);
    else
      for (auto r = i; r < i + some; ++r) y[r] = rows(table, what, {x + r * n, nullptr, 1, 0, n, 1});
  }
}

void reduce_products(Reduction what, const float* x, const float* by, float* y, const Reduced& s, ThreadPool& pool) {
  reduce(what, x, by, y, s, pool);
}

void reduce_bf16_planes(Reduction what, const std::uint16_t* x, float* y, i64 batch, i64 channels, i64 plane,
                        ThreadPool& pool) {
  const auto halves = ceil_div(channels, kBlock), blocks = ceil_div(channels, 2 * kBlock);
  // A norm is that of what is left above a mean of 0.
  static constexpr float kZeros[kBlock] = {};
  const auto* mean = what == Reduction::norm ? kZeros : nullptr;
  parallel_ranges(pool, batch * halves, static_cast<double>(plane), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto image = i / halves, half = i % halves, channel = half * kBlock;
      const auto* from = x + (image * blocks + half / 2) * plane * 2 * kBlock + half % 2 * kBlock;
      std::array<float, kBlock> total{};
      for (i64 pixel = 0; pixel < plane; pixel += kPart) {
        std::array<float, kBlock> part;
        narrow_isa().lane_sums(from + pixel * 2 * kBlock, std::min(kPart, plane - pixel), mean, part.data());
        for (i64 lane = 0; lane < kBlock; ++lane) total[lane] += part[lane];
      }
      auto* to = y + image * channels + channel;
      for (i64 lane = 0; lane < std::min(kBlock, channels - channel); ++lane)
        if (what == Reduction::mean) to[lane] = total[lane] / static_cast<float>(plane);
        else to[lane] = what == Reduction::norm ? std::sqrt(total[lane]) : total[lane];
    }
  });
}

}  // namespace ovir::fast
