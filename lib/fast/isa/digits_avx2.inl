// Compressed weights of 4 bits with AVX2: products as in digits_avx512.inl, by the instruction that adds two u8 × i8
// within 16 bits, which four of these sums leave room in. Behind vector_avx2.inl.

constexpr i64 kCodeBytes = CodeBlocks::kBytes;  // two vectors of bytes, four of codes
constexpr i64 kBlockCodes = 2 * kCodeBytes;
constexpr int kDigits = Digits::kDigits;

/// Bytes that stand for the codes of a block: the first ones of its bytes, then the second ones.
struct BlockCodes {
  __m256i v[2][2];
  [[gnu::always_inline]] BlockCodes(const unsigned char* from, __m256i table) {
    const auto low = _mm256_set1_epi8(15);
    for (int half = 0; half < 2; ++half) {
      const auto bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32 * half));
      v[0][half] = _mm256_shuffle_epi8(table, _mm256_and_si256(bytes, low));
      v[1][half] = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low));
    }
  }
};

/// The sums of products of codes and one digit, by pairs of bytes: of one half of the block.
[[gnu::always_inline]] inline __m256i pair_products(const BlockCodes& codes, const std::int8_t* digits, int half) {
  const auto of = [&](int v) __attribute__((always_inline)) {
    const auto* at = reinterpret_cast<const __m256i*>(digits + v * kCodeBytes + 32 * half);
    return _mm256_maddubs_epi16(codes.v[v][half], _mm256_loadu_si256(at));
  };
  return _mm256_add_epi16(of(0), of(1));
}
/// Pairs of sums by digit as one number, in steps.
[[gnu::always_inline]] inline Vec in_steps(const __m256i (&pairs)[kDigits]) {
  const auto high = _mm256_set1_epi16(256), one = _mm256_set1_epi16(1);
  const auto first = _mm256_slli_epi32(_mm256_madd_epi16(pairs[0], high), 8);
  const auto others = _mm256_add_epi32(_mm256_madd_epi16(pairs[1], high), _mm256_madd_epi16(pairs[2], one));
  return _mm256_cvtepi32_ps(_mm256_add_epi32(first, others));
}
[[gnu::always_inline]] inline Vec half_sums(const BlockCodes& codes, const std::int8_t* digits, int half) {
  __m256i pairs[kDigits];
  for (int d = 0; d < kDigits; ++d) pairs[d] = pair_products(codes, digits + d * kBlockCodes, half);
  return in_steps(pairs);
}
[[gnu::always_inline]] inline Vec block_sums(const BlockCodes& codes, const std::int8_t* digits) {
  __m256i pairs[kDigits];
  for (int d = 0; d < kDigits; ++d) {
    const auto* of = digits + d * kBlockCodes;
    pairs[d] = _mm256_add_epi16(pair_products(codes, of, 0), pair_products(codes, of, 1));
  }
  return in_steps(pairs);
}

static bool to_digits(const CodeRows& w, const float* x, const Digits& to) {
  if (w.bits != 4) return false;
  const CodeBlocks blocks(w);
  const i64 columns = w.groups * w.group;
  for (i64 i = 0; i < w.groups; ++i) to.sums[i] = 0;
  for (i64 block = 0; block < blocks.count; ++block) {
    // In the order of the codes, which are two to a byte.
    float numbers[kBlockCodes] = {};
    const i64 first = block * kBlockCodes, count = columns - first < kBlockCodes ? columns - first : kBlockCodes;
    i64 done = 0;
    for (; 2 * (done + kWidth) <= count; done += kWidth) {
      const Vec a = load(x + first + 2 * done), b = load(x + first + 2 * done + kWidth);
      const auto in_order = [](Vec v) { return (Vec)_mm256_permute4x64_epi64((__m256i)v, 0b11'01'10'00); };
      store(numbers + done, in_order(_mm256_shuffle_ps(a, b, 0b10'00'10'00)));
      store(numbers + kCodeBytes + done, in_order(_mm256_shuffle_ps(a, b, 0b11'01'11'01)));
    }
    for (; done < count / 2; ++done) {
      numbers[done] = x[first + 2 * done];
      numbers[kCodeBytes + done] = x[first + 2 * done + 1];
    }
    // Magnitudes as integers have their order, and what is no number is above all.
    __m256i most = _mm256_setzero_si256();
    for (i64 i = 0; i < kBlockCodes; i += kWidth) {
      const auto magnitude = _mm256_and_si256((__m256i)load(numbers + i), _mm256_set1_epi32(0x7fffffff));
      most = _mm256_max_epi32(most, magnitude);
    }
    int lanes[8], largest = 0;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), most);
    for (const int lane : lanes) largest = lane > largest ? lane : largest;
    constexpr int kOne = 127, kMantissa = 23;
    const int exponent = largest >> kMantissa;
    if (exponent > kOne + 119 || (exponent < kOne - 90 && largest > 0)) return false;
    // 2^22 steps are more than the largest number.
    const int power = largest > 0 ? exponent - kOne - 21 : 0;
    const auto power_of_two = [](int n) { return (Vec)_mm256_set1_epi32((kOne + n) << kMantissa); };
    const Vec step = power_of_two(power), back = power_of_two(-power);
    std::int8_t* digits = to.digits + block * kDigits * kBlockCodes;
    for (i64 i = 0; i < kBlockCodes; i += kWidth) {
      auto q = _mm256_cvtps_epi32(load(numbers + i) * back);
      for (int d = kDigits - 1; d >= 0; --d) {
        // The lowest byte of each lane.
        const auto lowest = _mm256_shuffle_epi8(q, _mm256_set1_epi32(0x0c080400));
        const auto both = _mm_unpacklo_epi32(_mm256_castsi256_si128(lowest), _mm256_extracti128_si256(lowest, 1));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(digits + d * kBlockCodes + i), both);
        q = _mm256_srai_epi32(_mm256_add_epi32(q, _mm256_set1_epi32(128)), 8);
      }
    }
    to.steps[block] = step[0];
    unsigned char zeros[kCodeBytes] = {};
    const BlockCodes ones(zeros, _mm256_set1_epi8(1));
    float sums[2 * kWidth];
    for (int half = 0; half < 2; ++half) store(sums + kWidth * half, half_sums(ones, digits, half) * step);
    for (i64 l = 0; l < 2 * kWidth; ++l) {
      const i64 group =
          blocks.per_block == 1 ? block / blocks.per_group : block * blocks.per_block + blocks.group_of(l);
      if (group < w.groups) to.sums[group] += sums[l];
    }
  }
  return true;
}

/// What the loops over blocks need of codes.
template <bool kNibbles>
struct CodeVectors {
  static_assert(kNibbles, "four sums of products of bytes could not be held by 16 bits");
  __m256i table;             // of bytes by code
  __m256i group_of_lane[2];  // of either vector of bytes
  float unit;
  CodeVectors(const CodeBytes& meaning, const CodeBlocks& blocks)
      : table(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(meaning.of_nibble)))),
        unit(meaning.unit) {
    for (int half = 0; half < 2; ++half) {
      int lanes[kWidth];
      for (int l = 0; l < kWidth; ++l) lanes[l] = static_cast<int>(blocks.group_of(kWidth * half + l));
      group_of_lane[half] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes));
    }
  }
};

template <bool kNibbles, bool kManyGroups, int R>
[[gnu::always_inline]] inline void add_blocks(const CodeRows& w, const Digits& x, const CodeBlocks& blocks,
                                              const CodeVectors<kNibbles>& vectors, Vec (&sum)[R]) {
  const float* scale = w.scale;
  const i64 scales_ahead = w.scale_row * kCodesAhead / w.row;
  const auto block = [&](i64 b, const unsigned char* from, i64 row) __attribute__((always_inline)) {
    const std::int8_t* digits = x.digits + b * kDigits * kBlockCodes;
    const Vec by = spread(x.steps[b] * vectors.unit);
    const i64 groups = w.groups - b * blocks.per_block;
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const unsigned char* bytes = from + r * row;
      __builtin_prefetch(bytes + kCodesAhead, 0, 2);
      if (kManyGroups) __builtin_prefetch(scale + r * w.scale_row + scales_ahead, 0, 3);
      const BlockCodes codes(bytes, vectors.table);
      if (!kManyGroups) {
        sum[r] = fma(block_sums(codes, digits) * by, spread(scale[r * w.scale_row]), sum[r]);
        continue;
      }
      const auto scales = load_some(scale + r * w.scale_row, groups);
      for (int half = 0; half < 2; ++half)
        sum[r] = fma(half_sums(codes, digits, half) * by, _mm256_permutevar8x32_ps(scales, vectors.group_of_lane[half]),
                     sum[r]);
    }
  };
  const i64 full = blocks.bytes / kCodeBytes;
  for (i64 b = 0; b < full;) {
    const i64 until = b + blocks.per_group < full ? b + blocks.per_group : full;
    for (; b < until; ++b) block(b, w.codes + b * kCodeBytes, w.row);
    scale += w.scale_group * blocks.per_block;
  }
  const i64 rest = blocks.bytes % kCodeBytes;
  if (rest == 0) return;
  if (!kManyGroups) scale = w.scale;  // one group a row, or one scale
  unsigned char codes[R][kCodeBytes] = {};
  for (int r = 0; r < R; ++r)
    for (i64 i = 0; i < rest; ++i) codes[r][i] = w.codes[r * w.row + full * kCodeBytes + i];
  block(full, codes[0], kCodeBytes);
}

#include "fast/isa/digits_rows.inl"

static void dot_digits(const CodeRows& w, i64 rows, const Digits& x, float* y) { dot_digits_of<true>(w, rows, x, y); }
