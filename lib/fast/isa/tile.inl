// Packed products: the sums of a few pixels by a panel's columns stay in registers.

/// With vectors of eight the caches are asked for weights so many steps before they are used, since only a half of each
/// line pair of a panel is read at a time, and, where there are many blocks of channels, for the pixels' next block.
constexpr i64 kStepsAhead = kWidth == 8 ? 12 : 0, kManyBlocks = 32;

/// Few pixels, whose steps read all columns of a panel, rather wait for weights than multiply:
/// both lines are asked for.
constexpr i64 kFewStepsAhead = 64;

/// A vector of columns of P pixels, of which value(p) is the sum, with what is added.
template <int P, class Value>
static inline __attribute__((always_inline)) void packed_store(const Tile& t, i64 pixel0, i64 column, Value value) {
  const Vec low = spread(t.low), high = spread(t.high), bias = t.bias ? load(t.bias + column) : Vec{};
  const i64 place = column / kBlock, lane = column % kBlock;
  float* out = t.out + pixel0 * t.out_pixel + place * t.out_block + lane;
  if (t.residual) {
    const float* residual = t.residual + pixel0 * t.residual_pixel + place * t.residual_block + lane;
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p)
      store(out + p * t.out_pixel, min(high, max(low, (value(p) + bias) + load(residual + p * t.residual_pixel))));
  } else {
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) store(out + p * t.out_pixel, min(high, max(low, value(p) + bias)));
  }
}

/// kPointwise: one tap, of blocks of channels.
template <int P, int N, bool kPointwise>
static inline __attribute__((always_inline)) void packed_block(const Tile& t, i64 pixel0, i64 column0, i64 columns) {
  constexpr bool kFew = 2 * P <= kPixels && N * kWidth == kColumns;
  constexpr int kBases = (P + 2) / 3;  // three pixels share a base: base, base + pixel, base + 2·pixel
  Vec sum[P][N];
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[p][j] = Vec{};
  const float* w = t.weights + column0;
  const i64 weights_step = t.weights_step ? t.weights_step : columns;
  const i64 pixel = t.pixel;
  const auto step = [&](const float* const(&base)[kBases], i64 i) __attribute__((always_inline)) {
    Vec b[N];
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) b[j] = load(w + j * kWidth);
    if constexpr (kFew) {
      __builtin_prefetch(w + kFewStepsAhead * weights_step, 0, 3);
      __builtin_prefetch(w + kFewStepsAhead * weights_step + kColumns / 2, 0, 3);
    } else if constexpr (kStepsAhead > 0) {
      __builtin_prefetch(w + kStepsAhead * weights_step, 0, 3);
    }
    w += weights_step;
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) {
      const Vec s = spread(base[p / 3][p % 3 * pixel + i]);
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) sum[p][j] = fma(s, b[j], sum[p][j]);
    }
  };
  const auto steps = [&](const float* const(&base)[kBases], i64 count) __attribute__((always_inline)) {
    i64 i = 0;
    for (; i + 2 <= count; i += 2) {
      step(base, i);
      step(base, i + 1);
    }
    if (i < count) step(base, i);
  };
  const float* base[kBases];
  const auto start = [&](i64 offset) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int g = 0; g < kBases; ++g) base[g] = t.in + (pixel0 + 3 * g) * pixel + offset;
  };
  const auto advance = [&](i64 floats) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int g = 0; g < kBases; ++g) base[g] += floats;
  };
  const auto steps_of = [&](i64 block) { return t.last_steps && block + 1 == t.blocks ? t.last_steps : t.steps; };
  const auto next_weights = [&](i64 block) __attribute__((always_inline)) {
    w += block + 1 < t.blocks ? t.weights_skip : t.last_skip;
  };
  if constexpr (kPointwise) {
    start(t.taps[0]);
    const i64 next = t.block;
    const auto pixels_of_blocks = [&](bool many) __attribute__((always_inline)) {
      for (i64 block = 0; block < t.blocks; next_weights(++block), advance(next)) {
        if (many)
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) __builtin_prefetch(base[p / 3] + p % 3 * pixel + next, 0, 3);
        ask(t.ahead);
        steps(base, steps_of(block));
      }
    };
    kStepsAhead > 0 && t.blocks >= kManyBlocks ? pixels_of_blocks(true) : pixels_of_blocks(false);
  } else {
    for (i64 block = 0; block < t.blocks; next_weights(++block))
      for (i64 tap = 0; tap < t.tap_count; ++tap) {
        start(block * t.block + t.taps[tap]);
        i64 left = steps_of(block);
        do {
          ask(t.ahead);
          const i64 now = left < kBlock ? left : kBlock;
          steps(base, now);
          advance(now);
          left -= now;
        } while (left > 0);
      }
  }
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j)
    packed_store<P>(
        t, pixel0, column0 + j * kWidth, [&](int p) __attribute__((always_inline)) { return sum[p][j]; });
}

/// Pixels whose sums by three vectors of columns, or by one, fill the registers. By three a fourth pixel would need all
/// of them, and compilers then keep sums in memory.
constexpr int kPixelsByThree = kWidth == 8 ? 3 : 0, kPixelsByOne = kWidth == 8 ? 12 : kPixels;

/// All columns of P pixels, of which the first `filled` have weights. Two vectors of columns at a time fill the
/// registers with kPixels pixels, four with half as many, of which the weights are then read once, in the order of
/// memory.
template <int P, bool kPointwise>
static void packed_strip(const Tile& t, i64 pixel0, i64 columns, i64 filled) {
  i64 c = 0;
  if constexpr (2 * P <= kPixels && 4 * kWidth <= kColumns)
    for (; c + 4 * kWidth <= filled; c += 4 * kWidth) packed_block<P, 4, kPointwise>(t, pixel0, c, columns);
  if constexpr (P <= kPixelsByThree)
    if (c + 3 * kWidth == filled) packed_block<P, 3, kPointwise>(t, pixel0, c, columns), c = filled;
  if constexpr (P <= kPixels)
    for (; c + 2 * kWidth <= filled; c += 2 * kWidth) packed_block<P, 2, kPointwise>(t, pixel0, c, columns);
  if (c < filled) packed_block<P, 1, kPointwise>(t, pixel0, c, columns), c += kWidth;
  for (; c < columns; c += kWidth) packed_store<P>(t, pixel0, c, [](int) { return Vec{}; });
}

template <int P>
static void packed_tail(const Tile& t, i64 pixel0, int pixels, i64 columns, i64 filled) {
  if constexpr (P > 0) {
    if (pixels == P)
      return t.tap_count == 1 && t.steps <= kBlock ? packed_strip<P, true>(t, pixel0, columns, filled)
                                                   : packed_strip<P, false>(t, pixel0, columns, filled);
    packed_tail<P - 1>(t, pixel0, pixels, columns, filled);
  }
}

/// In tiles of about the same size.
static void packed(const Tile& t, i64 pixels, int columns) {
  const i64 filled = t.filled ? (t.filled + kWidth - 1) / kWidth * kWidth : columns;
  const int most = filled == kWidth                             ? kPixelsByOne
                   : filled == 3 * kWidth && kPixelsByThree > 0 ? kPixelsByThree
                                                                : kPixels;
  in_parts(pixels, most, [&](i64 first, int now) { packed_tail<kPixelsByOne>(t, first, now, columns, filled); });
}
