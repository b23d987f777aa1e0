// Tiles of u8 by i8, and what follows their sums. Included by narrow.inl.

/// What becomes of the sums of V vectors of columns.
template <int V>
struct U8Values {
  Vec scale[V], shift[V], low, high, own, other, offset, lowest, highest;
  bool rounds;

  [[gnu::always_inline]] U8Values(const U8Tile& t, i64 column)
      : low(spread(t.low)),
        high(spread(t.high)),
        own(spread(t.own)),
        other(spread(t.other)),
        offset(spread(t.offset)),
        lowest(spread(t.min)),
        highest(spread(t.max)),
        rounds(t.rounds) {
#pragma GCC unroll 2
    for (int j = 0; j < V; ++j) {
      scale[j] = load(t.scale + column + j * kWidth);
      shift[j] = load(t.shift + column + j * kWidth);
    }
  }

  /// Rounded once, on all instruction sets.
  [[gnu::always_inline]] Vec raw(Ints sum, int j) const {
    return fused(__builtin_convertvector(sum, Vec), scale[j], shift[j]);
  }
  [[gnu::always_inline]] Vec bounded(Ints sum, int j) const { return min(high, max(low, raw(sum, j))); }
  [[gnu::always_inline]] Vec with(Vec v, Vec residual) const {
    if (rounds) v = __builtin_convertvector(to_levels(v), Vec);
    v = v * own + (residual * other + offset);
    return min(highest, max(lowest, v));
  }
};

/// Calls pass(f) with an activation.
template <class Pass>
[[gnu::always_inline]] inline void with_activation(const U8Activation& a, Pass pass) {
  if (a.below) pass(Slopes{});
  else with_narrow(a.f, pass);
}

/// Stores levels of any number of pixels from `first` on, behind an activation; their sums lie in memory.
[[gnu::noinline]] static void u8_activated(const U8Tile& t, i64 first, i64 column, i64 pixels, const Ints (*sum)[2]) {
  const U8Values<2> values(t, column);
  const auto& a = t.activation;
  const auto at = [&](const float* p, int j) { return p ? load(p + column + j * kWidth) : Vec{}; };
  const Vec by[2] = {at(a.by, 0), at(a.by, 1)}, plus[2] = {at(a.plus, 0), at(a.plus, 1)},
            below[2] = {at(a.below, 0), at(a.below, 1)};
  std::uint8_t* const out = t.out + first * t.out_pixel + column;
  const i64 step = t.out_pixel;
  with_activation(
      a, [&](auto f) __attribute__((always_inline)) {
        const auto level = [&](i64 p, int j) __attribute__((always_inline)) {
          const Vec v = activated(f, values.raw(sum[p][j], j), by[j], plus[j], below[j]);
          return min(values.high, max(values.low, v));
        };
        for (i64 p = 0; p < pixels; p += 2) {
          const i64 q = p + 1 < pixels ? p + 1 : p;
          store_u8(out + p * step, out + q * step, {level(p, 0), level(p, 1)}, {level(q, 0), level(q, 1)});
        }
      });
}

/// Stores the sums of P pixels from `first` on by V vectors of columns, from `column` on.
template <int P, int V>
static inline __attribute__((always_inline)) void u8_finish(const U8Tile& t, i64 first, i64 column,
                                                            const Ints (&sum)[P][V]) {
  if (t.activation) {
    alignas(64) Ints sums[P][2] = {};
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) { sums[p][j] = sum[p][j]; });
    return u8_activated(t, first, column, P, sums);
  }
  U8Values<V> values(t, column);
  const auto raw = [&](int p, int j) __attribute__((always_inline)) { return values.raw(sum[p][j], j); };
  const auto value = [&](int p, int j) __attribute__((always_inline)) {
    const Vec v = values.bounded(sum[p][j], j);
    const i64 c = column + j * kWidth, pixel = (first + p) * t.residual_pixel;
    if (t.residual) return values.with(v, load_u8(t.residual + pixel + c));
    if (t.wide_residual)
      return values.with(v, load(t.wide_residual + pixel + c / kBlock * t.residual_block + c % kBlock));
    return v;
  };
  if (t.wide) {
    each_vector<P, V>([&](int p, int j) __attribute__((always_inline)) {
      const i64 c = column + j * kWidth;
      store(t.wide + (first + p) * t.out_pixel + c / kBlock * t.out_block + c % kBlock, value(p, j));
    });
    return;
  }
  std::uint8_t* out = t.out + first * t.out_pixel + column;
  if constexpr (V == 1) {
    if (t.lows) {
      values.low = load_u8(t.lows + column);
      values.high = load_u8(t.highs + column);
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) store_u8(out + p * t.out_pixel, value(p, 0));
    return;
  }
  // Bounds of levels are taken where they are bytes: rounding keeps the order, and there are fewer vectors. To those of
  // all bytes they saturate.
  const auto pairs = [&](const auto& of, const auto& bounds) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int p = 0; p < P; p += 2) {
      const int q = p + 1 < P ? p + 1 : p;
      store_u8(out + p * t.out_pixel, out + q * t.out_pixel, {of(p, 0), of(p, 1)}, {of(q, 0), of(q, 1)}, bounds);
    }
  };
  if (t.lows) {
    const LevelBounds bounds(t.lows + column, t.highs + column);
    if (t.small) pairs(raw, bounds);
    else pairs(value, bounds);
    return;
  }
  if (t.small && !t.residual && !t.wide_residual && P % 2 == 0) {
    if (t.low <= 0 && t.high >= 255) pairs(raw, Saturated{});
    else pairs(raw, LevelBounds(t.low, t.high));
    return;
  }
#pragma GCC unroll 16
  for (int p = 0; p + 1 < P; p += 2)
    store_u8(out + p * t.out_pixel, out + (p + 1) * t.out_pixel, {value(p, 0), value(p, 1)},
             {value(p + 1, 0), value(p + 1, 1)});
  if (P % 2 == 1)
    for (int j = 0; j < 2; ++j) store_u8(out + (P - 1) * t.out_pixel + j * kWidth, value(P - 1, j));
}

/// The same of any number of pixels, whose sums lie in memory.
template <class Value>
[[gnu::always_inline]] inline void u8_store_all(const U8Tile& t, i64 column, i64 pixels, Value value) {
  if (t.wide) {
    const auto place = [&](i64 c) { return t.wide + c / kBlock * t.out_block + c % kBlock; };
    float *first = place(column), *second = place(column + kWidth);
    for (i64 p = 0; p < pixels; ++p) {
      store(first + p * t.out_pixel, value(p, 0));
      store(second + p * t.out_pixel, value(p, 1));
    }
    return;
  }
  // Bounds were taken before, or are those of bytes, and what is rounded fits.
  const auto pairs = [&](const auto& bounds) __attribute__((always_inline)) {
    for (i64 p = 0; p < pixels; p += 2) {
      const i64 q = p + 1 < pixels ? p + 1 : p;
      store_u8(t.out + column + p * t.out_pixel, t.out + column + q * t.out_pixel, {value(p, 0), value(p, 1)},
               {value(q, 0), value(q, 1)}, bounds);
    }
  };
  if (t.lows) pairs(LevelBounds(t.lows + column, t.highs + column));
  else if (t.small && !t.residual && !t.wide_residual) pairs(LevelBounds(t.low, t.high));
  else pairs(Saturated{});
}

static void u8_finish_all(const U8Tile& tile, i64 column, i64 pixels, const Ints (*sum)[2]) {
  if (tile.activation) return u8_activated(tile, 0, column, pixels, sum);
  const U8Tile t = tile;  // which bytes that are stored cannot change
  const U8Values<2> values(t, column);
  const auto raw = [&](i64 p, int j) __attribute__((always_inline)) { return values.raw(sum[p][j], j); };
  const auto bounded = [&](i64 p, int j) __attribute__((always_inline)) { return values.bounded(sum[p][j], j); };
  const auto with = [&](auto residual) __attribute__((always_inline)) {
    u8_store_all(
        t, column, pixels, [&](i64 p, int j) __attribute__((always_inline)) {
          return values.with(bounded(p, j), residual(p * t.residual_pixel, column + j * kWidth));
        });
  };
  if (t.residual) {
    with([&](i64 pixel, i64 c) __attribute__((always_inline)) { return load_u8(t.residual + pixel + c); });
  } else if (t.wide_residual) {
    with([&](i64 pixel, i64 c) __attribute__((always_inline)) {
      return load(t.wide_residual + pixel + c / kBlock * t.residual_block + c % kBlock);
    });
  } else if (t.small && !t.wide) {
    u8_store_all(t, column, pixels, raw);
  } else {
    u8_store_all(t, column, pixels, bounded);
  }
}

/// The sums of P pixels. Not inline: all registers are theirs.
template <int P>
[[gnu::noinline]] static void u8_sums_of(const NarrowSum& t, i64 column, Ints (*to)[2]) {
  Ints sum[P][2] = {};
  if (kAddsPairs && t.excess && t.excess[column / kWidth].fits) pair_sums<P>(t, column, sum);
  else narrow_sums<U8Dots, P>(t, 0, column, sum);
  store_sums<P>(sum, to);
}
template <int P>
[[gnu::always_inline]] inline void u8_sums(const NarrowSum& t, i64 column, int pixels, Ints (*to)[2]) {
  if (pixels == P) return u8_sums_of<P>(t, column, to);
  if constexpr (P > 1) u8_sums<P - 1>(t, column, pixels, to);
}

/// The same, of sums of which the second vector counts where more than 16 columns do.
template <int P>
static inline __attribute__((always_inline)) void u8_finish_columns(const U8Tile& t, i64 first, i64 column,
                                                                    const Ints (&sum)[P][2]) {
  if (kHalf == 2 || t.columns > kBlock) return u8_finish<P>(t, first, column, sum);
  Ints half[P][1];
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) half[p][0] = sum[p][0];
  u8_finish<P>(t, first, column, half);
}

template <int P, int V, int Rows = 1>
static inline __attribute__((always_inline)) void u8_block(const U8Tile& t, i64 column) {
  Ints sum[P][V] = {};
  if constexpr (V == 2) both_sums<U8Dots, P, Rows>(t.sum, column, sum);
  else narrow_sums<U8Dots, P, Rows>(t.sum, 0, column, sum);
  u8_finish<P>(t, 0, column, sum);
}

template <int P>
static void u8_pixels(const U8Tile& t, int pixels) {
  if constexpr (P > 0) {
    if (pixels != P) return u8_pixels<P - 1>(t, pixels);
    const bool half = t.columns <= kBlock;
    if constexpr (kTwoRows<P>)
      if (t.sum.run != 0) return half ? u8_block<P, kHalf, 2>(t, 0) : u8_block<P, 2, 2>(t, 0);
    if (half) {
      for (i64 c = 0; c < kBlock; c += kHalf * kWidth) u8_block<P, kHalf>(t, c);
      return;
    }
    for (i64 c = 0; c < kColumns; c += 2 * kWidth) u8_block<P, 2>(t, c);
  }
}

// These use u8_finish().
#include "fast/isa/narrow_winograd_u8.inl"

/// Small vectors: the sums of many pixels before what follows them, whose start takes as long as some pixels do.
template <int kMost>
static void u8_some(const U8Tile& t, int pixels) {
  if constexpr (kMost == kPixels) return u8_pixels<kPixels>(t, pixels);
  alignas(64) Ints sums[kMost][2];
  for (i64 c = 0; c < t.columns; c += 2 * kWidth) {
    if (!sums_of_all(t.sum, c, pixels, t.filled <= c + kWidth, sums)) {
      auto sum = t.sum;
      in_parts(pixels, kPixels, [&](i64 first, int now) {
        sum.in = t.sum.in + first * t.sum.pixel;
        u8_sums<kPixels>(sum, c, now, sums + first);
      });
    }
    u8_finish_all(t, c, pixels, sums);
  }
}

static void u8(const U8Tile& t, int pixels) {
  constexpr int kMost = kWidth < kBlock ? kMostPixels : kPixels;
  if (pixels <= kMost) return u8_some<kMost>(t, pixels);
  auto tile = t;
  in_parts(pixels, kMost, [&](i64 first, int now) {
    tile.sum.in = t.sum.in + first * t.sum.pixel;
    if (t.residual) tile.residual = t.residual + first * t.residual_pixel;
    if (t.wide_residual) tile.wide_residual = t.wide_residual + first * t.residual_pixel;
    if (t.wide) tile.wide = t.wide + first * t.out_pixel;
    else tile.out = t.out + first * t.out_pixel;
    u8_some<kMost>(tile, now);
  });
}

static void u8_depthwise(const U8DepthwiseRows& r) {
  if (!r.activation) return u8_depthwise_with(r, NoFunction{});
  with_activation(r.activation, [&](const auto& f) { u8_depthwise_with(r, f); });
}
