// bf16 and u8 on machines that have no instructions for them: by shifts. Included before narrow.inl.

using Words = Word __attribute__((vector_size(4 * kWidth)));
using Ints = int __attribute__((vector_size(4 * kWidth)));

inline Words load_words(const Word* p) {
  Words w;
  __builtin_memcpy(&w, p, sizeof w);
  return w;
}
inline void store_words(Word* p, Words w) { __builtin_memcpy(p, &w, sizeof w); }
inline Words spread_word(const Word* p) { return Words{} + *p; }

/// As the instruction does it, but that each product is rounded with the sum so far.
[[gnu::always_inline]] inline void dot_bf16(Words a, Words b, Vec& sum) {
  sum = fma((Vec)(a << 16), (Vec)(b << 16), sum);
  sum = fma((Vec)(a & 0xffff0000u), (Vec)(b & 0xffff0000u), sum);
}
[[gnu::always_inline]] inline void dot_u8(Words a, Words b, Ints& sum) {
  for (int i = 0; i < 4; ++i) sum += (Ints)(a >> (8 * i) & 255u) * ((Ints)(b << (24 - 8 * i)) >> 24);
}
[[gnu::always_inline]] inline void dot_i16(Words a, Words b, Words& sum) {
  const auto low = [](Words w) { return (Words)((Ints)(w << 16) >> 16); };
  const auto high = [](Words w) { return (Words)((Ints)w >> 16); };
  sum += low(a) * low(b) + high(a) * high(b);
}

/// To the nearest, halves to even, for |v| < 2^22.
[[gnu::always_inline]] inline Ints to_levels(Vec v) {
  return __builtin_convertvector((v + spread(12582912.0f)) - spread(12582912.0f), Ints);
}
inline void store_u8(std::uint8_t* p, Vec v) {
  using Bytes = std::uint8_t __attribute__((vector_size(kWidth)));
  const Bytes b = __builtin_convertvector(to_levels(v), Bytes);
  __builtin_memcpy(p, &b, sizeof b);
}
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2]) {
  for (int j = 0; j < 2; ++j) {
    store_u8(a + j * kWidth, v[j]);
    store_u8(b + j * kWidth, w[j]);
  }
}
/// Bounds of values that become levels, and the same two pixels within them.
struct LevelBounds {
  Vec low, high;
  LevelBounds(float lowest, float highest) : low(spread(lowest)), high(spread(highest)) {}
  Vec within(Vec v) const { return min(high, max(low, v)); }
};
struct Saturated : LevelBounds {
  Saturated() : LevelBounds(0, 255) {}
};
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2],
                     const LevelBounds& bounds) {
  store_u8(a, b, {bounds.within(v[0]), bounds.within(v[1])}, {bounds.within(w[0]), bounds.within(w[1])});
}
inline Vec load_u8(const std::uint8_t* p) {
  using Bytes = std::uint8_t __attribute__((vector_size(kWidth)));
  Bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, Vec);
}

static void u8_depthwise(const U8DepthwiseRows& r) {
  constexpr i64 kChannels = 4 * kBlock;
  for (i64 i = 0; i < r.rows * r.pixels; ++i) {
    const i64 from = i / r.pixels * r.row + i % r.pixels * r.step;
    int sum[kChannels] = {};
    for (i64 tap = 0; tap < r.tap_count; ++tap) {
      const auto* in = reinterpret_cast<const std::uint8_t*>(r.in + r.taps[tap] + from);
      const auto* w = r.weights + tap * kChannels;
      for (i64 c = 0; c < kChannels; ++c) sum[c] += in[c] * w[c];
    }
    for (i64 c = 0; c < kChannels; c += kWidth) {
      Ints s;
      __builtin_memcpy(&s, sum + c, sizeof s);
      const Vec v = fused(__builtin_convertvector(s, Vec), load(r.scale + c), load(r.shift + c));
      const Vec bounded = min(spread(r.high), max(spread(r.low), v));
      if (!r.wide) store_u8(r.out + i * kChannels + c, bounded);
      else if (c / kBlock < r.wide_blocks) store(r.wide + c / kBlock * r.wide_block + i * kBlock + c % kBlock, bounded);
    }
  }
}

/// The upper halves of words that hold floats, rounded to the nearest, halves to even. NaN stays NaN.
[[gnu::always_inline]] inline Words rounded(Vec v) {
  const Words w = (Words)v;
  return v == v ? w + 0x7fffu + (w >> 16 & 1u) : w | 0x400000u;
}
[[gnu::always_inline]] inline Words merge(Vec even, Vec odd) {
  return rounded(even) >> 16 | (rounded(odd) & 0xffff0000u);
}
inline void store_bf16(std::uint16_t* p, Vec v) {
  using Halves = std::uint16_t __attribute__((vector_size(2 * kWidth)));
  const Halves h = __builtin_convertvector(rounded(v) >> 16, Halves);
  __builtin_memcpy(p, &h, sizeof h);
}
inline void store_bf16(std::uint16_t* p, Vec first, Vec second) {
  store_bf16(p, first);
  store_bf16(p + kWidth, second);
}
inline Vec load_bf16(const std::uint16_t* p) {
  using Halves = std::uint16_t __attribute__((vector_size(2 * kWidth)));
  Halves h;
  __builtin_memcpy(&h, p, sizeof h);
  return (Vec)(__builtin_convertvector(h, Words) << 16);
}
