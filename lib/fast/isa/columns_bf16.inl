// Depthwise convolution of 3 × 3 taps in bf16 by the instruction that multiplies pairs: of the pixels of a column, the
// upper two make words, and the third by itself. For AVX-512, behind narrow.inl.

/// The words of a column: of its upper two pixels, then of its third one with zeros, each of the lower and the higher
/// four channels of every eight.
using Column = Words[2][2];

/// Lanes of 32 floats, even channels before odd ones, as unpacked words have them; or twice those of the first 16.
[[gnu::always_inline]] inline Vec unpacked(const float* p, int half, bool twice = false) {
  const auto all = _mm512_setr_epi32(0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29),
             lower = _mm512_setr_epi32(0, 16, 1, 17, 4, 20, 5, 21, 0, 16, 1, 17, 4, 20, 5, 21);
  return _mm512_permutex2var_ps(load(p), _mm512_add_epi32(twice ? lower : all, _mm512_set1_epi32(2 * half)),
                                load(p + kBlock));
}

/// Such lanes as they lie in memory.
[[gnu::always_inline]] inline __m512i packed(Vec low, Vec high) {
  const auto order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  return _mm512_permutexvar_epi64(order, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

/// Stores a pixel whose lanes are unpacked.
[[gnu::always_inline]] inline void store_unpacked(const Bf16DepthwiseRows& r, i64 place, Vec low, Vec high) {
  if (r.wide) {
    const auto even = _mm512_setr_epi32(0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30),
               odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    store(r.wide + place * 2 * kBlock, _mm512_permutex2var_ps(low, even, high));
    store(r.wide + place * 2 * kBlock + kBlock, _mm512_permutex2var_ps(low, odd, high));
  } else {
    _mm512_storeu_si512(r.out + place * kBlock, packed(low, high));
  }
}

/// kTwoRows: at most 16 channels of a block count, and those of the next row take the place of the others.
template <int kStep, bool kTwoRows>
static void bf16_depthwise3(const Bf16DepthwiseRows& r) {
  const auto half_pixel = [](const Word* p) __attribute__((always_inline)) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  };
  Words weights[3][2][2];
  Vec bias[2] = {};
  for (int half = 0; half < 2; ++half) {
    if (r.bias) bias[half] = unpacked(r.bias, half, kTwoRows);
    for (int c = 0; c < 3; ++c) {
      const auto tap = [&](int t) { return (Words)unpacked(r.weights + t * 2 * kBlock, half, kTwoRows); };
      weights[c][0][half] = tap(c) >> 16 | (tap(3 + c) & 0xffff0000u);
      weights[c][1][half] = tap(6 + c) >> 16;
    }
  }
  with_ending(
      r, [&](auto f) __attribute__((always_inline)) {
        for (i64 next = 0; next < r.rows; next += kTwoRows ? 2 : 1) {
          const i64 y = kTwoRows && next + 1 == r.rows ? next - 1 : next;  // the last row may be computed again
          const Word* in = r.in + y * r.row;
          const auto read = [&](i64 x, Column & to) __attribute__((always_inline)) {
            const auto pixel = [&](i64 t) __attribute__((always_inline)) {
              const Word* from = in + r.taps[3 * t] + x * kBlock;
              if constexpr (!kTwoRows) return _mm512_loadu_si512(from);
              else return _mm512_inserti64x4(_mm512_castsi256_si512(half_pixel(from)), half_pixel(from + r.row), 1);
            };
            const auto a = pixel(0), b = pixel(1), c = pixel(2), zero = _mm512_setzero_si512();
            to[0][0] = (Words)_mm512_unpacklo_epi16(a, b);
            to[0][1] = (Words)_mm512_unpackhi_epi16(a, b);
            to[1][0] = (Words)_mm512_unpacklo_epi16(c, zero);
            to[1][1] = (Words)_mm512_unpackhi_epi16(c, zero);
          };
          const auto sum = [&](i64 x, const Column& a, const Column& b, const Column& c)
              __attribute__((always_inline)) {
            Vec v[2] = {bias[0], bias[1]};
#pragma GCC unroll 2
            for (int rows = 0; rows < 2; ++rows)
#pragma GCC unroll 2
              for (int half = 0; half < 2; ++half) {
                dot_bf16(a[rows][half], weights[0][rows][half], v[half]);
                dot_bf16(b[rows][half], weights[1][rows][half], v[half]);
                dot_bf16(c[rows][half], weights[2][rows][half], v[half]);
              }
            for (auto& part : v) part = f(part);
            if constexpr (!kTwoRows) return store_unpacked(r, y * r.pixels + x, v[0], v[1]);
            const auto both = packed(v[0], v[1]);
            auto* to = r.out + (y * r.pixels + x) * kBlock;
            _mm512_storeu_si512(to, _mm512_zextsi256_si512(_mm512_castsi512_si256(both)));
            _mm512_storeu_si512(to + r.pixels * kBlock, _mm512_zextsi256_si512(_mm512_extracti64x4_epi64(both, 1)));
          };
          columns<kStep, Column>(r.pixels, read, sum);
        }
      });
}

template <int kStep>
static void bf16_depthwise3(const Bf16DepthwiseRows& r) {
  if (r.channels <= kBlock && r.rows > 1 && !r.wide) bf16_depthwise3<kStep, true>(r);
  else bf16_depthwise3<kStep, false>(r);
}
