// u8 by i8 with AVX-512's VNNI. Included before narrow.inl, behind words.inl.

inline Vec fused(Vec a, Vec b, Vec c) { return fma(a, b, c); }
inline Words spread_word(const Word* p) { return (Words)_mm512_set1_epi32(static_cast<int>(*p)); }
// Inline assembly: with the intrinsics g++ 12 copies the sums from register to register, and to memory and back.
[[gnu::always_inline]] inline void dot_u8(Words a, Words b, Ints& sum) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
[[gnu::always_inline]] inline void dot_i16(Words a, Words b, Words& sum) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
/// Words are multiplied as they are.
struct WholeWords {
  static constexpr int kParts = 1;
  static constexpr bool kAside = false;
  [[gnu::always_inline]] static Words right(Words b, int) { return b; }
};
struct U8Dots : WholeWords {
  [[gnu::always_inline]] static void add(const Word* p, int, Words b0, Words b1, Ints (&sum)[2]) {
    const Words a = spread_word(p);
    dot_u8(a, b0, sum[0]);
    dot_u8(a, b1, sum[1]);
  }
  [[gnu::always_inline]] static void add(const Word* p, int, Words b, Ints (&sum)[1]) {
    dot_u8(spread_word(p), b, sum[0]);
  }
  /// The same where sums take all other registers.
  [[gnu::always_inline]] static void add_alone(const Word* p, Words b, Ints& sum) {
    Words a;
    asm("vpbroadcastd %3, %1\n\t"
        "vpdpbusd %2, %1, %0"
        : "+v"(sum), "=&v"(a)
        : "v"(b), "m"(*p));
  }
};
struct I16Dots : WholeWords {
  [[gnu::always_inline]] static void add(const Word* p, int, Words b0, Words b1, Words (&sum)[2]) {
    const Words a = spread_word(p);
    dot_i16(a, b0, sum[0]);
    dot_i16(a, b1, sum[1]);
  }
};

constexpr bool kAddsPairs = false;
template <int P>
inline void pair_sums(const NarrowSum&, i64, Ints (&)[P][2]) {}
constexpr bool sums_of_all(const NarrowSum&, i64, i64, bool, Ints (*)[2]) { return false; }

/// To the nearest, halves to even.
[[gnu::always_inline]] inline Ints to_levels(Vec v) { return (Ints)_mm512_cvtps_epi32(v); }
inline void store_u8(std::uint8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}
/// Bounds of levels, in bytes: the same of all, or, as packed_levels() has them, of two pixels of 32 channels.
struct LevelBounds {
  __m512i low, high;
  LevelBounds(float lowest, float highest) : low(bytes(lowest)), high(bytes(highest)) {}
  LevelBounds(const std::uint8_t* lows, const std::uint8_t* highs) : low(packed(lows)), high(packed(highs)) {}
  static __m512i packed(const std::uint8_t* p) {
    const auto order = _mm512_setr_epi32(0, 4, 0, 4, 1, 5, 1, 5, 2, 6, 2, 6, 3, 7, 3, 7);
    return _mm512_permutexvar_epi32(order,
                                    _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }
  static __m512i bytes(float level) {
    const int whole = _mm_cvtss_si32(_mm_set_ss(level));
    return _mm512_set1_epi8(static_cast<char>(whole < 0 ? 0 : (whole > 255 ? 255 : whole)));
  }
  [[gnu::always_inline]] __m512i within(__m512i levels) const {
    return _mm512_min_epu8(high, _mm512_max_epu8(low, levels));
  }
};
struct Saturated {
  [[gnu::always_inline]] __m512i within(__m512i levels) const { return levels; }
};
/// Two pixels of 32 channels, as bytes in the order of their lanes.
[[gnu::always_inline]] inline __m512i packed_levels(const Vec (&v)[2], const Vec (&w)[2]) {
  const auto pair = [](const Vec(&x)[2]) {
    return _mm512_packs_epi32(_mm512_cvtps_epi32(x[0]), _mm512_cvtps_epi32(x[1]));
  };
  return _mm512_packus_epi16(pair(v), pair(w));
}
[[gnu::always_inline]] inline void store_levels(std::uint8_t* a, std::uint8_t* b, __m512i levels) {
  const auto order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto both = _mm512_permutexvar_epi32(order, levels);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(a), _mm512_castsi512_si256(both));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(b), _mm512_extracti64x4_epi64(both, 1));
}
/// Two pixels of 32 channels; the second way for values within ±2^30, which saturate as they are packed.
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2]) {
  store_levels(a, b, packed_levels(v, w));
}
template <class Bounds>
[[gnu::always_inline]] inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2],
                                            const Bounds& bounds) {
  store_levels(a, b, bounds.within(packed_levels(v, w)));
}
inline Vec load_u8(const std::uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
