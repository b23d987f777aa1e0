// The loops on bf16 and u8, in terms of Vec, a vector of kWidth floats, and Words, one of as many words. Included by
// one file an instruction set, which defines them and what all.inl wants, and:
//   load_words, store_words;  Bf16Dots, U8Dots, of u8 by i8, and I16Dots, modulo 2^32: how a word is multiplied by two
//   vectors of them, in kParts parts, each by add(place of the word, part, right(words, part), right(…), sums); where
//   kAside, the place is that of what part(words, how many ≤ 16, to) made of it;
//   fused(a, b, c)  a·b + c, rounded once;  gelu_short;  kSwishes, and swish_short if so;
//   store_bf16(to, v)  kWidth values rounded, or of two vectors twice as many;  load_bf16(from)  kWidth values;
//   merge(even, odd)  words of bf16 pairs;  store_u8, load_u8, to_levels  rounded to the nearest, as u8 and as Ints;
//   kAddsPairs, pair_sums<P>(sum, column, sums)  sums of u8 with excesses, where the machine adds pairs;
//   sums_of_all(sum, column, pixels, first, sums)  all pixels at once, where faster; `first`: of the first vector only;
//   store_u8(to, other, v, w)  two vectors at each of two places, and with LevelBounds, or Saturated, which are all
//   bytes, of values within ±2^30;  u8_depthwise_with(rows, f)  with an activation f, Slopes or NoFunction.

[[gnu::always_inline]] inline Vec hswish(Vec x) {
  return x * min(spread(1.0f), max(spread(0.0f), fma(x, spread(1.0f / 6), spread(0.5f))));
}

/// Calls pass(f) with one of the functions of what becomes bf16, which is not the identity.
template <class Pass>
[[gnu::always_inline]] inline void with_narrow(const Unary& narrow, Pass pass) {
  if (narrow.f == Function::gelu_short) return pass([](Vec x) { return gelu_short(x); });
  if (narrow.f == Function::hswish) return pass([](Vec x) { return hswish(x); });
  if constexpr (kSwishes) {
    const Vec a = spread(narrow.a), by = spread(1 / narrow.a);
    pass([&](auto x) __attribute__((always_inline)) { return swish_short(x, a, by); });
  }
}

/// Vectors of columns that are summed up where 16 columns count.
constexpr int kHalf = kWidth == kBlock ? 1 : 2;

/// Adds to the sums of P pixels, the same number in each row, by V vectors of columns, from column0 on. `kDense`:
/// pixels are those of blocks, side by side.
template <class Dots, int P, int Rows, bool kDense, int V, class Sum>
static inline __attribute__((always_inline)) void narrow_sums_of(const NarrowSum& t, i64 pixel0, i64 column0,
                                                                 Sum (&sum)[P][V]) {
  // All pixels of a row share a base, or where distances are not known three: base, base + pixel, base + 2·pixel.
  constexpr int kRow = P / Rows, kShare = kDense ? kRow : 3, kRowBases = (kRow + kShare - 1) / kShare,
                kBases = Rows * kRowBases;
  static_assert(P % Rows == 0);
  constexpr auto base_of = [](int p) { return p / kRow * kRowBases + p % kRow / kShare; };
  constexpr auto beside = [](int p) { return p % kRow % kShare; };
  const Word* w = t.weights + column0;
  const i64* const taps = t.other_taps && column0 >= kBlock ? t.other_taps : t.taps;
  const i64 pixel = kDense ? kBlock : t.pixel;
  // The parts of a run of words, where they take longer to make than to read.
  alignas(64) Word parts[Dots::kAside ? P : 1][Dots::kParts][kBlock];
  const auto step = [&](const Word* const(&base)[kBases], i64 i) __attribute__((always_inline)) {
    // All pixels by a part before the next one: that needs the fewest registers.
#pragma GCC unroll 4
    for (int part = 0; part < Dots::kParts; ++part) {
      const auto place = [&](int p) __attribute__((always_inline)) {
        return Dots::kAside ? parts[p][part] + i : base[base_of(p)] + beside(p) * pixel + i;
      };
      const auto b0 = Dots::right(load_words(w), part);
      if constexpr (V == 1) {
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) Dots::add(place(p), part, b0, sum[p]);
      } else {
        const auto b1 = Dots::right(load_words(w + kWidth), part);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) Dots::add(place(p), part, b0, b1, sum[p]);
      }
    }
    w += kColumns;
  };
  for (i64 block = 0; block < t.blocks; ++block) {
    const i64 steps = block + 1 < t.blocks ? t.steps : t.last_steps;
    w += t.before * steps * kColumns;
    for (i64 tap = 0; tap < t.tap_count; ++tap) {
      const Word* base[kBases];
#pragma GCC unroll 8
      for (int g = 0; g < kBases; ++g)
        base[g] =
            t.in + g / kRowBases * t.row + (pixel0 + g % kRowBases * kShare) * pixel + block * t.block + taps[tap];
      i64 left = steps;
      while (left > 0) {
        ask(t.ahead);
        const i64 now = left < kBlock ? left : kBlock;
        if constexpr (Dots::kAside) {
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) Dots::part(base[base_of(p)] + beside(p) * pixel, now, parts[p]);
        }
        i64 i = 0;
        for (; i + 2 <= now; i += 2) {
          step(base, i);
          step(base, i + 1);
        }
        if (i < now) step(base, i);
#pragma GCC unroll 8
        for (int g = 0; g < kBases; ++g) base[g] += now;
        left -= now;
      }
    }
    w += t.after * steps * kColumns;
  }
}

/// The same. With two vectors g++ 12 keeps sums of bf16 of dense pixels in memory.
template <class Dots, int P, int Rows = 1, int V, class Sum>
static inline __attribute__((always_inline)) void narrow_sums(const NarrowSum& t, i64 pixel0, i64 column0,
                                                              Sum (&sum)[P][V]) {
  if constexpr (V == 1)
    if (t.pixel == kBlock) return narrow_sums_of<Dots, P, Rows, true>(t, pixel0, column0, sum);
  narrow_sums_of<Dots, P, Rows, false>(t, pixel0, column0, sum);
}

/// Calls each(pixel, vector) for those of P pixels by V vectors of columns.
template <int P, int V, class Each>
[[gnu::always_inline]] inline void each_vector(Each each) {
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int j = 0; j < V; ++j) each(p, j);
}

/// A pixel's vectors as bf16; where the second one is left out, zeros take its place.
template <int V>
[[gnu::always_inline]] inline void store_pixel_bf16(std::uint16_t* to, const Vec (&v)[V]) {
  if constexpr (V == 1) store_bf16(to, v[0], Vec{});
  else store_bf16(to, v[0], v[1]);
}

/// The sums of P pixels by two vectors of columns, which may read other taps each.
template <class Dots, int P, int Rows, class Sum>
[[gnu::always_inline]] inline void both_sums(const NarrowSum& t, i64 column, Sum (&sum)[P][2]) {
  if constexpr (kHalf == 1 && Rows == 1)
    if (t.other_taps) {
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        Sum half[P][1];
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) half[p][0] = sum[p][j];
        narrow_sums<Dots, P>(t, 0, column + j * kWidth, half);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) sum[p][j] = half[p][0];
      }
      return;
    }
  narrow_sums<Dots, P, Rows>(t, 0, column, sum);
}

/// What follows the sums, of which those of the bias are part, of P pixels from `first` on by V vectors of columns.
template <int P, int V>
static inline __attribute__((always_inline)) void bf16_finish(const Bf16Tile& t, i64 first, i64 column,
                                                              Vec (&sum)[P][V]) {
  if (t.residual) {
    const auto* residual = t.residual + first * t.residual_pixel + column;
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) {
      sum[p][j] = sum[p][j] + load_bf16(residual + p * t.residual_pixel + j * kWidth);
    });
  } else if (t.wide_residual) {
    const auto from = [&](i64 c) {
      return t.wide_residual + first * t.residual_pixel + c / kBlock * t.residual_block + c % kBlock;
    };
    const float* const residual[] = {from(column), from(column + kWidth)};
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) {
      sum[p][j] = sum[p][j] + load(residual[j] + p * t.residual_pixel);
    });
  }
  // Bounds that are none take as long as others.
  constexpr float kInfinity = __builtin_inff();
  if (t.low > -kInfinity) {
    const Vec low = spread(t.low);
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) { sum[p][j] = max(low, sum[p][j]); });
  }
  if (t.high < kInfinity) {
    const Vec high = spread(t.high);
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) { sum[p][j] = min(high, sum[p][j]); });
  }
  auto* out = t.wide ? nullptr : t.out + first * t.out_pixel + column;
  if (t.narrow.f == Function::hswish) {
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) { sum[p][j] = hswish(sum[p][j]); });
  } else if (t.narrow.f != Function::identity) {
    // Coefficients take the registers of the sums.
    alignas(64) float values[P * V * kWidth];
    each_vector<P, V>([&](int p, int j)
                          __attribute__((always_inline)) { store(values + (p * V + j) * kWidth, sum[p][j]); });
    return with_narrow(
        t.narrow, [&](auto f) __attribute__((always_inline)) {
#pragma GCC unroll 1
          for (int p = 0; p < P; ++p) {
            Vec y[V];
#pragma GCC unroll 2
            for (int j = 0; j < V; ++j) y[j] = f(load(values + (p * V + j) * kWidth));
            store_pixel_bf16(out + p * t.out_pixel, y);
          }
        });
  }
  if (!t.wide) {
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) store_pixel_bf16(out + p * t.out_pixel, sum[p]);
    return;
  }
  const auto place = [&](i64 c) { return t.wide + first * t.out_pixel + c / kBlock * t.out_block + c % kBlock; };
  float* const wide[] = {place(column), place(column + kWidth)};
  each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) { store(wide[j] + p * t.out_pixel, sum[p][j]); });
}

/// The activation of pixels that are stored as f32, if there is one.
static void bf16_activate(const Bf16Tile& t, i64 first, i64 pixels) {
  if (t.activation.f == Function::identity) return;
  for (i64 c = 0; c < t.columns; c += kBlock)
    t.activate(t.activation, t.slopes ? t.slopes + c : nullptr, t.wide + first * t.out_pixel + c / kBlock * t.out_block,
               t.out_pixel, t.last ? t.last + first * t.residual_pixel + c / kBlock * t.residual_block : nullptr,
               t.residual_pixel, pixels, kBlock);
}

/// Whether tiles of P pixels may be two short rows (NarrowSum::run).
template <int P>
constexpr bool kTwoRows = kWidth == kBlock&& P % 2 == 0 && P >= 2 * kShortestRow;

template <int P, int V, int Rows = 1>
static inline __attribute__((always_inline)) void bf16_block(const Bf16Tile& t, i64 column) {
  Vec sum[P][V], bias[V];
#pragma GCC unroll 2
  for (int j = 0; j < V; ++j) bias[j] = t.bias ? load(t.bias + column + j * kWidth) : Vec{};
  each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) { sum[p][j] = bias[j]; });
  if constexpr (V == 2) both_sums<Bf16Dots, P, Rows>(t.sum, column, sum);
  else narrow_sums<Bf16Dots, P, Rows>(t.sum, 0, column, sum);
  bf16_finish<P>(t, 0, column, sum);
}

/// 16 columns, of those of bf16 zeros for the others.
template <int P>
static inline __attribute__((always_inline)) void bf16_half_block(const Bf16Tile& t) {
  for (i64 c = 0; c < kBlock; c += kHalf * kWidth) bf16_block<P, kHalf>(t, c);
  for (int p = 0; kWidth < kBlock && !t.wide && p < P; ++p)
    for (i64 c = kBlock; c < kColumns; c += 2 * kWidth) store_bf16(t.out + p * t.out_pixel + c, Vec{}, Vec{});
}

template <int P>
static void bf16_pixels(const Bf16Tile& t, int pixels) {
  if constexpr (P > 0) {
    if (pixels != P) return bf16_pixels<P - 1>(t, pixels);
    const bool half = t.columns <= kBlock;
    if constexpr (kTwoRows<P>)
      if (t.sum.run != 0) return half ? bf16_block<P, kHalf, 2>(t, 0) : bf16_block<P, 2, 2>(t, 0);
    if (half) return bf16_half_block<P>(t);
    for (i64 c = 0; c < kColumns; c += 2 * kWidth) bf16_block<P, 2>(t, c);
  }
}

static void bf16(const Bf16Tile& t, int pixels) {
  auto tile = t;
  in_parts(pixels, kPixels, [&](i64 first, int now) {
    tile.sum.in = t.sum.in + first * t.sum.pixel;
    if (t.residual) tile.residual = t.residual + first * t.residual_pixel;
    if (t.wide_residual) tile.wide_residual = t.wide_residual + first * t.residual_pixel;
    if (t.wide) tile.wide = t.wide + first * t.out_pixel;
    else tile.out = t.out + first * t.out_pixel;
    bf16_pixels<kPixels>(tile, now);
  });
  bf16_activate(t, 0, pixels);
}

// Uses what bf16 is.
#include "fast/isa/few_rows.inl"

template <class Dots, class Sum, int P>
static void sum_pixels(const SumTile& t, int pixels) {
  if constexpr (P > 0) {
    if (pixels != P) return sum_pixels<Dots, Sum, P - 1>(t, pixels);
    for (i64 column = 0; column < t.columns; column += 2 * kWidth) {
      Sum sum[P][2] = {};
      narrow_sums<Dots, P>(t.sum, 0, column, sum);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
          const i64 c = column + j * kWidth;
          store_words(t.out + p * t.out_pixel + c / kBlock * t.out_block + c % kBlock, (Words)sum[p][j]);
        }
    }
  }
}

template <class Dots, class Sum>
static void sums(const SumTile& t, int pixels) {
  auto tile = t;
  in_parts(pixels, kPixels, [&](i64 first, int now) {
    tile.sum.in = t.sum.in + first * t.sum.pixel;
    tile.out = t.out + first * t.out_pixel;
    sum_pixels<Dots, Sum, kPixels>(tile, now);
  });
}

[[gnu::always_inline]] inline Vec even_of(Words w) { return (Vec)(w << 16); }
[[gnu::always_inline]] inline Vec odd_of(Words w) { return (Vec)(w & 0xffff0000u); }

// These use the halves of words.
#include "fast/isa/narrow_winograd.inl"

/// Pixels from `in` on, stored from place `to` on.
template <int P, class Function>
static inline __attribute__((always_inline)) void bf16_depthwise_block(const Bf16DepthwiseRows& r, const Word* in,
                                                                       i64 to, const Function& f) {
  for (i64 part = 0; part < kBlock; part += kWidth) {
    Vec even[P], odd[P];
    const Vec bias = r.bias ? load(r.bias + part) : Vec{}, odd_bias = r.bias ? load(r.bias + kBlock + part) : Vec{};
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) {
      even[p] = bias;
      odd[p] = odd_bias;
    }
    for (i64 tap = 0; tap < r.tap_count; ++tap) {
      const float* weights = r.weights + tap * 2 * kBlock + part;
      const Vec w = load(weights), odd_w = load(weights + kBlock);
      const Word* from = in + r.taps[tap] + part;
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        const Words v = load_words(from + p * r.step);
        even[p] = fma(even_of(v), w, even[p]);
        odd[p] = fma(odd_of(v), odd_w, odd[p]);
      }
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) {
      even[p] = f(even[p]);
      odd[p] = f(odd[p]);
      if (r.wide) {
        store(r.wide + (to + p) * 2 * kBlock + part, even[p]);
        store(r.wide + (to + p) * 2 * kBlock + kBlock + part, odd[p]);
      } else {
        store_words(r.out + (to + p) * kBlock + part, merge(even[p], odd[p]));
      }
    }
  }
}

/// What follows the sums of a depthwise convolution: calls pass(f) with bounds, or a function of what becomes bf16.
template <class Pass>
[[gnu::always_inline]] inline void with_ending(const Bf16DepthwiseRows& r, Pass pass) {
  if (r.narrow.f != Function::identity) return with_narrow(r.narrow, pass);
  const Vec low = spread(r.low), high = spread(r.high);
  pass([=](Vec v) __attribute__((always_inline)) { return min(high, max(low, v)); });
}

static void bf16_depthwise(const Bf16DepthwiseRows& r) {
  with_ending(
      r, [&](auto f) __attribute__((always_inline)) {
        for (i64 y = 0; y < r.rows; ++y) {
          const Word* in = r.in + y * r.row;
          i64 x = 0;
          for (; x + 7 <= r.pixels; x += 7) bf16_depthwise_block<7>(r, in + x * r.step, y * r.pixels + x, f);
          for (; x + 2 <= r.pixels; x += 2) bf16_depthwise_block<2>(r, in + x * r.step, y * r.pixels + x, f);
          for (; x < r.pixels; ++x) bf16_depthwise_block<1>(r, in + x * r.step, y * r.pixels + x, f);
        }
      });
}

template <int P, bool kMaximum>
static inline __attribute__((always_inline)) void bf16_pool_block(const PoolRow& r, i64 x) {
  const Vec start = kMaximum ? spread(-__builtin_inff()) : Vec{}, size = spread(r.size);
  for (i64 part = 0; part < kBlock; part += kWidth) {
    Vec even[P], odd[P];
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) even[p] = odd[p] = start;
    for (i64 tap = 0; tap < r.tap_count; ++tap) {
      const Word* in = reinterpret_cast<const Word*>(r.in) + r.taps[tap] + x * r.step + part;
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        const Words v = load_words(in + p * r.step);
        even[p] = kMaximum ? max(even_of(v), even[p]) : even[p] + even_of(v);
        odd[p] = kMaximum ? max(odd_of(v), odd[p]) : odd[p] + odd_of(v);
      }
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p)
      store_words(reinterpret_cast<Word*>(r.out) + (x + p) * kBlock + part,
                  kMaximum ? merge(even[p], odd[p]) : merge(even[p] / size, odd[p] / size));
  }
}

static void bf16_pool(const PoolRow& r) {
  i64 x = 0;
  for (; x + 4 <= r.pixels; x += 4) r.maximum ? bf16_pool_block<4, true>(r, x) : bf16_pool_block<4, false>(r, x);
  for (; x < r.pixels; ++x) r.maximum ? bf16_pool_block<1, true>(r, x) : bf16_pool_block<1, false>(r, x);
}

// Uses hswish().
#include "fast/isa/elements_bf16.inl"

static void merge_bf16(const float* x, Word* y, i64 pixels) {
  for (i64 p = 0; p < pixels; ++p, x += 2 * kBlock, y += kBlock)
    for (i64 part = 0; part < kBlock; part += kWidth)
      store_words(y + part, merge(load(x + part), load(x + kBlock + part)));
}

static void to_bf16(const float* x, std::uint16_t* y, i64 n) {
  i64 i = 0;
  for (; i + kWidth <= n; i += kWidth) store_bf16(y + i, load(x + i));
  if (i == n) return;
  float lanes[kWidth] = {};
  std::uint16_t rounded[kWidth];
  for (i64 j = 0; i + j < n; ++j) lanes[j] = x[i + j];
  store_bf16(rounded, load(lanes));
  for (i64 j = 0; i + j < n; ++j) y[i + j] = rounded[j];
}

static void rows_to_bf16(const float* x, i64 row, std::uint16_t* y, i64 to, i64 rows, i64 n) {
  for (i64 r = 0; r < rows; ++r, x += row, y += to)
    if (n == 2 * kWidth) store_bf16(y, load(x), load(x + kWidth));
    else if (n == kWidth) store_bf16(y, load(x));
    else to_bf16(x, y, n);
}

static void from_bf16(const std::uint16_t* x, float* y, i64 n) {
  i64 i = 0;
  for (; i + kWidth <= n; i += kWidth) store(y + i, load_bf16(x + i));
  for (; i < n; ++i) {
    const Word bits = Word{x[i]} << 16;
    __builtin_memcpy(y + i, &bits, sizeof bits);
  }
}

static void lane_sums(const std::uint16_t* x, i64 pixels, const float* mean, float* to) {
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    const Vec minus = mean ? load(mean + lane) : Vec{};
    const auto add = [&](auto term) __attribute__((always_inline)) {
      Vec sum[4] = {};
      i64 p = 0;
      for (; p + 4 <= pixels; p += 4)
        for (int j = 0; j < 4; ++j) sum[j] = sum[j] + term(load_bf16(x + (p + j) * 2 * kBlock + lane));
      for (; p < pixels; ++p) sum[0] = sum[0] + term(load_bf16(x + p * 2 * kBlock + lane));
      store(to + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    };
    if (mean) add([=](Vec v) { return (v - minus) * (v - minus); });
    else add([](Vec v) { return v; });
  }
}

static void lane_normalize(const std::uint16_t* x, i64 pixels, const float* mean, const float* scale, const float* bias,
                           bool gelu, std::uint16_t* y) {
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    const Vec minus = load(mean + lane), times = load(scale + lane), plus = load(bias + lane);
    const auto pass = [&](auto apply) __attribute__((always_inline)) {
      for (i64 i = lane; i < pixels * 2 * kBlock; i += 2 * kBlock)
        store_bf16(y + i, apply(fma(load_bf16(x + i) - minus, times, plus)));
    };
    if (gelu) pass([](Vec v) { return gelu_short(v); });
    else pass([](Vec v) { return v; });
  }
}

static void pair_rows(const std::uint16_t* x, i64 row, i64 rows, i64 columns, Word* to) {
  const auto pair = [&](const std::uint16_t* even, const std::uint16_t* odd) {
    for (i64 c = 0; c < kColumns; ++c) to[c] = Word{even[c]} | Word{odd[c]} << 16;
  };
  for (i64 r = 0; r < rows; r += 2, x += 2 * row, to += kColumns) {
    if (columns == kColumns && r + 1 < rows) {
      pair(x, x + row);
      continue;
    }
    std::uint16_t lines[2][kColumns] = {};
    for (i64 i = 0; i < 2 && r + i < rows; ++i)
      for (i64 c = 0; c < columns; ++c) lines[i][c] = x[i * row + c];
    pair(lines[0], lines[1]);
  }
}

// These use narrow_sums().
#include "fast/isa/narrow_u8.inl"

// These use the vectors of levels.
#include "fast/isa/levels.inl"

static constexpr NarrowTable narrow_table(const char* name) {
  return {.name = name,
          .pixels = kPixels,
          .swishes = kSwishes,
          .adds_pairs = kAddsPairs,
          .bf16 = bf16,
          .bf16_few_rows = bf16_few_rows,
          .bf16_depthwise = bf16_depthwise,
          .bf16_winograd_input = bf16_winograd_input,
          .bf16_winograd_output = bf16_winograd_output,
          .merge_bf16 = merge_bf16,
          .bf16_pool = bf16_pool,
          .u8 = u8,
          .i16_sums = sums<I16Dots, Words>,
          .bf16_sums = sums<Bf16Dots, Vec>,
          .u8_winograd_input = u8_winograd_input,
          .u8_winograd_output = u8_winograd_output,
          .u8_depthwise = u8_depthwise,
          .u8_pool = u8_pool,
          .to_u8 = to_u8,
          .rows_to_u8 = rows_to_u8,
          .pixels_to_u8 = pixels_to_u8,
          .bf16_elements = bf16_elements,
          .to_bf16 = to_bf16,
          .rows_to_bf16 = rows_to_bf16,
          .from_bf16 = from_bf16,
          .lane_sums = lane_sums,
          .lane_normalize = lane_normalize,
          .pair_rows = pair_rows,
          .sixteen_to_u8 = sixteen_to_u8,
          .sixteen_from_u8 = sixteen_from_u8,
          .u8_finish_aside = u8_finish_aside};
}
