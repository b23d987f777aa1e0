// u8 by i8 with AVX2: by the instruction for bytes, which saturates, where pairs of weights are small enough or made
// so; else by the one that multiplies pairs of i16, which takes longer.
// Included before narrow.inl, behind words.inl.

[[gnu::always_inline]] inline __m256i add_pairs(__m256i sum, __m256i a, __m256i b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
/// The same of a word by two vectors. Inline assembly: this takes all registers beside twelve sums, and g++ would use
/// more.
template <class Sum>
[[gnu::always_inline]] inline void add_word(const Word* a, __m256i b0, __m256i b1, Sum (&sum)[2]) {
  __m256i word, product;
  asm("vpbroadcastd %4, %2\n\t"
      "vpmaddwd %5, %2, %3\n\t"
      "vpaddd %3, %0, %0\n\t"
      "vpmaddwd %6, %2, %2\n\t"
      "vpaddd %2, %1, %1"
      : "+x"(sum[0]), "+x"(sum[1]), "=&x"(word), "=&x"(product)
      : "m"(*a), "x"(b0), "x"(b1));
}

/// Words of pairs of i16.
struct I16Dots {
  static constexpr int kParts = 1;
  static constexpr bool kAside = false;
  [[gnu::always_inline]] static __m256i right(Words b, int) { return (__m256i)b; }
  [[gnu::always_inline]] static void add(const Word* a, int, __m256i b0, __m256i b1, Words (&sum)[2]) {
    add_word(a, b0, b1, sum);
  }
};
/// The first and third byte of each word, then the second and fourth.
struct U8Dots {
  static constexpr int kParts = 2;
  static constexpr bool kAside = true;
  static void part(const Word* from, i64 n, Word (&to)[2][kBlock]) {
#pragma GCC unroll 2
    for (i64 i = 0; i < kBlock && i < n; i += kWidth) {
      const auto* at = reinterpret_cast<const int*>(from + i);
      const auto words = n - i < kWidth ? _mm256_maskload_epi32(at, first_lanes(n - i)) : (__m256i)load_words(from + i);
      store_words(to[0] + i, (Words)_mm256_and_si256(words, _mm256_set1_epi16(255)));
      store_words(to[1] + i, (Words)_mm256_srli_epi16(words, 8));
    }
  }
  [[gnu::always_inline]] static __m256i right(Words b, int part) {
    return _mm256_srai_epi16(part == 0 ? _mm256_slli_epi16((__m256i)b, 8) : (__m256i)b, 8);
  }
  [[gnu::always_inline]] static void add(const Word* a, int, __m256i b0, __m256i b1, Ints (&sum)[2]) {
    add_word(a, b0, b1, sum);
  }
};

constexpr bool kAddsPairs = true;

/// Adds the products of a word of u8 by two vectors of i8, whose pairs fit 16 bits. The second one stays in memory:
/// there are no more registers.
template <class Sum>
[[gnu::always_inline]] inline void add_bytes(const Word* a, __m256i b0, const __m256i_u& b1, __m256i ones,
                                             Sum (&sum)[2]) {
  __m256i word, product;
  asm("vpbroadcastd %4, %2\n\t"
      "vpmaddubsw %5, %2, %3\n\t"
      "vpmaddwd %7, %3, %3\n\t"
      "vpaddd %3, %0, %0\n\t"
      "vpmaddubsw %6, %2, %2\n\t"
      "vpmaddwd %7, %2, %2\n\t"
      "vpaddd %2, %1, %1"
      : "+x"(sum[0]), "+x"(sum[1]), "=&x"(word), "=&x"(product)
      : "m"(*a), "x"(b0), "m"(b1), "x"(ones));
}
/// The same by one vector.
[[gnu::always_inline]] inline void add_bytes(const Word* a, __m256i b, __m256i ones, Ints& sum) {
  __m256i word;
  asm("vpbroadcastd %2, %1\n\t"
      "vpmaddubsw %3, %1, %1\n\t"
      "vpmaddwd %4, %1, %1\n\t"
      "vpaddd %1, %0, %0"
      : "+x"(sum), "=&x"(word)
      : "m"(*a), "x"(b), "x"(ones));
}
/// Sixteen bytes, in both halves.
[[gnu::always_inline]] inline __m256i sixteen_bytes(const void* p) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
/// The products of a word of u8 by a vector of i8, in pairs of 16 bits.
[[gnu::always_inline]] inline __m256i byte_pairs(const Word* a, __m256i b) {
  return _mm256_maddubs_epi16((__m256i)(Words{} + *a), b);
}

/// Calls run(places of every third pixel, steps) for the runs of a sum.
template <int P, class Run>
[[gnu::always_inline]] inline void for_runs(const NarrowSum& t, const i64* taps, Run run) {
  for (i64 block = 0; block < t.blocks; ++block)
    for (i64 tap = 0; tap < t.tap_count; ++tap) {
      const Word* base[(P + 2) / 3];
#pragma GCC unroll 8
      for (int g = 0; g < (P + 2) / 3; ++g) base[g] = t.in + 3 * g * t.pixel + block * t.block + taps[tap];
      run(base, block + 1 < t.blocks ? t.steps : t.last_steps);
    }
}

/// The products of words of neighbors.
template <int P>
[[gnu::always_inline]] inline void neighbor_sums(const NarrowSum& t, i64 column, const i64* taps, Ints (&sum)[P][2]) {
  const __m256i ones = _mm256_set1_epi16(1);
  const Word* w = t.weights + column;
  for_runs<P>(
      t, taps, [&](const auto& base, i64 steps) __attribute__((always_inline)) {
        const auto step = [&](i64 i) __attribute__((always_inline)) {
          const auto b0 = (__m256i)load_words(w);
          const auto& b1 = *reinterpret_cast<const __m256i_u*>(w + kWidth);
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) add_bytes(base[p / 3] + p % 3 * t.pixel + i, b0, b1, ones, sum[p]);
          w += kColumns;
        };
        i64 i = 0;
        for (; i + 4 <= steps; i += 4) {
          if (i % kBlock == 0) ask(t.ahead);
#pragma GCC unroll 4
          for (i64 j = 0; j < 4; ++j) step(i + j);
        }
        for (; i < steps; ++i) step(i);
      });
}

/// Adds the products by the excess of a vector's weights: sum_of(pixel) is its sum.
template <int P, class SumOf>
[[gnu::always_inline]] inline void add_excess(const NarrowSum& t, const PairExcess& excess, const i64* taps,
                                              SumOf sum_of) {
  const __m256i ones = _mm256_set1_epi16(1);
  const i64 pixel = t.pixel;
  i64 n = 0;
  for (i64 group = 0; group < excess.groups; ++group) {
    __m256i pairs[P] = {};
    for (const i64 end = excess.ends[group]; n < end; ++n) {
      const auto& step = excess.steps[n];
      const Word* base = t.in + step.block * t.block + taps[step.tap] + step.i;
      const auto b = (__m256i)load_words(excess.weights + n * kWidth);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        if (p > 0 && p % 3 == 0) base += 3 * pixel;
        pairs[p] = _mm256_add_epi16(pairs[p], byte_pairs(base + p % 3 * pixel, b));
      }
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p)
      sum_of(p) = (Ints)_mm256_add_epi32((__m256i)sum_of(p), _mm256_madd_epi16(pairs[p], ones));
  }
}
template <int P>
[[gnu::always_inline]] inline void excess_sums(const NarrowSum& t, i64 column, const i64* taps, Ints (&sum)[P][2]) {
  const auto* all = t.excess + column / kWidth;
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j)
    add_excess<P>(
        t, all[j], taps, [&](int p) __attribute__((always_inline))->Ints & { return sum[p][j]; });
}

inline const i64* taps_of(const NarrowSum& t, i64 column) {
  return t.other_taps && column >= kBlock ? t.other_taps : t.taps;
}

/// As narrow_sums() of u8 from the first pixel on, where neighbors fit in pairs but for the excess beside them.
template <int P>
[[gnu::always_inline]] inline void pair_sums(const NarrowSum& t, i64 column, Ints (&sum)[P][2]) {
  neighbor_sums<P>(t, column, taps_of(t, column), sum);
  excess_sums<P>(t, column, taps_of(t, column), sum);
}

// Uses excess_sums().
#include "fast/isa/u8_picks_avx2.inl"

/// To the nearest, halves to even.
[[gnu::always_inline]] inline Ints to_levels(Vec v) { return (Ints)_mm256_cvtps_epi32(v); }
inline void store_u8(std::uint8_t* p, Vec v) {
  const auto words = _mm256_cvtps_epi32(v);
  const auto shorts = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(shorts, shorts));
}
/// Bounds of levels of two pixels of 16 channels, in bytes.
struct LevelBounds {
  __m256i low, high;
  LevelBounds(float lowest, float highest) : low(bytes(lowest)), high(bytes(highest)) {}
  LevelBounds(const std::uint8_t* lows, const std::uint8_t* highs)
      : low(sixteen_bytes(lows)), high(sixteen_bytes(highs)) {}
  static __m256i bytes(float level) {
    const int whole = _mm_cvtss_si32(_mm_set_ss(level));
    return _mm256_set1_epi8(static_cast<char>(whole < 0 ? 0 : (whole > 255 ? 255 : whole)));
  }
  [[gnu::always_inline]] __m256i within(__m256i levels) const {
    return _mm256_min_epu8(high, _mm256_max_epu8(low, levels));
  }
};
struct Saturated {
  [[gnu::always_inline]] __m256i within(__m256i levels) const { return levels; }
};
/// Two pixels of 16 channels, of values within ±2^30.
template <class Bounds>
[[gnu::always_inline]] inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2],
                                            const Bounds& bounds) {
  const auto pair = [](const Vec(&x)[2]) {
    return _mm256_packs_epi32(_mm256_cvtps_epi32(x[0]), _mm256_cvtps_epi32(x[1]));
  };
  const auto levels = _mm256_packus_epi16(pair(v), pair(w));
  const auto both = bounds.within(_mm256_permutevar8x32_epi32(levels, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(a), _mm256_castsi256_si128(both));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(b), _mm256_extracti128_si256(both, 1));
}
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2]) {
  store_u8(a, b, v, w, Saturated{});
}
inline Vec load_u8(const std::uint8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}

// Depthwise: two taps are a word of i16.

/// 16 channels of two taps, as words: of the lower and the higher four of every eight.
struct TwoTaps {
  __m256i half[2];
};
[[gnu::always_inline]] inline TwoTaps two_taps(__m256i a, __m256i b) {
  return {_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
}
[[gnu::always_inline]] inline __m256i sixteen_u8(const std::uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
[[gnu::always_inline]] inline __m256i sixteen_i8(const std::int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

/// What follows the sums of 16 channels, of which F is an activation.
template <class F>
struct U8Ending {
  F f;
  Vec scale[2], shift[2], low, high;
  Vec by[kActivates<F> ? 2 : 1], plus[kActivates<F> ? 2 : 1], below[kActivates<F> ? 2 : 1];
  LevelBounds bounds;

  // Copies, which bytes that are stored cannot change.
  std::uint8_t* out;
  float* wide;
  bool clamps;

  U8Ending(const U8DepthwiseRows& r, i64 channel, const F& function)
      : f(function),
        low(spread(r.low)),
        high(spread(r.high)),
        bounds(r.lows ? LevelBounds(r.lows + channel, r.highs + channel) : LevelBounds(r.low, r.high)),
        out(r.wide ? nullptr : r.out + channel),
        wide(channel / kBlock < r.wide_blocks ? r.wide + channel / kBlock * r.wide_block : nullptr),
        clamps(kActivates<F> || r.wide || !r.small) {
    const auto lanes = [&](const float* p, int half) {
      const auto four = [&](i64 i) { return _mm_loadu_ps(p + channel + 4 * half + i); };
      return _mm256_set_m128(four(8), four(0));
    };
    for (int half = 0; half < 2; ++half) {
      scale[half] = lanes(r.scale, half);
      shift[half] = lanes(r.shift, half);
      if constexpr (kActivates<F>) {
        by[half] = lanes(r.activation.by, half);
        plus[half] = lanes(r.activation.plus, half);
        below[half] = r.activation.below ? lanes(r.activation.below, half) : Vec{};
      }
    }
  }
  [[gnu::always_inline]] void store_pixel(i64 i, const TwoTaps& sum) const {
    Vec v[2];
    for (int half = 0; half < 2; ++half) {
      v[half] = fma(_mm256_cvtepi32_ps(sum.half[half]), scale[half], shift[half]);
      if constexpr (kActivates<F>) v[half] = activated(f, v[half], by[half], plus[half], below[half]);
      if (clamps) v[half] = min(high, max(low, v[half]));
    }
    if (out) {
      const auto shorts = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
      const auto bytes = bounds.within(_mm256_permute4x64_epi64(_mm256_packus_epi16(shorts, shorts), 0x08));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * 4 * kBlock), _mm256_castsi256_si128(bytes));
    } else if (wide) {
      store(wide + i * kBlock, _mm256_permute2f128_ps(v[0], v[1], 0x20));
      store(wide + i * kBlock + kWidth, _mm256_permute2f128_ps(v[0], v[1], 0x31));
    }
  }
};

/// 3 × 3 taps of 16 channels, column by column of the input: each adds to the sums of all pixels that read it. Pairs
/// are of the upper two rows, and in the third row of neighbors.
template <int kStep, class F>
static void u8_depthwise3(const U8DepthwiseRows& r, i64 channel, const F& f) {
  const auto weight = [&](i64 row, i64 column) {
    return sixteen_i8(r.weights + (3 * row + column) * 4 * kBlock + channel);
  };
  TwoTaps upper[3];
  for (i64 c = 0; c < 3; ++c) upper[c] = two_taps(weight(0, c), weight(1, c));
  const auto third = two_taps(weight(2, 0), weight(2, 1)), last = two_taps(_mm256_setzero_si256(), weight(2, 2));
  const U8Ending<F> ending(r, channel, f);
  const auto pixels = r.pixels;
  for (i64 y = 0; y < r.rows; ++y) {
    const auto* const in = reinterpret_cast<const std::uint8_t*>(r.in + y * r.row) + channel;
    const auto row = [&](i64 i) { return in + 4 * r.taps[3 * i]; };
    const std::uint8_t *const row0 = row(0), *const row1 = row(1), *const row2 = row(2);
    __m256i before{};
    struct Column {
      TwoTaps upper, third;  // the latter of the column before, too
    };
    const auto next = [&](i64 x) __attribute__((always_inline)) {
      const auto at = 4 * kBlock * x;
      const auto now = sixteen_u8(row2 + at);
      const Column column{two_taps(sixteen_u8(row0 + at), sixteen_u8(row1 + at)), two_taps(before, now)};
      before = now;
      return column;
    };
    const auto add = [](TwoTaps sum, const TwoTaps& taps, const TwoTaps& by) __attribute__((always_inline)) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) sum.half[half] = add_pairs(sum.half[half], taps.half[half], by.half[half]);
      return sum;
    };
    const auto first_of = [&](const Column& c) __attribute__((always_inline)) { return add({}, c.upper, upper[0]); };
    const auto second_of = [&](const TwoTaps& sum, const Column& c) __attribute__((always_inline)) {
      return add(add(sum, c.upper, upper[1]), c.third, third);
    };
    const auto store = [&](i64 x, const TwoTaps& sum, const Column& c) __attribute__((always_inline)) {
      ending.store_pixel(y * pixels + x, add(add(sum, c.upper, upper[2]), c.third, last));
    };
    auto sum = first_of(next(0));
    if constexpr (kStep == 1) {
      const auto second = next(1);
      sum = second_of(sum, second);
      auto following = first_of(second);
      for (i64 x = 0; x < pixels; ++x) {
        const auto column = next(x + 2);
        store(x, sum, column);
        sum = second_of(following, column);
        following = first_of(column);
      }
    } else {
      for (i64 x = 0; x < pixels; ++x) {
        sum = second_of(sum, next(2 * x + 1));
        const auto column = next(2 * x + 2);
        store(x, sum, column);
        sum = first_of(column);
      }
    }
  }
}

template <class F>
static void u8_depthwise_with(const U8DepthwiseRows& r, const F& f) {
  constexpr i64 kMaxPairs = 32;
  const auto step = step_of_columns(r);
  for (i64 channel = 0; channel < r.channels; channel += kBlock) {
    if (step == 1) {
      u8_depthwise3<1>(r, channel, f);
      continue;
    }
    if (step == 2) {
      u8_depthwise3<2>(r, channel, f);
      continue;
    }
    TwoTaps weights[kMaxPairs];
    const auto pair = [&](i64 t, auto tap) __attribute__((always_inline)) {
      return two_taps(tap(t), t + 1 < r.tap_count ? tap(t + 1) : _mm256_setzero_si256());
    };
    for (i64 t = 0; t < r.tap_count; t += 2)
      weights[t / 2] = pair(t, [&](i64 tap) { return sixteen_i8(r.weights + tap * 4 * kBlock + channel); });
    const U8Ending<F> ending(r, channel, f);
    for (i64 i = 0; i < r.rows * r.pixels; ++i) {
      const auto* in = reinterpret_cast<const std::uint8_t*>(r.in + i / r.pixels * r.row + i % r.pixels * r.step);
      TwoTaps sum{};
      for (i64 t = 0; t < r.tap_count; t += 2) {
        const auto taps = pair(t, [&](i64 tap) { return sixteen_u8(in + r.taps[tap] * 4 + channel); });
        for (int half = 0; half < 2; ++half)
          sum.half[half] = add_pairs(sum.half[half], taps.half[half], weights[t / 2].half[half]);
      }
      ending.store_pixel(i, sum);
    }
  }
}
