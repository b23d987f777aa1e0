// Convolutions of groups: the sums of many pixels by a vector of outputs stay in registers.

/// Pixels whose sums fill the registers, with a vector of weights and what compilers want for a step.
constexpr int kGroupPixels = kWidth == 16 ? 28 : 12;

/// R rows of C pixels, of which the first is at `in` and goes to `out`. Channels are a multiple of kSteps; kSome: there
/// may be fewer outputs than lanes.
template <int R, int C, int kSteps, bool kSome>
static inline __attribute__((always_inline)) void group_block(const GroupRows& g, const float* in, float* out,
                                                              const float* residual) {
  Vec sum[R * C];
#pragma GCC unroll 32
  for (int p = 0; p < R * C; ++p) sum[p] = Vec{};
  const float* w = g.weights;
  for (i64 c = g.first; c < g.end;) {
    const i64 lane = c % kBlock, steps = g.end - c < kBlock - lane ? g.end - c : kBlock - lane;
    const float* channels = in + c / kBlock * g.block + lane;
    for (i64 tap = 0; tap < g.tap_count; ++tap) {
      const float* rows[R];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) rows[r] = channels + g.taps[tap] + r * g.row;
      const auto step = [&](int i) __attribute__((always_inline)) {
        const Vec b = load(w + i * kWidth);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 32
          for (int p = 0; p < C; ++p) add_product(sum[r * C + p], rows[r] + p * kBlock + i, b);
      };
      const auto advance = [&](int by) __attribute__((always_inline)) {
        w += by * kWidth;
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
          rows[r] += by;
          // Otherwise compilers make one of them, with as many distances from it as there are pixels.
          __asm__("" : "+r"(rows[r]));
        }
      };
      for (i64 left = steps; left > 0; left -= kSteps, advance(kSteps))
#pragma GCC unroll 4
        for (int i = 0; i < kSteps; ++i) step(i);
    }
    c += steps;
  }
  const auto read = [&](const float* p) { return kSome ? load_some(p, g.outputs) : load(p); };
  const Vec low = spread(g.low), high = spread(g.high), bias = g.bias ? read(g.bias) : Vec{};
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 32
    for (int p = 0; p < C; ++p) {
      Vec v = sum[r * C + p] + bias;
      const i64 place = r * g.out_row + p * kBlock;
      if (residual) v = v + read(residual + place);
      v = min(high, max(low, v));
      if (kSome) store_some(out + place, v, g.outputs);
      else store(out + place, v);
    }
}

template <int R, int C>
static void group_tile(const GroupRows& g, i64 y, i64 x, i64 pixels) {
  if constexpr (C > 0) {
    if (pixels != C) return group_tile<R, C - 1>(g, y, x, pixels);
    const i64 place = y * g.out_row + x * kBlock;
    const float *in = g.in + y * g.row + x * kBlock, *residual = g.residual ? g.residual + place : nullptr;
    if ((g.first | g.end) % 4 != 0) group_block<R, C, 1, true>(g, in, g.out + place, residual);
    else if (g.outputs < kWidth) group_block<R, C, 4, true>(g, in, g.out + place, residual);
    else group_block<R, C, 4, false>(g, in, g.out + place, residual);
  }
}

/// Short rows share tiles; long ones are cut into tiles of about the same size.
static void group_rows(const GroupRows& g) {
  i64 y = 0;
  for (; 4 * g.pixels <= kGroupPixels && y + 4 <= g.rows; y += 4) group_tile<4, kGroupPixels / 4>(g, y, 0, g.pixels);
  for (; 2 * g.pixels <= kGroupPixels && y + 2 <= g.rows; y += 2) group_tile<2, kGroupPixels / 2>(g, y, 0, g.pixels);
  for (; y < g.rows; ++y)
    in_parts(g.pixels, kGroupPixels, [&](i64 x, int now) { group_tile<1, kGroupPixels>(g, y, x, now); });
}
