#include "fast/kernels/signals/fourier.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kLines = kFourierLines, kNumber = 2 * kLines;  // floats of a number of all lines

/// Lines of an axis, some of which are transformed at a time.
struct Group {
  i64 first, count;
};

/// work(line, its place): where the group's lines begin among [outer][length][inner].
template <class Work>
void each_line(const Group& g, i64 length, i64 inner, Work work) {
  for (i64 l = 0; l < g.count; ++l) {
    const auto line = g.first + l;
    work(l, line / inner * length * inner + line % inner);
  }
}

/// An inverse transform is that of the numbers whose parts have changed places, as has its result.
void gather(const FourierLines& f, const Group& g, i64 n, const float* x, float* to) {
  const auto count = std::min(f.half ? n / 2 + 1 : n, f.from);
  std::fill_n(to, n * kNumber, 0.0f);
  const i64 re = f.inverse ? kLines : 0, im = kLines - re;
  if (!f.real_in && f.inner == 1) {
    const auto* from = x + g.first * f.from * 2;
    isa().transpose(from, 2 * f.from, to, kLines, g.count, 2 * count);
    if (f.inverse)
      for (i64 k = 0; k < count; ++k)
        std::swap_ranges(to + k * kNumber, to + k * kNumber + kLines, to + k * kNumber + kLines);
  } else if (f.inner == 1) {
    isa().transpose(x + g.first * f.from, f.from, to + re, kNumber, g.count, count);
  } else {
    i64 at[kLines];
    each_line(g, f.from, f.inner, [&](i64 l, i64 place) { at[l] = place; });
    for (i64 k = 0; k < count; ++k, to += kNumber)
      for (i64 l = 0; l < g.count; ++l) {
        const auto i = at[l] + k * f.inner;
        to[re + l] = f.real_in ? x[i] : x[2 * i];
        if (!f.real_in) to[im + l] = x[2 * i + 1];
      }
    to -= count * kNumber;
  }
  for (i64 k = 1; f.half && k < (n + 1) / 2; ++k)
    for (i64 l = 0; l < kLines; ++l) {
      to[(n - k) * kNumber + re + l] = to[k * kNumber + re + l];
      to[(n - k) * kNumber + im + l] = -to[k * kNumber + im + l];
    }
}

/// Writes over `from`.
void scatter(const FourierLines& f, const Group& g, i64 n, float* from, float* y) {
  const i64 re = f.inverse ? kLines : 0, im = kLines - re;
  if (f.inverse) {
    const auto count = static_cast<float>(n);
    isa().binary(Binary::divide, from, 1, &count, 0, from, f.to * kNumber);
  }
  if (f.real_out && f.inner == 1) return isa().transpose(from + re, kNumber, y + g.first * f.to, f.to, f.to, g.count);
  if (f.inner == 1) {
    for (i64 k = 0; k < f.to && f.inverse; ++k)
      std::swap_ranges(from + k * kNumber, from + k * kNumber + kLines, from + k * kNumber + kLines);
    return isa().transpose(from, kLines, y + g.first * f.to * 2, 2 * f.to, 2 * f.to, g.count);
  }
  i64 at[kLines];
  each_line(g, f.to, f.inner, [&](i64 l, i64 place) { at[l] = place; });
  for (i64 k = 0; k < f.to; ++k, from += kNumber)
    for (i64 l = 0; l < g.count; ++l) {
      const auto i = at[l] + k * f.inner;
      y[f.real_out ? i : 2 * i] = from[re + l];
      if (!f.real_out) y[2 * i + 1] = from[im + l];
    }
}

}  // namespace

FourierFactors::FourierFactors(i64 n) : n_(n) {
  const auto put = [&](i64 k, i64 of) {
    const auto angle = -2 * std::numbers::pi * static_cast<double>(k % of) / static_cast<double>(of);
    numbers_.push_back(static_cast<float>(std::cos(angle)));
    numbers_.push_back(static_cast<float>(std::sin(angle)));
  };
  for (i64 left = n, radix = 4; left > 1;) {
    if (left % radix != 0) {
      if (radix == 4) radix = 2;
      else if (radix == 2) radix = 3;
      else radix = radix * radix > left ? left : radix + 2;
      continue;
    }
    const auto rest = left / radix;
    Factor f{radix, std::ssize(numbers_), 0};
    for (i64 p = 0; p < rest; ++p)
      for (i64 j = 1; j < radix; ++j) put(p * j, left);
    f.root = std::ssize(numbers_);
    for (i64 j = 0; j < radix && radix != 2 && radix != 4; ++j) put(j, radix);
    factors_.push_back(f);
    left = rest;
  }
}

float* FourierFactors::transform(float* a, float* b) const {
  const auto& table = line_isa();
  i64 q = 1;
  for (const auto& f : factors_) {
    table.fourier({f.radix, n_ / q / f.radix, q, numbers_.data() + f.w, numbers_.data() + f.root}, a, b);
    std::swap(a, b);
    q *= f.radix;
  }
  return a;
}

double FourierFactors::time() const {
  double each = 8;  // of all lines: bringing a number into place and back
  for (const auto& f : factors_) each += f.radix == 4 ? 4 : 3 * static_cast<double>(f.radix);
  return each * static_cast<double>(n_);
}

bool can_transform(i64 n) {
  constexpr i64 kLargestFactor = 1024;
  constexpr i64 kLongest = i64{1} << 16;  // scratch memory is many times a line
  if (n < 1 || n > kLongest) return false;
  for (i64 factor = 2; factor * factor <= n; ++factor)
    while (n % factor == 0 && n > factor) n /= factor;
  return n <= kLargestFactor;
}

i64 fourier_scratch(i64 n) { return 2 * n * kNumber; }

void fourier(const FourierFactors& factors, const FourierLines& f, const float* x, float* y, float* scratch,
             ThreadPool& pool) {
  const auto n = factors.n(), lines = f.outer * f.inner;
  Slots slots(scratch, fourier_scratch(n), slots_for(pool));
  parallel_ranges(pool, ceil_div(lines, kLines), factors.time(), [&](i64 begin, i64 end) {
    const Slots::Lease lease(slots);
    auto *a = lease.data(), *b = a + n * kNumber;
    for (auto i = begin; i < end; ++i) {
      const Group g{i * kLines, std::min(kLines, lines - i * kLines)};
      gather(f, g, n, x, a);
      scatter(f, g, n, factors.transform(a, b), y);
    }
  });
}

}  // namespace ovir::fast
