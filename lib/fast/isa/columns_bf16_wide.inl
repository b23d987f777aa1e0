// Depthwise convolution of 5 × 5 and 7 × 7 taps in bf16 by the instruction that multiplies pairs: two neighboring
// pixels of a column make words, the last one with zeros. What is read for a tile stays in registers for all its taps.
// For AVX-512, behind columns_bf16.inl.

/// Pixels of a row that are computed at once.
constexpr int kColumnPixels = 7;

/// The size of a kernel of neighboring taps; else 0.
static int kernel_of_columns(const Bf16DepthwiseRows& r) {
  for (int size = 5; size <= 7; size += 2) {
    if (r.tap_count != size * size) continue;
    for (i64 t = 0; t < r.tap_count; ++t)
      if (r.taps[t] != r.taps[t / size * size] + t % size * kBlock) return 0;
    return size;
  }
  return 0;
}

/// What follows the sums of pixels, of both halves of their lanes.
static void finish_columns(const Bf16DepthwiseRows& r, i64 place, const Vec (&sums)[2][kColumnPixels]) {
  with_ending(
      r, [&](auto f) __attribute__((always_inline)) {
        for (int p = 0; p < kColumnPixels; ++p) store_unpacked(r, place + p, f(sums[0][p]), f(sums[1][p]));
      });
}

/// Adds up one half of the lanes. `rows`: two for each pair of taps; weights [pair][column].
template <int kSize, int kStep, int kHalf>
static inline __attribute__((always_inline)) void add_columns(const Word* const (&rows)[kSize + 1],
                                                              const Words (&weights)[(kSize + 1) / 2][kSize],
                                                              Vec (&sum)[kColumnPixels]) {
  constexpr int kReach = (kColumnPixels - 1) * kStep + kSize;
  // A sum waits for itself longer than the others take: of every other tap there is a second one.
  Vec other[kColumnPixels] = {};
#pragma GCC unroll 1
  for (int i = 0; i < (kSize + 1) / 2; ++i) {
    Words column[kReach];
#pragma GCC unroll 24
    for (int c = 0; c < kReach; ++c) {
      const auto upper = _mm512_loadu_si512(rows[2 * i] + c * kBlock),
                 lower = _mm512_loadu_si512(rows[2 * i + 1] + c * kBlock);
      column[c] = (Words)(kHalf == 0 ? _mm512_unpacklo_epi16(upper, lower) : _mm512_unpackhi_epi16(upper, lower));
    }
#pragma GCC unroll 8
    for (int tap = 0; tap < kSize; ++tap)
#pragma GCC unroll 8
      for (int p = 0; p < kColumnPixels; ++p)
        dot_bf16(column[p * kStep + tap], weights[i][tap], tap % 2 == 0 ? sum[p] : other[p]);
  }
  for (int p = 0; p < kColumnPixels; ++p) sum[p] = sum[p] + other[p];
}

template <int kSize, int kStep>
static void bf16_depthwise_wide(const Bf16DepthwiseRows& r) {
  constexpr int kPairs = (kSize + 1) / 2, kReach = (kColumnPixels - 1) * kStep + kSize;
  alignas(64) static constexpr Word kZeros[kReach * kBlock] = {};
  Words weights[2][kPairs][kSize];
  Vec bias[2] = {};
  for (int half = 0; half < 2; ++half) {
    if (r.bias) bias[half] = unpacked(r.bias, half);
    const auto tap = [&](int row, int column) {
      return (Words)unpacked(r.weights + (row * kSize + column) * 2 * kBlock, half);
    };
    for (int i = 0; i < kPairs; ++i)
      for (int c = 0; c < kSize; ++c)
        weights[half][i][c] = tap(2 * i, c) >> 16 | (2 * i + 1 < kSize ? tap(2 * i + 1, c) & 0xffff0000u : Words{});
  }
  for (i64 y = 0; y < r.rows; ++y)
    for (i64 first = 0; first < r.pixels; first += kColumnPixels) {
      // The last pixels of a row may be computed again.
      const i64 x = first + kColumnPixels <= r.pixels ? first : r.pixels - kColumnPixels;
      const Word* rows[kSize + 1];
      for (int i = 0; i < kSize; ++i) rows[i] = r.in + y * r.row + x * kStep * kBlock + r.taps[i * kSize];
      rows[kSize] = kZeros;
      Vec sums[2][kColumnPixels];
      for (int half = 0; half < 2; ++half)
        for (int p = 0; p < kColumnPixels; ++p) sums[half][p] = bias[half];
      add_columns<kSize, kStep, 0>(rows, weights[0], sums[0]);
      add_columns<kSize, kStep, 1>(rows, weights[1], sums[1]);
      finish_columns(r, y * r.pixels + x, sums);
    }
}

static void bf16_depthwise_columns(const Bf16DepthwiseRows& r) {
  const auto step = step_of_columns(r);
  if (step > 0) return step == 1 ? bf16_depthwise3<1>(r) : bf16_depthwise3<2>(r);
  const bool twice = r.step == 2 * kBlock;
  if (r.pixels >= kColumnPixels && (r.step == kBlock || twice)) {
    const int size = kernel_of_columns(r);
    if (size == 5) return twice ? bf16_depthwise_wide<5, 2>(r) : bf16_depthwise_wide<5, 1>(r);
    if (size == 7) return twice ? bf16_depthwise_wide<7, 2>(r) : bf16_depthwise_wide<7, 1>(r);
  }
  bf16_depthwise(r);
}
