// u8 by i8 on machines that have no instructions for it. Included before narrow.inl, behind words.inl.

/// A byte of each word after the other.
struct U8Dots {
  static constexpr int kParts = 4;
  static constexpr bool kAside = false;
  [[gnu::always_inline]] static Ints right(Words b, int part) { return (Ints)(b << (24 - 8 * part)) >> 24; }
  [[gnu::always_inline]] static void add(const Word* p, int part, Ints b0, Ints b1, Ints (&sum)[2]) {
    const auto a = static_cast<int>(*p >> 8 * part & 255u);
    sum[0] += a * b0;
    sum[1] += a * b1;
  }
};
struct I16Dots {
  static constexpr int kParts = 2;
  static constexpr bool kAside = false;
  [[gnu::always_inline]] static Words right(Words b, int part) { return (Words)((Ints)(b << (16 - 16 * part)) >> 16); }
  [[gnu::always_inline]] static void add(const Word* p, int part, Words b0, Words b1, Words (&sum)[2]) {
    const auto a = static_cast<Word>(static_cast<int>(*p << (16 - 16 * part)) >> 16);
    sum[0] += a * b0;
    sum[1] += a * b1;
  }
};

constexpr bool kAddsPairs = false;
template <int P>
inline void pair_sums(const NarrowSum&, i64, Ints (&)[P][2]) {}
constexpr bool sums_of_all(const NarrowSum&, i64, i64, bool, Ints (*)[2]) { return false; }

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
inline Vec load_u8(const std::uint8_t* p) {
  using Bytes = std::uint8_t __attribute__((vector_size(kWidth)));
  Bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, Vec);
}
/// Bounds of values of two vectors that become levels, and the same two pixels within them.
struct LevelBounds {
  Vec low[2], high[2];
  LevelBounds(float lowest, float highest)
      : low{spread(lowest), spread(lowest)}, high{spread(highest), spread(highest)} {}
  LevelBounds(const std::uint8_t* lows, const std::uint8_t* highs)
      : low{load_u8(lows), load_u8(lows + kWidth)}, high{load_u8(highs), load_u8(highs + kWidth)} {}
  Vec within(Vec v, int half) const { return min(high[half], max(low[half], v)); }
};
struct Saturated : LevelBounds {
  Saturated() : LevelBounds(0, 255) {}
};
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2],
                     const LevelBounds& bounds) {
  store_u8(a, b, {bounds.within(v[0], 0), bounds.within(v[1], 1)}, {bounds.within(w[0], 0), bounds.within(w[1], 1)});
}

template <class F>
static void u8_depthwise_with(const U8DepthwiseRows& r, const F& f) {
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
      Vec v = fused(__builtin_convertvector(s, Vec), load(r.scale + c), load(r.shift + c));
      const auto& a = r.activation;
      if constexpr (kActivates<F>)
        v = activated(f, v, load(a.by + c), load(a.plus + c), a.below ? load(a.below + c) : Vec{});
      const bool own = r.lows && !r.wide;
      const Vec low = own ? load_u8(r.lows + c) : spread(r.low), high = own ? load_u8(r.highs + c) : spread(r.high);
      const Vec bounded = min(high, max(low, v));
      if (!r.wide) store_u8(r.out + i * kChannels + c, bounded);
      else if (c / kBlock < r.wide_blocks) store(r.wide + c / kBlock * r.wide_block + i * kBlock + c % kBlock, bounded);
    }
  }
}
