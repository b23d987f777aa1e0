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
/// Beside whose sums and bytes there is room for two vectors of weights and their picks.
constexpr int kPixelsOfPicks = 3;

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
/// Sixteen bytes, in both halves.
[[gnu::always_inline]] inline __m256i sixteen_bytes(const void* p) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
/// As add_bytes(), of four of sixteen bytes, for both vectors.
template <class Sum>
[[gnu::always_inline]] inline void add_picked(__m256i bytes, __m256i pick, __m256i b0, __m256i b1, __m256i ones,
                                              Sum (&sum)[2]) {
  __m256i word, product;
  asm("vpshufb %5, %4, %2\n\t"
      "vpmaddubsw %6, %2, %3\n\t"
      "vpmaddwd %8, %3, %3\n\t"
      "vpaddd %3, %0, %0\n\t"
      "vpmaddubsw %7, %2, %2\n\t"
      "vpmaddwd %8, %2, %2\n\t"
      "vpaddd %2, %1, %1"
      : "+x"(sum[0]), "+x"(sum[1]), "=&x"(word), "=&x"(product)
      : "x"(bytes), "xm"(pick), "x"(b0), "x"(b1), "x"(ones));
}
/// The same of others for the second vector.
template <class Sum>
[[gnu::always_inline]] inline void add_picked(__m256i bytes, const __m256i& pick0, const __m256i& pick1, __m256i b0,
                                              __m256i b1, __m256i ones, Sum (&sum)[2]) {
  __m256i word, product;
  asm("vpshufb %5, %4, %2\n\t"
      "vpmaddubsw %7, %2, %3\n\t"
      "vpmaddwd %9, %3, %3\n\t"
      "vpaddd %3, %0, %0\n\t"
      "vpshufb %6, %4, %2\n\t"
      "vpmaddubsw %8, %2, %2\n\t"
      "vpmaddwd %9, %2, %2\n\t"
      "vpaddd %2, %1, %1"
      : "+x"(sum[0]), "+x"(sum[1]), "=&x"(word), "=&x"(product)
      : "x"(bytes), "xm"(pick0), "xm"(pick1), "x"(b0), "xm"(b1), "x"(ones));
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
        for (i64 i = 0; i < steps; ++i, w += kColumns) {
          if (i % kBlock == 0) ask(t.ahead);
          const auto b0 = (__m256i)load_words(w);
          const auto& b1 = *reinterpret_cast<const __m256i_u*>(w + kWidth);
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) add_bytes(base[p / 3] + p % 3 * t.pixel + i, b0, b1, ones, sum[p]);
        }
      });
}

enum class Picked : std::uint8_t { alike, by_vector, by_column };

/// The products of words that are picked: for both vectors alike, for each of them, or for each column. kUsed: of four
/// steps.
template <int P, Picked kPicked, int kUsed = 4>
[[gnu::always_inline]] inline void picked_sums(const NarrowSum& t, i64 column, const i64* taps, Ints (&sum)[P][2]) {
  const __m256i ones = _mm256_set1_epi16(1);
  const Word* w = t.weights + column;
  const Word *pick0 = t.excess[column / kWidth].picks, *pick1 = t.excess[column / kWidth + 1].picks;
  constexpr i64 kStep = kPicked == Picked::by_column ? kWidth : 1;
  const i64 pixel = t.pixel;
  const auto step = [&](const __m256i(&x)[P], i64 i) __attribute__((always_inline)) {
    const auto b0 = (__m256i)load_words(w + i * kColumns), b1 = (__m256i)load_words(w + i * kColumns + kWidth);
    const auto pick = [i](const Word* from) __attribute__((always_inline)) {
      return (__m256i)(kPicked == Picked::by_column ? load_words(from + i * kWidth) : Words{} + from[i]);
    };
    const auto p0 = pick(pick0), p1 = kPicked == Picked::alike ? p0 : pick(pick1);
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p)
      if constexpr (kPicked == Picked::alike) add_picked(x[p], p0, b0, b1, ones, sum[p]);
      else add_picked(x[p], p0, p1, b0, b1, ones, sum[p]);
  };
  for_runs<P>(
      t, taps, [&](const auto& base, i64 steps) __attribute__((always_inline)) {
        const auto read = [&](i64 first, __m256i(&x)[P]) __attribute__((always_inline)) {
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) x[p] = sixteen_bytes(base[p / 3] + p % 3 * pixel + first);
        };
        __m256i x[P];
        i64 i = 0;
        for (; i + 4 <= steps; i += 4) {
          if (i % kBlock == 0) ask(t.ahead);
          read(i, x);
#pragma GCC unroll 4
          for (i64 j = 0; j < kUsed; ++j) step(x, j);
          w += 4 * kColumns;
          pick0 += 4 * kStep;
          pick1 += 4 * kStep;
        }
        if (i == steps) return;
        read(first_of_four(i, steps), x);
        for (; i < steps; ++i, w += kColumns, pick0 += kStep, pick1 += kStep) step(x, 0);
      });
}

/// Adds the products by the excess of weights.
template <int P>
[[gnu::always_inline]] inline void excess_sums(const NarrowSum& t, i64 column, const i64* taps, Ints (&sum)[P][2]) {
  const __m256i ones = _mm256_set1_epi16(1);
  const auto* all = t.excess + column / kWidth;
  const i64 pixel = t.pixel;
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    const auto& excess = all[j];
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
        sum[p][j] = (Ints)_mm256_add_epi32((__m256i)sum[p][j], _mm256_madd_epi16(pairs[p], ones));
    }
  }
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

/// The sums of all pixels, to which add(sum of the first of them, sums) adds those of a few.
template <class Add>
[[gnu::always_inline]] inline void in_tiles(NarrowSum t, i64 pixels, Ints (*to)[2], const Add& add) {
  const auto tile = [&]<int P>() __attribute__((always_inline)) {
    Ints sum[P][2] = {};
    add(t, sum);
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) {
      to[p][0] = sum[p][0];
      to[p][1] = sum[p][1];
    }
    t.in += P * t.pixel;
    to += P;
  };
  for (; pixels >= kPixelsOfPicks && pixels != 4; pixels -= kPixelsOfPicks) tile.template operator()<kPixelsOfPicks>();
  for (; pixels >= 2; pixels -= 2) tile.template operator()<2>();
  if (pixels > 0) tile.template operator()<1>();
}

/// As pair_sums(), of bytes that are picked, of all pixels.
template <Picked kPicked, int kUsed = 4>
[[gnu::noinline]] static void picked_sums_of_all(const NarrowSum& all, i64 column, i64 pixels, Ints (*to)[2]) {
  const i64* const taps = taps_of(all, column);
  const auto add = [&]<int P>(const NarrowSum& t, Ints(&sum)[P][2]) __attribute__((always_inline)) {
    picked_sums<P, kPicked, kUsed>(t, column, taps, sum);
    excess_sums<P>(t, column, taps, sum);
  };
  in_tiles(all, pixels, to, add);
}

/// The same of one run of so many steps, picked or not. Loops are unrolled: between short ones there is as much to do
/// as in them.
template <i64 kSteps, bool kAlike>
[[gnu::noinline]] static void short_sums(const NarrowSum& of, i64 column, i64 pixels, Ints (*to)[2]) {
  constexpr int kPicks = kAlike ? 1 : 2;
  const __m256i ones = _mm256_set1_epi16(1);
  const auto* all = of.excess + column / kWidth;
  const auto first_of = [](i64 i) { return first_of_four(i / 4 * 4, kSteps); };
  __m256i picks[kSteps][kPicks];
  for (i64 i = 0; i < kSteps; ++i)
    for (int j = 0; j < kPicks; ++j) {
      const Word neighbors = 0x03020100 + 0x04040404 * static_cast<Word>(i - first_of(i));
      const auto* own = all[j].picks;
      picks[i][j] = (__m256i)(all->by_column ? load_words(own + i * kWidth) : Words{} + (own ? own[i] : neighbors));
    }
  const Word* const weights = of.weights + column;
  const i64* const taps = taps_of(of, column);
  const auto add = [&]<int P>(const NarrowSum& t, Ints(&sum)[P][2]) __attribute__((always_inline)) {
    ask(t.ahead);
#pragma GCC unroll 4
    for (i64 four = 0; four < kSteps; four += 4) {
      __m256i x[P];
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) x[p] = sixteen_bytes(t.in + p * t.pixel + taps[0] + first_of(four));
#pragma GCC unroll 4
      for (i64 i = four; i < four + 4; ++i) {
        if (i >= kSteps) break;
        const auto b0 = (__m256i)load_words(weights + i * kColumns),
                   b1 = (__m256i)load_words(weights + i * kColumns + kWidth);
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p)
          if constexpr (kAlike) add_picked(x[p], picks[i][0], b0, b1, ones, sum[p]);
          else add_picked(x[p], picks[i][0], picks[i][1], b0, b1, ones, sum[p]);
      }
    }
    excess_sums<P>(t, column, taps, sum);
  };
  in_tiles(of, pixels, to, add);
}

/// Sums of all pixels, where bytes are picked or the sum is short; false: they are not computed.
inline bool sums_of_all(const NarrowSum& t, i64 column, i64 pixels, Ints (*to)[2]) {
  const auto* all = t.excess ? t.excess + column / kWidth : nullptr;
  if (!all || !all->fits) return false;
  const bool alike = all[0].picks == all[1].picks;
  const auto take = [&]<i64 kSteps>() {
    alike ? short_sums<kSteps, true>(t, column, pixels, to) : short_sums<kSteps, false>(t, column, pixels, to);
    return true;
  };
  const bool is_run = !all->halved && t.blocks == 1 && t.tap_count == 1;
  switch (is_run ? t.last_steps : 0) {
    case 4: return take.template operator()<4>();
    case 5: return take.template operator()<5>();
    case 6: return take.template operator()<6>();
    case 7: return take.template operator()<7>();
    case 8: return take.template operator()<8>();
    case 12: return take.template operator()<12>();
    case 16: return take.template operator()<16>();
    default: break;
  }
  if (!all->picks) return false;
  if (all->halved) picked_sums_of_all<Picked::by_vector, 2>(t, column, pixels, to);
  else if (alike) picked_sums_of_all<Picked::alike>(t, column, pixels, to);
  else if (all->by_column) picked_sums_of_all<Picked::by_column>(t, column, pixels, to);
  else picked_sums_of_all<Picked::by_vector>(t, column, pixels, to);
  return true;
}

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

/// What follows the sums of 16 channels.
struct U8Ending {
  Vec scale[2], shift[2], low, high;
  LevelBounds bounds;

  U8Ending(const U8DepthwiseRows& r, i64 channel)
      : low(spread(r.low)),
        high(spread(r.high)),
        bounds(r.lows ? LevelBounds(r.lows + channel, r.highs + channel) : LevelBounds(r.low, r.high)) {
    const auto lanes = [&](const float* p, int half) {
      const auto four = [&](i64 i) { return _mm_loadu_ps(p + channel + 4 * half + i); };
      return _mm256_set_m128(four(8), four(0));
    };
    for (int half = 0; half < 2; ++half) {
      scale[half] = lanes(r.scale, half);
      shift[half] = lanes(r.shift, half);
    }
  }
  [[gnu::always_inline]] void store_pixel(const U8DepthwiseRows& r, i64 i, i64 channel, const TwoTaps& sum) const {
    Vec v[2];
    for (int half = 0; half < 2; ++half) {
      v[half] = fma(_mm256_cvtepi32_ps(sum.half[half]), scale[half], shift[half]);
      if (r.wide || !r.small) v[half] = min(high, max(low, v[half]));
    }
    if (!r.wide) {
      const auto shorts = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
      const auto bytes = bounds.within(_mm256_permute4x64_epi64(_mm256_packus_epi16(shorts, shorts), 0x08));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(r.out + i * 4 * kBlock + channel), _mm256_castsi256_si128(bytes));
    } else if (const auto block = channel / kBlock; block < r.wide_blocks) {
      float* to = r.wide + block * r.wide_block + i * kBlock;
      store(to, _mm256_permute2f128_ps(v[0], v[1], 0x20));
      store(to + kWidth, _mm256_permute2f128_ps(v[0], v[1], 0x31));
    }
  }
};

/// 3 × 3 taps of 16 channels: the pixels of a column, which serve all outputs that read it, the third by itself.
template <int kStep>
static void u8_depthwise3(const U8DepthwiseRows& r, i64 channel) {
  struct Column {
    TwoTaps upper, third;
  };
  const auto column_of = [](auto pixel) __attribute__((always_inline)) {
    return Column{two_taps(pixel(0), pixel(1)), two_taps(pixel(2), _mm256_setzero_si256())};
  };
  Column weights[3];
  for (int c = 0; c < 3; ++c)
    weights[c] = column_of([&](i64 row) { return sixteen_i8(r.weights + (3 * row + c) * 4 * kBlock + channel); });
  const U8Ending ending(r, channel);
  for (i64 y = 0; y < r.rows; ++y) {
    const auto* in = reinterpret_cast<const std::uint8_t*>(r.in + y * r.row) + channel;
    const auto read = [&](i64 x, Column & to) __attribute__((always_inline)) {
      to = column_of([&](i64 row) __attribute__((always_inline)) {
        return sixteen_u8(in + (r.taps[3 * row] + x * kBlock) * 4);
      });
    };
    const auto sum = [&](i64 x, const Column& a, const Column& b, const Column& c) __attribute__((always_inline)) {
      TwoTaps sums;
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        auto& s = sums.half[half];
        s = _mm256_madd_epi16(a.upper.half[half], weights[0].upper.half[half]);
        s = add_pairs(s, a.third.half[half], weights[0].third.half[half]);
        s = add_pairs(s, b.upper.half[half], weights[1].upper.half[half]);
        s = add_pairs(s, b.third.half[half], weights[1].third.half[half]);
        s = add_pairs(s, c.upper.half[half], weights[2].upper.half[half]);
        s = add_pairs(s, c.third.half[half], weights[2].third.half[half]);
      }
      ending.store_pixel(r, y * r.pixels + x, channel, sums);
    };
    columns<kStep, Column>(r.pixels, read, sum);
  }
}

static void u8_depthwise(const U8DepthwiseRows& r) {
  constexpr i64 kMaxPairs = 32;
  const auto step = step_of_columns(r);
  for (i64 channel = 0; channel < r.channels; channel += kBlock) {
    if (step == 1) {
      u8_depthwise3<1>(r, channel);
      continue;
    }
    if (step == 2) {
      u8_depthwise3<2>(r, channel);
      continue;
    }
    TwoTaps weights[kMaxPairs];
    const auto pair = [&](i64 t, auto tap) __attribute__((always_inline)) {
      return two_taps(tap(t), t + 1 < r.tap_count ? tap(t + 1) : _mm256_setzero_si256());
    };
    for (i64 t = 0; t < r.tap_count; t += 2)
      weights[t / 2] = pair(t, [&](i64 tap) { return sixteen_i8(r.weights + tap * 4 * kBlock + channel); });
    const U8Ending ending(r, channel);
    for (i64 i = 0; i < r.rows * r.pixels; ++i) {
      const auto* in = reinterpret_cast<const std::uint8_t*>(r.in + i / r.pixels * r.row + i % r.pixels * r.step);
      TwoTaps sum{};
      for (i64 t = 0; t < r.tap_count; t += 2) {
        const auto taps = pair(t, [&](i64 tap) { return sixteen_u8(in + r.taps[tap] * 4 + channel); });
        for (int half = 0; half < 2; ++half)
          sum.half[half] = add_pairs(sum.half[half], taps.half[half], weights[t / 2].half[half]);
      }
      ending.store_pixel(r, i, channel, sum);
    }
  }
}
