// The pixels that samples are made of, four points of a grid at a time; and sums of pixels at any place. Steps are
// rounded as those of ops/image/grid_sample.cpp. Results that are vectors of 32 bytes are written to: where there is no
// AVX they are not returned.

using FourLongs = i64 __attribute__((vector_size(32)));

/// Added to |x| < 2^51 it rounds to the nearest integer, which is then in the last bits.
constexpr double kToWhole = 0x1.8p52;

/// The integer not above v, also as a word.
[[gnu::always_inline]] inline void whole_below(const Fours& v, Fours& to, FourWords& word) {
  const Fours shifted = v + kToWhole, nearest = shifted - kToWhole;
  const FourLongs above = nearest > v;
  to = nearest - (Fours)(above & (FourLongs)(Fours{} + 1));
  word = __builtin_convertvector((FourLongs)shifted + above, FourWords);
}

/// The pixels along an axis, and how much each counts.
template <int kTaps>
struct AxisPixels {
  FourWords number[kTaps], mask[kTaps];
  Fours weight[kTaps];
};

template <int kTaps>
[[gnu::always_inline]] inline void weigh(const Fours& d, Fours (&weight)[kTaps]) {
  if constexpr (kTaps == 1) {
    weight[0] = Fours{} + 1;
  } else if constexpr (kTaps == 2) {
    weight[0] = 1 - d;
    weight[1] = d;
  } else {
    constexpr double A = -0.75;
    const auto near = [](const Fours& t, Fours& to) __attribute__((always_inline)) {
      to = ((A + 2) * t - (A + 3)) * t * t + 1;
    };
    const auto far = [](const Fours& t, Fours& to) __attribute__((always_inline)) {
      to = ((A * t - 5 * A) * t + 8 * A) * t - 4 * A;
    };
    far(1 + d, weight[0]);
    near(d, weight[1]);
    near(1 - d, weight[2]);
    far(2 - d, weight[3]);
  }
}

template <int kTaps, bool kMirrored>
[[gnu::always_inline]] inline AxisPixels<kTaps> axis_pixels(const SampledAxis& axis, FourFloats coordinates) {
  constexpr double kMost = __DBL_MAX__;
  // Farther away makes no difference, where pixels are not mirrored.
  const double before = kMirrored ? -1e9 : -8, behind = kMirrored ? 1e9 : axis.length + 8.0;
  Fours v, first;
  widen(coordinates, v);
  v = (v + 1) * axis.scale + axis.shift;
  v = v <= kMost ? v : Fours{} + before;
  v = v > before ? v : Fours{} + before;
  v = v < behind ? v : Fours{} + behind;
  FourWords word;
  if constexpr (kTaps == 1) {
    const Fours shifted = v + kToWhole;
    first = shifted - kToWhole;
    word = __builtin_convertvector((FourLongs)shifted, FourWords);
  } else {
    whole_below(v, first, word);
  }
  AxisPixels<kTaps> to;
  weigh(v - first, to.weight);
  constexpr int kBefore = kTaps == 4 ? 1 : 0;
#pragma GCC unroll 4
  for (int t = 0; t < kTaps; ++t) {
    if constexpr (kMirrored) {
      const bool centers = axis.beyond == BeyondImage::centers;
      const double length = axis.length, period = !centers ? 2 * length : length > 1 ? 2 * (length - 1) : 1;
      const Fours at = first + (t - kBefore);
      Fours periods;
      FourWords ignored;
      whole_below(at / period, periods, ignored);
      const Fours rest = at - period * periods, turned = (centers ? period : period - 1) - rest;
      to.number[t] = __builtin_convertvector(rest < length ? rest : turned, FourWords);
      to.mask[t] = ~FourWords{};
    } else {
      const FourWords number = word + (t - kBefore), last = FourWords{} + (axis.length - 1);
      const FourWords from_zero = number < 0 ? FourWords{} : number;
      to.number[t] = from_zero > last ? last : from_zero;
      to.mask[t] = axis.beyond == BeyondImage::border ? ~FourWords{} : to.number[t] == number;
    }
  }
  return to;
}

template <int kTaps, bool kMirrored>
static void grid_pixels_of(SampledAxis x, SampledAxis y, const float* grid, i64 n, SampledPixels to) {
  for (i64 p = 0; p < n; p += 4) {
    FourFloats low{}, high{};
    if (n - p >= 4) {
      __builtin_memcpy(&low, grid + 2 * p, sizeof low);
      __builtin_memcpy(&high, grid + 2 * p + 4, sizeof high);
    } else {
      float rest[8] = {};
      for (i64 i = 0; i < 2 * (n - p); ++i) rest[i] = grid[2 * p + i];
      __builtin_memcpy(&low, rest, sizeof low);
      __builtin_memcpy(&high, rest + 4, sizeof high);
    }
    const auto across = axis_pixels<kTaps, kMirrored>(x, __builtin_shuffle(low, high, FourWords{0, 2, 4, 6}));
    const auto down = axis_pixels<kTaps, kMirrored>(y, __builtin_shuffle(low, high, FourWords{1, 3, 5, 7}));
#pragma GCC unroll 4
    for (int i = 0; i < kTaps; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kTaps; ++j) {
        const FourWords number = down.number[i] * x.length + across.number[j], mask = down.mask[i] & across.mask[j];
        const FourFloats weight = __builtin_convertvector(down.weight[i] * across.weight[j], FourFloats);
        const i64 at = (i * kTaps + j) * to.step + p;
        __builtin_memcpy(to.number + at, &number, sizeof number);
        __builtin_memcpy(to.weight + at, &weight, sizeof weight);
        __builtin_memcpy(to.mask + at, &mask, sizeof mask);
      }
  }
}

static void grid_pixels(const SampledAxis& x, const SampledAxis& y, int taps, const float* grid, i64 n,
                        const SampledPixels& to) {
  const bool mirrored = x.beyond == BeyondImage::centers || x.beyond == BeyondImage::edges;
  if (taps == 1 && mirrored) grid_pixels_of<1, true>(x, y, grid, n, to);
  else if (taps == 1) grid_pixels_of<1, false>(x, y, grid, n, to);
  else if (taps == 2 && mirrored) grid_pixels_of<2, true>(x, y, grid, n, to);
  else if (taps == 2) grid_pixels_of<2, false>(x, y, grid, n, to);
  else if (mirrored) grid_pixels_of<4, true>(x, y, grid, n, to);
  else grid_pixels_of<4, false>(x, y, grid, n, to);
}

static void sum_pixels(const SampledPixels& of, i64 taps, const float* x, float* y, i64 n) {
  using Floats = float __attribute__((vector_size(32)));
  using Bits = std::uint32_t __attribute__((vector_size(32)));
  i64 p = 0;
  for (; p + 8 <= n; p += 8) {
    Floats sum{};
    for (i64 t = 0; t < taps; ++t) {
      const i64 first = t * of.step + p;
      const std::int32_t* at = of.number + first;
      // Single loads take less time than the gathering ones of most processors.
      const Floats pixels = {x[at[0]], x[at[1]], x[at[2]], x[at[3]], x[at[4]], x[at[5]], x[at[6]], x[at[7]]};
      Floats weight;
      Bits mask;
      __builtin_memcpy(&weight, of.weight + first, sizeof weight);
      __builtin_memcpy(&mask, of.mask + first, sizeof mask);
      sum += weight * (Floats)((Bits)pixels & mask);
    }
    __builtin_memcpy(y + p, &sum, sizeof sum);
  }
  for (; p < n; ++p) {
    float sum = 0;
    for (i64 t = 0; t < taps; ++t) {
      const i64 at = t * of.step + p;
      sum += of.weight[at] * (of.mask[at] ? x[of.number[at]] : 0);
    }
    y[p] = sum;
  }
}
