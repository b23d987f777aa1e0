// Sums of u8 by i8 with AVX2 whose bytes are picked, and short ones. Included by u8_avx2.inl.

/// Beside whose sums and bytes there is room for two vectors of weights and their picks.
constexpr int kPixelsOfPicks = 3;

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

/// The same for both vectors.
[[gnu::always_inline]] inline void add_picked(const Word* from, __m256i pick, __m256i b0, __m256i b1, __m256i ones,
                                              Ints (&sum)[2]) {
  __m256i word, product;
  asm("vbroadcasti128 %4, %2\n\t"
      "vpshufb %5, %2, %2\n\t"
      "vpmaddubsw %6, %2, %3\n\t"
      "vpmaddwd %8, %3, %3\n\t"
      "vpaddd %3, %0, %0\n\t"
      "vpmaddubsw %7, %2, %2\n\t"
      "vpmaddwd %8, %2, %2\n\t"
      "vpaddd %2, %1, %1"
      : "+x"(sum[0]), "+x"(sum[1]), "=&x"(word), "=&x"(product)
      : "m"(*reinterpret_cast<const __m128i_u*>(from)), "x"(pick), "x"(b0), "x"(b1), "x"(ones));
}

// Runs of four steps, of neighbors in a block: so little is to be done in one that addresses are constant.
inline bool has_runs_of_four(const NarrowSum& t) { return t.blocks == 1 && t.last_steps == 4 && t.pixel == kBlock; }

/// visit(words of the first pixel, weights, picks) for each step of the runs.
template <int kUsed, i64 kStep, class Visit>
[[gnu::always_inline]] inline void each_of_four(const NarrowSum& t, i64 column, const i64* taps, Visit visit) {
  const Word *w = t.weights + column, *picks = t.excess[column / kWidth].picks;
  for (i64 tap = 0; tap < t.tap_count; ++tap, w += 4 * kColumns, picks += 4 * kStep)
#pragma GCC unroll 4
    for (i64 j = 0; j < kUsed; ++j) visit(t.in + taps[tap], w + j * kColumns, picks + j * kStep);
}

/// How many pixels are computed at once where both vectors' bytes are picked alike, and by one vector.
constexpr int kPixelsOfBoth = 5, kPixelsOfVector = 10;

struct BothAlike {
  template <int P>
  [[gnu::noinline]] static void sums(const NarrowSum& t, i64 column, const i64* taps, Ints (*to)[2]) {
    const __m256i ones = _mm256_set1_epi16(1);
    Ints sum[P][2] = {};
    each_of_four<4, 1>(
        t, column, taps, [&](const Word* at, const Word* w, const Word* picks) __attribute__((always_inline)) {
          const auto b0 = (__m256i)load_words(w), b1 = (__m256i)load_words(w + kWidth),
                     pick = (__m256i)(Words{} + *picks);
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) add_picked(at + p * kBlock, pick, b0, b1, ones, sum[p]);
        });
    excess_sums<P>(t, column, taps, sum);
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) {
      to[p][0] = sum[p][0];
      to[p][1] = sum[p][1];
    }
  }
};
/// A vector after the other, whose picks are their own. kUsed: of four steps.
template <bool kByColumn, int kUsed>
struct EachVector {
  template <int P>
  [[gnu::noinline]] static void vector(const NarrowSum& t, i64 column, const i64* taps, Ints* to) {
    const __m256i ones = _mm256_set1_epi16(1);
    Ints sum[P] = {};
    each_of_four<kUsed, kByColumn ? kWidth : 1>(
        t, column, taps, [&](const Word* at, const Word* w, const Word* picks) __attribute__((always_inline)) {
          const auto b = (__m256i)load_words(w), pick = (__m256i)(kByColumn ? load_words(picks) : Words{} + *picks);
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) add_picked(at + p * kBlock, pick, b, ones, sum[p]);
        });
    add_excess<P>(
        t, t.excess[column / kWidth], taps, [&](int p) __attribute__((always_inline))->Ints & { return sum[p]; });
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) to[2 * p] = sum[p];
  }
  template <int P>
  static void sums(const NarrowSum& t, i64 column, const i64* taps, Ints (*to)[2]) {
    vector<P>(t, column, taps, &to[0][0]);
    vector<P>(t, column + kWidth, taps, &to[0][1]);
  }
};
template <class Sums, int P>
[[gnu::always_inline]] inline void sums_of_some(const NarrowSum& t, i64 column, const i64* taps, int pixels,
                                                Ints (*to)[2]) {
  if (pixels == P) return Sums::template sums<P>(t, column, taps, to);
  if constexpr (P > 1) sums_of_some<Sums, P - 1>(t, column, taps, pixels, to);
}
/// The same of all pixels, kMost at a time.
template <class Sums, int kMost>
static void sums_by_fours(const NarrowSum& all, i64 column, i64 pixels, Ints (*to)[2]) {
  auto t = all;
  in_parts(static_cast<int>(pixels), kMost, [&](i64 first, int now) {
    t.in = all.in + first * kBlock;
    sums_of_some<Sums, kMost>(t, column, taps_of(all, column), now, to + first);
  });
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
  if (has_runs_of_four(t)) {
    if (all->halved) sums_by_fours<EachVector<false, 2>, kPixelsOfVector>(t, column, pixels, to);
    else if (alike) sums_by_fours<BothAlike, kPixelsOfBoth>(t, column, pixels, to);
    else if (all->by_column) sums_by_fours<EachVector<true, 4>, kPixelsOfVector>(t, column, pixels, to);
    else sums_by_fours<EachVector<false, 4>, kPixelsOfVector>(t, column, pixels, to);
    return true;
  }
  if (all->halved) picked_sums_of_all<Picked::by_vector, 2>(t, column, pixels, to);
  else if (alike) picked_sums_of_all<Picked::alike>(t, column, pixels, to);
  else if (all->by_column) picked_sums_of_all<Picked::by_column>(t, column, pixels, to);
  else picked_sums_of_all<Picked::by_vector>(t, column, pixels, to);
  return true;
}
