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

/// Vectors in which lane l of vector v holds channel l/4·16 + v·4 + l%4 become those of 16 channels each.
[[gnu::always_inline]] inline void sixteens(const Vec (&v)[4], Vec (&to)[4]) {
  const auto a = _mm512_shuffle_f32x4(v[0], v[1], 0x44), b = _mm512_shuffle_f32x4(v[2], v[3], 0x44),
             c = _mm512_shuffle_f32x4(v[0], v[1], 0xee), d = _mm512_shuffle_f32x4(v[2], v[3], 0xee);
  to[0] = _mm512_shuffle_f32x4(a, b, 0x88);
  to[1] = _mm512_shuffle_f32x4(a, b, 0xdd);
  to[2] = _mm512_shuffle_f32x4(c, d, 0x88);
  to[3] = _mm512_shuffle_f32x4(c, d, 0xdd);
}

/// What follows the sums of a pixel, of which F is an activation.
template <class F>
struct U8Ending {
  F f;
  Vec scale[4], shift[4], low, high;
  Vec by[kActivates<F> ? 4 : 1], plus[kActivates<F> ? 4 : 1], below[kActivates<F> ? 4 : 1];
  LevelBounds bounds;

  /// `pair`: two pixels of 32 channels lie where one of 64 does.
  U8Ending(const U8DepthwiseRows& r, bool pair, const F& function)
      : f(function), low(spread(r.low)), high(spread(r.high)), bounds(r.low, r.high) {
    const auto lanes = [&](const float* p) {
      const auto four = [&](int i) { return _mm_loadu_ps(p + (pair ? i % 2 : i) * 16); };
      const auto first = _mm512_insertf32x4(_mm512_castps128_ps512(four(0)), four(1), 1);
      return _mm512_insertf32x4(_mm512_insertf32x4(first, four(2), 2), four(3), 3);
    };
    for (int v = 0; v < 4; ++v) {
      scale[v] = lanes(r.scale + 4 * v);
      shift[v] = lanes(r.shift + 4 * v);
      if constexpr (kActivates<F>) {
        by[v] = lanes(r.activation.by + 4 * v);
        plus[v] = lanes(r.activation.plus + 4 * v);
        below[v] = r.activation.below ? lanes(r.activation.below + 4 * v) : Vec{};
      }
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
    if constexpr (kActivates<F>)
      return packed([&](int v) __attribute__((always_inline)) {
        return _mm512_cvtps_epi32(min(high, max(low, activated(f, value(sum, v), by[v], plus[v], below[v]))));
      });
    if (r.small)
      return bounds.within(
          packed([&](int v) __attribute__((always_inline)) { return _mm512_cvtps_epi32(value(sum, v)); }));
    return bounds.within(packed([&](int v) __attribute__((always_inline)) {
      return _mm512_cvtps_epi32(min(high, max(low, value(sum, v))));
    }));
  }
  [[gnu::always_inline]] void floats(const Ints (&sum)[4], Vec (&to)[4]) const {
    const auto bounded = [&](int v) { return min(high, max(low, value(sum, v))); };
    sixteens({bounded(0), bounded(1), bounded(2), bounded(3)}, to);
  }
  [[gnu::always_inline]] void store_pixel(const U8DepthwiseRows& r, i64 i, const Ints (&sum)[4]) const {
    if (!r.wide) return _mm512_storeu_si512(r.out + i * 64, levels(r, sum));
    Vec values[4];
    floats(sum, values);
#pragma GCC unroll 4
    for (i64 block = 0; block < 4; ++block)
      if (block < r.wide_blocks) store(r.wide + block * r.wide_block + i * 16, values[block]);
  }
  /// Of pixel i, and of the one below it.
  [[gnu::always_inline]] void store_pair(const U8DepthwiseRows& r, i64 i, const Ints (&sum)[4]) const {
    if (!r.wide) {
      const auto both = levels(r, sum);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(r.out + i * 64), _mm512_castsi512_si256(both));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(r.out + (i + r.pixels) * 64), _mm512_extracti64x4_epi64(both, 1));
      return;
    }
    Vec values[4];
    floats(sum, values);
#pragma GCC unroll 2
    for (i64 block = 0; block < 2; ++block)
      if (block < r.wide_blocks) {
        float* to = r.wide + block * r.wide_block + i * 16;
        store(to, values[block]);
        store(to + r.pixels * 16, values[2 + block]);
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
template <int kStep, class F>
static i64 u8_depthwise3_pairs(const U8DepthwiseRows& r, const F& f) {
  const auto half = [](const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); };
  Words weights[3][4];
  for (int c = 0; c < 3; ++c)
    four_taps(
        3, [&](i64 t) { return _mm512_broadcast_i64x4(half(r.weights + (3 * t + c) * 64)); }, weights[c]);
  const U8Ending<F> ending(r, true, f);
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
      ending.store_pair(r, y * r.pixels + x, sums);
    };
    columns<kStep, ByteColumn>(r.pixels, read, sum);
  }
  return y;
}

/// Rows by themselves, or by twos where half of a block's channels count.
template <int kStep, class F>
static void u8_depthwise3(const U8DepthwiseRows& r, const F& f) {
  i64 y = r.channels <= 32 ? u8_depthwise3_pairs<kStep>(r, f) : 0;
  if (y == r.rows) return;
  Words weights[3][4];
  for (int c = 0; c < 3; ++c)
    four_taps(
        3, [&](i64 t) { return _mm512_loadu_si512(r.weights + (3 * t + c) * 64); }, weights[c]);
  const U8Ending<F> ending(r, false, f);
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
template <class F>
static void u8_depthwise_with(const U8DepthwiseRows& r, const F& f) {
  const auto step = step_of_columns(r);
  if (step == 1) return u8_depthwise3<1>(r, f);
  if (step == 2) return u8_depthwise3<2>(r, f);
  constexpr i64 kMaxGroups = 16;
  const i64 whole = r.tap_count / 4, rest = r.tap_count % 4;
  Words weights[kMaxGroups][4];
  for (i64 g = 0; 4 * g < r.tap_count; ++g)
    four_taps(
        r.tap_count - 4 * g, [&](i64 t) { return _mm512_loadu_si512(r.weights + (4 * g + t) * 64); }, weights[g]);
  const U8Ending<F> ending(r, false, f);
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
