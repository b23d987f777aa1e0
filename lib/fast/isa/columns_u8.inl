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

/// What follows the sums of a pixel, of which F is an activation, or of two pixels of 32 channels, or four of 16, that
/// lie where one of 64 does.
template <class F, int kTogether>
struct U8Ending {
  F f;
  Vec scale[4], shift[4], low, high;
  Vec by[kActivates<F> ? 4 : 1], plus[kActivates<F> ? 4 : 1], below[kActivates<F> ? 4 : 1];
  LevelBounds bounds;

  U8Ending(const U8DepthwiseRows& r, const F& function)
      : f(function), low(spread(r.low)), high(spread(r.high)), bounds(r.low, r.high) {
    const auto lanes = [&](const float* p) {
      const auto four = [&](int i) { return _mm_loadu_ps(p + i % (4 / kTogether) * 16); };
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
      if constexpr (kTogether == 4) return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
      if constexpr (kTogether == 2)
        return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
      return _mm512_loadu_si512(p);
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
  /// Pixel i, or those together, so many apart.
  [[gnu::always_inline]] void store_pixels(const U8DepthwiseRows& r, i64 i, i64 apart, const Ints (&sum)[4]) const {
    if (!r.wide) {
      const auto all = levels(r, sum);
      const auto to = [&](i64 k) { return reinterpret_cast<__m256i*>(r.out + (i + k * apart) * 64); };
      const auto quarter = [&](i64 k, __m128i part) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to(k)), part); };
      if constexpr (kTogether == 1) {
        _mm512_storeu_si512(to(0), all);
      } else if constexpr (kTogether == 2) {
        _mm256_storeu_si256(to(0), _mm512_castsi512_si256(all));
        _mm256_storeu_si256(to(1), _mm512_extracti64x4_epi64(all, 1));
      } else {
        quarter(0, _mm512_castsi512_si128(all));
        quarter(1, _mm512_extracti32x4_epi32(all, 1));
        quarter(2, _mm512_extracti32x4_epi32(all, 2));
        quarter(3, _mm512_extracti32x4_epi32(all, 3));
      }
      return;
    }
    Vec values[4];
    floats(sum, values);
    constexpr i64 kBlocks = 4 / kTogether;
#pragma GCC unroll 4
    for (i64 v = 0; v < 4; ++v)
      if (v % kBlocks < r.wide_blocks)
        store(r.wide + v % kBlocks * r.wide_block + (i + v / kBlocks * apart) * 16, values[v]);
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
  const U8Ending<F, 2> ending(r, f);
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
      ending.store_pixels(r, y * r.pixels + x, r.pixels, sums);
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
  const U8Ending<F, 1> ending(r, f);
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
      ending.store_pixels(r, y * r.pixels + x, 0, sums);
    };
    columns<kStep, ByteColumn>(r.pixels, read, sum);
  }
}

/// 64 bytes: so many pixels' channels, those of each from pointers[k] + offset on.
template <int kTogether>
[[gnu::always_inline]] inline __m512i pixels_together(const Word* const (&pointers)[kTogether], i64 offset) {
  const auto quarter = [&](int k) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(pointers[k] + offset)); };
  if constexpr (kTogether == 1) {
    return _mm512_loadu_si512(pointers[0] + offset);
  } else if constexpr (kTogether == 2) {
    const auto half = [&](int k) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pointers[k] + offset)); };
    return _mm512_inserti64x4(_mm512_castsi256_si512(half(0)), half(1), 1);
  } else {
    const auto two = _mm512_inserti32x4(_mm512_castsi128_si512(quarter(0)), quarter(1), 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(two, quarter(2), 2), quarter(3), 3);
  }
}

/// Four taps at a time, of pixels [begin, end), whose number is a multiple of those together.
template <int kTogether, class F>
static void u8_depthwise_taps(const U8DepthwiseRows& r, i64 begin, i64 end, const F& f) {
  constexpr i64 kMaxGroups = 16;
  const i64 whole = r.tap_count / 4, rest = r.tap_count % 4;
  Words weights[kMaxGroups][4];
  for (i64 g = 0; 4 * g < r.tap_count; ++g)
    four_taps(
        r.tap_count - 4 * g,
        [&](i64 t) {
          const auto* of_tap = reinterpret_cast<const Word*>(r.weights + (4 * g + t) * 64);
          const Word* same[kTogether];
          for (auto& p : same) p = of_tap;
          return pixels_together(same, 0);
        },
        weights[g]);
  const U8Ending<F, kTogether> ending(r, f);
  for (i64 i = begin; i < end; i += kTogether) {
    const Word* in[kTogether];
    for (int k = 0; k < kTogether; ++k) in[k] = r.in + (i + k) / r.pixels * r.row + (i + k) % r.pixels * r.step;
    Ints sum[4] = {};
    const auto add = [&](i64 g, i64 count) __attribute__((always_inline)) {
      Words four[4];
      four_taps(
          count, [&](i64 t) { return pixels_together(in, r.taps[4 * g + t]); }, four);
      for (int v = 0; v < 4; ++v) dot_u8(four[v], weights[g][v], sum[v]);
    };
    for (i64 g = 0; g < whole; ++g) add(g, 4);
    if (rest > 0) add(whole, rest);
    ending.store_pixels(r, i, 1, sum);
  }
}

template <class F>
static void u8_depthwise_with(const U8DepthwiseRows& r, const F& f) {
  const auto step = step_of_columns(r);
  if (step == 1) return u8_depthwise3<1>(r, f);
  if (step == 2) return u8_depthwise3<2>(r, f);
  const i64 all = r.rows * r.pixels, together = r.channels <= 16 ? 4 : r.channels <= 32 ? 2 : 1;
  const auto most = all - all % together;
  if (together == 4) u8_depthwise_taps<4>(r, 0, most, f);
  if (together == 2) u8_depthwise_taps<2>(r, 0, most, f);
  u8_depthwise_taps<1>(r, together > 1 ? most : 0, all, f);
}
