// Sums of u8 by i8 with AVX2 whose bytes are picked, and short ones. Included by u8_avx2.inl.

/// Beside whose sums and bytes there is room for two vectors of weights and their picks.
constexpr int kPixelsOfPicks = 3;

/// As add_bytes(), of four of sixteen bytes, for both vectors, which stay in memory.
template <class Sum>
[[gnu::always_inline]] inline void add_picked(__m256i bytes, __m256i pick, const Word* weights, __m256i ones,
                                              Sum (&sum)[2]) {
  const auto* b = reinterpret_cast<const __m256i_u*>(weights);
  __m256i word, product;
  asm("vpshufb %5, %4, %2\n\t"
      "vpmaddubsw %6, %2, %3\n\t"
      "vpmaddwd %8, %3, %3\n\t"
      "vpaddd %3, %0, %0\n\t"
      "vpmaddubsw %7, %2, %2\n\t"
      "vpmaddwd %8, %2, %2\n\t"
      "vpaddd %2, %1, %1"
      : "+x"(sum[0]), "+x"(sum[1]), "=&x"(word), "=&x"(product)
      : "x"(bytes), "x"(pick), "m"(b[0]), "m"(b[1]), "x"(ones));
}
/// The same, whose weights are in registers.
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
/// As add_picked() of a vector, from memory.
[[gnu::always_inline]] inline void add_picked(const Word* from, __m256i pick, __m256i b, __m256i ones, Ints& sum) {
  __m256i word;
  asm("vbroadcasti128 %2, %1\n\t"
      "vpshufb %3, %1, %1\n\t"
      "vpmaddubsw %4, %1, %1\n\t"
      "vpmaddwd %5, %1, %1\n\t"
      "vpaddd %1, %0, %0"
      : "+x"(sum), "=&x"(word)
      : "m"(*reinterpret_cast<const __m128i_u*>(from)), "x"(pick), "x"(b), "x"(ones));
}

/// As add_picked() of a vector, which stays in memory.
[[gnu::always_inline]] inline void add_picked(__m256i bytes, __m256i pick, const Word* weights, __m256i ones,
                                              Ints& sum) {
  __m256i word;
  asm("vpshufb %3, %2, %1\n\t"
      "vpmaddubsw %4, %1, %1\n\t"
      "vpmaddwd %5, %1, %1\n\t"
      "vpaddd %1, %0, %0"
      : "+x"(sum), "=&x"(word)
      : "x"(bytes), "x"(pick), "m"(*reinterpret_cast<const __m256i_u*>(weights)), "x"(ones));
}

/// The next steps, of which all read the same sixteen bytes.
template <int kCount>
using Steps = std::integral_constant<int, kCount>;

/// visit(Steps, words of the first pixel, weights, picks) for the steps of all runs. kSteps: of each run, which are of
/// one block, so that there are no loops within them; 0: any. kUsed: of four steps.
template <i64 kSteps, int kUsed, i64 kStep, class Visit>
[[gnu::always_inline]] inline void each_picked(const NarrowSum& t, i64 column, const i64* taps, Visit visit) {
  const Word *w = t.weights + column, *picks = t.excess[column / kWidth].picks;
  const auto next = [&](auto count, i64 used, const Word* at) __attribute__((always_inline)) {
    visit(count, at, w, picks);
    w += used * kColumns;
    picks += used * kStep;
  };
  const auto four = [&](const Word* at) __attribute__((always_inline)) { next(Steps<kUsed>{}, 4, at); };
  if constexpr (kSteps > 0) {
    for (i64 tap = 0; tap < t.tap_count; ++tap) {
      const Word* const first = t.in + taps[tap];
#pragma GCC unroll 2
      for (i64 i = 0; i + 4 <= kSteps; i += 4) four(first + i);
      constexpr i64 kRest = kSteps % 4;
      if constexpr (kRest > 0) next(Steps<kRest>{}, kRest, first + first_of_four(kSteps - kRest, kSteps));
    }
    return;
  }
  for (i64 block = 0; block < t.blocks; ++block)
    for (i64 tap = 0, steps = block + 1 < t.blocks ? t.steps : t.last_steps; tap < t.tap_count; ++tap) {
      const Word* const first = t.in + block * t.block + taps[tap];
      i64 i = 0;
      for (; i + 4 <= steps; i += 4) {
        if (i % kBlock == 0) ask(t.ahead);
        four(first + i);
      }
      for (; i < steps; ++i) next(Steps<1>{}, 1, first + first_of_four(i, steps));
    }
}

/// Where runs are of four steps, pixels are neighbors in a block.
template <i64 kSteps>
inline i64 pixel_of(const NarrowSum& t) {
  return kSteps == 4 ? kBlock : t.pixel;
}

/// How many pixels are computed at once where both vectors' bytes are picked alike, whose bytes stay in registers, and
/// by one vector.
constexpr int kPixelsOfBoth = 4, kPixelsOfVector = 10;

template <i64 kSteps>
struct BothAlike {
  static constexpr int kMost = kPixelsOfBoth;
  template <int P>
  [[gnu::always_inline]] static void sums(const NarrowSum& t, i64 column, const i64* taps, Ints (*to)[2]) {
    const __m256i ones = _mm256_set1_epi16(1);
    const i64 pixel = pixel_of<kSteps>(t);
    Ints sum[P][2] = {};
    each_picked<kSteps, 4, 1>(
        t, column, taps,
        [&]<int kCount>(Steps<kCount>, const Word* at, const Word* w, const Word* picks)
            __attribute__((always_inline)) {
              __m256i x[P];
#pragma GCC unroll 4
              for (int p = 0; p < P; ++p) x[p] = sixteen_bytes(at + p * pixel);
#pragma GCC unroll 4
              for (int i = 0; i < kCount; ++i, w += kColumns) {
                const auto pick = (__m256i)(Words{} + picks[i]);
#pragma GCC unroll 4
                for (int p = 0; p < P; ++p) add_picked(x[p], pick, w, ones, sum[p]);
              }
            });
    excess_sums<P>(t, column, taps, sum);
    store_sums<P>(sum, to);
  }
};
/// Each vector has picks of its own, or each column. kUsed: of four steps.
template <i64 kSteps, bool kByColumn, int kUsed>
struct BothApart {
  static constexpr int kMost = kPixelsOfBoth;
  template <int P>
  [[gnu::always_inline]] static void sums(const NarrowSum& t, i64 column, const i64* taps, Ints (*to)[2]) {
    const __m256i ones = _mm256_set1_epi16(1);
    const i64 pixel = pixel_of<kSteps>(t);
    const auto* all = t.excess + column / kWidth;
    constexpr i64 kPicks = kByColumn ? kWidth : 1;
    Ints sum[P][2] = {};
    each_picked<kSteps, kUsed, kPicks>(
        t, column, taps,
        [&]<int kCount>(Steps<kCount>, const Word* at, const Word* w, const Word* picks)
            __attribute__((always_inline)) {
              __m256i x[P];
#pragma GCC unroll 4
              for (int p = 0; p < P; ++p) x[p] = sixteen_bytes(at + p * pixel);
#pragma GCC unroll 8
              for (int i = 0; i < 2 * kCount; ++i) {
                const int j = i % 2;
                const Word* const own = all[j].picks + (picks - all[0].picks) + i / 2 * kPicks;
                const auto pick = (__m256i)(kByColumn ? load_words(own) : Words{} + *own);
#pragma GCC unroll 4
                for (int p = 0; p < P; ++p) add_picked(x[p], pick, w + i / 2 * kColumns + j * kWidth, ones, sum[p][j]);
              }
            });
    excess_sums<P>(t, column, taps, sum);
    store_sums<P>(sum, to);
  }
};
/// A vector whose bytes are picked. kUsed: of four steps.
template <i64 kSteps, bool kByColumn, int kUsed>
struct PickedVector {
  static constexpr int kMost = kPixelsOfVector;
  template <int P>
  [[gnu::noinline]] static void vector(const NarrowSum& t, i64 column, const i64* taps, Ints* to) {
    const __m256i ones = _mm256_set1_epi16(1);
    const i64 pixel = pixel_of<kSteps>(t);
    Ints sum[P] = {};
    constexpr i64 kPicks = kByColumn ? kWidth : 1;
    each_picked<kSteps, kUsed, kPicks>(
        t, column, taps,
        [&]<int kCount>(Steps<kCount>, const Word* at, const Word* w,
                        const Word* picks) __attribute__((always_inline)) {
          const Word* const at5 = at + 5 * pixel;
#pragma GCC unroll 4
          for (int i = 0; i < kCount; ++i, w += kColumns, picks += kPicks) {
            const auto b = (__m256i)load_words(w), pick = (__m256i)(kByColumn ? load_words(picks) : Words{} + *picks);
#pragma GCC unroll 16
            for (int p = 0; p < P; ++p) add_picked((p < 5 ? at : at5) + p % 5 * pixel, pick, b, ones, sum[p]);
          }
        });
    add_excess<P>(
        t, t.excess[column / kWidth], taps, [&](int p) __attribute__((always_inline))->Ints & { return sum[p]; });
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) to[2 * p] = sum[p];
  }
};
/// A vector of bytes that are not picked.
struct NeighborVector {
  static constexpr int kMost = 12;
  template <int P>
  [[gnu::noinline]] static void vector(const NarrowSum& t, i64 column, const i64* taps, Ints* to) {
    const __m256i ones = _mm256_set1_epi16(1);
    const i64 pixel = t.pixel;
    const Word* w = t.weights + column;
    Ints sum[P] = {};
    for_runs<P>(
        t, taps, [&](const auto& base, i64 steps) __attribute__((always_inline)) {
          for (i64 i = 0; i < steps; ++i, w += kColumns) {
            if (i % kBlock == 0) ask(t.ahead);
            const auto b = (__m256i)load_words(w);
#pragma GCC unroll 16
            for (int p = 0; p < P; ++p) add_bytes(base[p / 3] + p % 3 * pixel + i, b, ones, sum[p]);
          }
        });
    add_excess<P>(
        t, t.excess[column / kWidth], taps, [&](int p) __attribute__((always_inline))->Ints & { return sum[p]; });
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) to[2 * p] = sum[p];
  }
};
/// The first vector alone: the second one has no weights.
template <class Sums>
struct FirstVector {
  static constexpr int kMost = Sums::kMost;
  template <int P>
  static void sums(const NarrowSum& t, i64 column, const i64* taps, Ints (*to)[2]) {
    Sums::template vector<P>(t, column, taps, &to[0][0]);
    for (int p = 0; p < P; ++p) to[p][1] = Ints{};
  }
};
template <class Sums, int P = Sums::kMost>
[[gnu::always_inline]] inline void sums_of_some(const NarrowSum& t, i64 column, const i64* taps, int pixels,
                                                Ints (*to)[2]) {
  if (pixels == P) return Sums::template sums<P>(t, column, taps, to);
  if constexpr (P > 1) sums_of_some<Sums, P - 1>(t, column, taps, pixels, to);
}
/// The same of all pixels, kMost at a time.
template <class Sums>
[[gnu::noinline]] static void sums_in_parts(const NarrowSum& all, i64 column, i64 pixels, Ints (*to)[2]) {
  auto t = all;
  in_parts(pixels, Sums::kMost, [&](i64 first, int now) {
    t.in = all.in + first * all.pixel;
    sums_of_some<Sums>(t, column, taps_of(all, column), now, to + first);
  });
}

/// Sums of all pixels, of bytes that are picked. `first`: the second vector has no weights.
static void picked_sums(const NarrowSum& t, i64 column, i64 pixels, bool first, Ints (*to)[2]) {
  const auto* all = t.excess + column / kWidth;
  const i64 steps = t.blocks > 1 || (t.last_steps == 4 && t.pixel != kBlock) ? 0 : t.last_steps;
  const auto sums = [&]<class Sums>() { sums_in_parts<Sums>(t, column, pixels, to); };
  const auto apart = [&]<bool kByColumn, int kUsed>() {
    const auto of = [&]<i64 kSteps>() {
      if (first) sums.template operator()<FirstVector<PickedVector<kSteps, kByColumn, kUsed>>>();
      else sums.template operator()<BothApart<kSteps, kByColumn, kUsed>>();
    };
    steps == 4 ? of.template operator()<4>() : of.template operator()<0>();
  };
  if (all->halved) return all->by_column ? apart.template operator()<true, 2>() : apart.template operator()<false, 2>();
  if (all->by_column) return apart.template operator()<true, 4>();
  if (first || all[0].picks != all[1].picks) return apart.template operator()<false, 4>();
  if (steps == 3) return sums.template operator()<BothAlike<3>>();
  if (steps == 4) return sums.template operator()<BothAlike<4>>();
  if (steps == 7) return sums.template operator()<BothAlike<7>>();
  sums.template operator()<BothAlike<0>>();
}

/// The sums of all pixels, to which add(sum of the first of them, sums) adds those of a few.
template <class Add>
[[gnu::always_inline]] inline void in_tiles(NarrowSum t, i64 pixels, Ints (*to)[2], const Add& add) {
  const auto tile = [&]<int P>() __attribute__((always_inline)) {
    Ints sum[P][2] = {};
    add(t, sum);
    store_sums<P>(sum, to);
    t.in += P * t.pixel;
    to += P;
  };
  for (; pixels >= kPixelsOfPicks && pixels != 4; pixels -= kPixelsOfPicks) tile.template operator()<kPixelsOfPicks>();
  for (; pixels >= 2; pixels -= 2) tile.template operator()<2>();
  if (pixels > 0) tile.template operator()<1>();
}

/// The sums of one run of so many steps, picked or not. Loops are unrolled: between short ones there is as much to do
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

/// Sums of all pixels, where bytes are picked or the sum is short; false: they are not computed. `first`: the second
/// vector has no weights.
inline bool sums_of_all(const NarrowSum& t, i64 column, i64 pixels, bool first, Ints (*to)[2]) {
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
  if (!all->picks && !first) return false;
  if (!all->picks) sums_in_parts<FirstVector<NeighborVector>>(t, column, pixels, to);
  else picked_sums(t, column, pixels, first, to);
  return true;
}
