// bf16 on machines that have no instructions for it. Included before narrow.inl, behind words.inl.

/// As the instruction does it, but that each product is rounded with the sum so far.
struct Bf16Dots {
  static constexpr int kParts = 2;
  static constexpr bool kAside = false;
  [[gnu::always_inline]] static Vec right(Words b, int part) { return (Vec)(part == 0 ? b << 16 : b & 0xffff0000u); }
  [[gnu::always_inline]] static Vec left(const Word* p, int part) {
    return (Vec)(Words{} + (part == 0 ? *p << 16 : *p & 0xffff0000u));
  }
  [[gnu::always_inline]] static void add(const Word* p, int part, Vec b, Vec (&sum)[1]) {
    sum[0] = fma(left(p, part), b, sum[0]);
  }
  [[gnu::always_inline]] static void add(const Word* p, int part, Vec b0, Vec b1, Vec (&sum)[2]) {
    const Vec a = left(p, part);
    sum[0] = fma(a, b0, sum[0]);
    sum[1] = fma(a, b1, sum[1]);
  }
};

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
