// Depthwise convolution of u8 by i8 with the instruction that multiplies fours: the bytes of several taps, interleaved,
// make words. Of 3 × 3 taps the three of a column (columns.inl). For AVX-512, before narrow.inl.

/// Four vectors of bytes become the words of 64 channels: lane l of vector v holds channel l/4·16 + v·4 + l%4.
[[gnu::always_inline]] inline void interleave(__m512i a, __m512i b, __m512i c, __m512i d, Words (&to)[4]) {
  const auto ab = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d),
             cd_high = _mm512_unpackhi_epi8(c, d);
  to[0] = (Words)_mm512_unpacklo_epi16(ab, cd);
  to[1] = (Words)_mm512_unpackhi_epi16(ab, cd);
  to[2] = (Words)_mm512_unpacklo_epi16(ab_high, cd_high);
  to[3] = (Words)_mm512_unpackhi_epi16(ab_high, cd_high);
}

/// What follows the sums of a pixel.
struct U8Ending {
  Vec scale[4], shift[4], low, high;
  LevelBounds bounds;

  /// `pair`: two pixels of 32 channels lie where one of 64 does.
  U8Ending(const U8DepthwiseRows& r, bool pair) : low(spread(r.low)), high(spread(r.high)), bounds(r.low, r.high) {
    const auto lanes = [&](const float* p) {
      const auto four = [&](int i) { return _mm_loadu_ps(p + (pair ? i % 2 : i) * 16); };
      const auto first = _mm512_insertf32x4(_mm512_castps128_ps512(four(0)), four(1), 1);
      return _mm512_insertf32x4(_mm512_insertf32x4(first, four(2), 2), four(3), 3);
    };
    for (int v = 0; v < 4; ++v) {
      scale[v] = lanes(r.scale + 4 * v);
      shift[v] = lanes(r.shift + 4 * v);
    }
    if (!r.lows) return;
    const auto bytes = [&](const std::uint8_t* p) {
      return pair ? _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))
                  : _mm512_loadu_si512(p);
    };
    bounds.low = bytes(r.lows);
    bounds.high = bytes(r.highs);
  }
  [[gnu::always_inline]] Vec value(const Ints (&sum)[4], int v) const {
    return fused(__builtin_convertvector(sum[v], Vec), scale[v], shift[v]);
  }
  [[gnu::always_inline]] __m512i levels(const U8DepthwiseRows& r, const Ints (&sum)[4]) const {
    const auto packed = [](auto level) __attribute__((always_inline)) {
      return _mm512_packus_epi16(_mm512_packs_epi32(level(0), level(1)), _mm512_packs_epi32(level(2), level(3)));
    };
    if (r.small)
      return bounds.within(
          packed([&](int v) __attribute__((always_inline)) { return _mm512_cvtps_epi32(value(sum, v)); }));
    return bounds.within(packed([&](int v) __attribute__((always_inline)) {
      return _mm512_cvtps_epi32(min(high, max(low, value(sum, v))));
    }));
  }
  [[gnu::always_inline]] void store_pixel(const U8DepthwiseRows& r, i64 i, const Ints (&sum)[4]) const {
    if (!r.wide) return _mm512_storeu_si512(r.out + i * 64, levels(r, sum));
    for (int v = 0; v < 4; ++v) {
      float lanes[16];
      store(lanes, min(high, max(low, value(sum, v))));
      for (i64 block = 0; block < r.wide_blocks; ++block)
        __builtin_memcpy(r.wide + block * r.wide_block + i * 16 + v * 4, lanes + block * 4, 16);
    }
  }
};

/// The words that one instruction multiplies: the bytes of four taps, interleaved. Where there are fewer, zeros.
template <class Bytes>
[[gnu::always_inline]] inline void four_taps(i64 count, Bytes bytes, Words (&to)[4]) {
  const auto zero = _mm512_setzero_si512();
  interleave(bytes(0), count > 1 ? bytes(1) : zero, count > 2 ? bytes(2) : zero, count > 3 ? bytes(3) : zero, to);
}

/// The words of a column.
using ByteColumn = Words[4];

/// The sums of a pixel.
[[gnu::always_inline]] inline void add_columns(const Words (&weights)[3][4], const ByteColumn& a, const ByteColumn& b,
                                               const ByteColumn& c, Ints (&sum)[4]) {
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) {
    dot_u8(a[v], weights[0][v], sum[v]);
    dot_u8(b[v], weights[1][v], sum[v]);
    dot_u8(c[v], weights[2][v], sum[v]);
  }
}

/// Rows by twos of which at most 32 channels count: those of the second row take the place of the others. Gives the
/// number of rows.
template <int kStep>
static i64 u8_depthwise3_pairs(const U8DepthwiseRows& r) {
  const auto half = [](const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); };
  Words weights[3][4];
  for (int c = 0; c < 3; ++c)
    four_taps(
        3, [&](i64 t) { return _mm512_broadcast_i64x4(half(r.weights + (3 * t + c) * 64)); }, weights[c]);
  const U8Ending ending(r, true);
  i64 y = 0;
  for (; y + 2 <= r.rows; y += 2) {
    const Word* in = r.in + y * r.row;
    const auto read = [&](i64 x, ByteColumn & to) __attribute__((always_inline)) {
      four_taps(
          3,
          [&](i64 t) {
            const Word* from = in + r.taps[3 * t] + x * kBlock;
            return _mm512_inserti64x4(_mm512_castsi256_si512(half(from)), half(from + r.row), 1);
          },
          to);
    };
    const auto sum = [&](i64 x, const ByteColumn& a, const ByteColumn& b, const ByteColumn& c)
        __attribute__((always_inline)) {
      Ints sums[4] = {};
      add_columns(weights, a, b, c, sums);
      const auto levels = ending.levels(r, sums);
      auto* out = r.out + (y * r.pixels + x) * 64;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(levels));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + r.pixels * 64), _mm512_extracti64x4_epi64(levels, 1));
    };
    columns<kStep, ByteColumn>(r.pixels, read, sum);
  }
  return y;
}

/// Rows by themselves, or by twos where half of a block's channels count.
template <int kStep>
static void u8_depthwise3(const U8DepthwiseRows& r) {
  i64 y = r.channels <= 32 && !r.wide ? u8_depthwise3_pairs<kStep>(r) : 0;
  if (y == r.rows) return;
  Words weights[3][4];
  for (int c = 0; c < 3; ++c)
    four_taps(
        3, [&](i64 t) { return _mm512_loadu_si512(r.weights + (3 * t + c) * 64); }, weights[c]);
  const U8Ending ending(r, false);
  for (; y < r.rows; ++y) {
    const Word* in = r.in + y * r.row;
    const auto read = [&](i64 x, ByteColumn & to) __attribute__((always_inline)) {
      four_taps(
          3, [&](i64 t) { return _mm512_loadu_si512(in + r.taps[3 * t] + x * kBlock); }, to);
    };
    const auto sum = [&](i64 x, const ByteColumn& a, const ByteColumn& b, const ByteColumn& c)
        __attribute__((always_inline)) {
      Ints sums[4] = {};
      add_columns(weights, a, b, c, sums);
      ending.store_pixel(r, y * r.pixels + x, sums);
    };
    columns<kStep, ByteColumn>(r.pixels, read, sum);
  }
}

// Four taps at a time.
static void u8_depthwise(const U8DepthwiseRows& r) {
  const auto step = step_of_columns(r);
  if (step == 1) return u8_depthwise3<1>(r);
  if (step == 2) return u8_depthwise3<2>(r);
  constexpr i64 kMaxGroups = 16;
  const i64 whole = r.tap_count / 4, rest = r.tap_count % 4;
  Words weights[kMaxGroups][4];
  for (i64 g = 0; 4 * g < r.tap_count; ++g)
    four_taps(
        r.tap_count - 4 * g, [&](i64 t) { return _mm512_loadu_si512(r.weights + (4 * g + t) * 64); }, weights[g]);
  const U8Ending ending(r, false);
  for (i64 i = 0; i < r.rows * r.pixels; ++i) {
    const Word* in = r.in + i / r.pixels * r.row + i % r.pixels * r.step;
    Ints sum[4] = {};
    const auto add = [&](i64 g, i64 count) __attribute__((always_inline)) {
      Words four[4];
      four_taps(
          count, [&](i64 t) { return _mm512_loadu_si512(in + r.taps[4 * g + t]); }, four);
      for (int v = 0; v < 4; ++v) dot_u8(four[v], weights[g][v], sum[v]);
    };
    for (i64 g = 0; g < whole; ++g) add(g, 4);
    if (rest > 0) add(whole, rest);
    ending.store_pixel(r, i, sum);
  }
}
