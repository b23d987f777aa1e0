// Compressed weights by u8 × i8 instructions: what they are multiplied by is written as three digits of a number in
// base 256, so the sums of a block are those of integers, and exact. For AVX-512 with VNNI, after its vectors.

constexpr i64 kCodeBytes = CodeBlocks::kBytes;  // as many as a vector holds
constexpr int kDigits = Digits::kDigits;
constexpr i64 kAhead = 8192;  // bytes that are asked for beforehand, into the second cache

/// The vectors of codes of a block: one of bytes, or those of the first and of the second codes of all bytes.
template <bool kNibbles>
[[gnu::always_inline]] inline void codes_of(__m512i bytes, __m512i meaning, __m512i (&codes)[2]) {
  const auto low = _mm512_set1_epi8(15);
  if (!kNibbles) {
    codes[0] = _mm512_xor_si512(bytes, meaning);
    return;
  }
  codes[0] = _mm512_shuffle_epi8(meaning, _mm512_and_si512(bytes, low));
  codes[1] = _mm512_shuffle_epi8(meaning, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low));
}

/// The sums of a block's codes times the numbers that the digits are of, in steps, by lane. The first digits of bytes
/// are summed by themselves: together they take more than 32 bits.
template <bool kNibbles>
[[gnu::always_inline]] inline Vec block_sums(const __m512i (&codes)[2], const __m512i (&digits)[kDigits][2]) {
  const auto add = [&](int digit, Ints& sum) __attribute__((always_inline)) {
    dot_u8((Words)codes[0], (Words)digits[digit][0], sum);
    if (kNibbles) dot_u8((Words)codes[1], (Words)digits[digit][1], sum);
  };
  Ints high{};
  add(0, high);
  if (kNibbles) {
    high = high << 8;
    add(1, high);
    high = high << 8;
    add(2, high);
    return __builtin_convertvector(high, Vec);
  }
  Ints low{};
  add(1, low);
  low = low << 8;
  add(2, low);
  return fma(__builtin_convertvector(high, Vec), spread(65536.0f), __builtin_convertvector(low, Vec));
}

template <bool kNibbles>
[[gnu::always_inline]] inline void load_digits(const std::int8_t* from, __m512i (&digits)[kDigits][2]) {
  for (int d = 0; d < kDigits; ++d)
    for (int v = 0; v <= kNibbles; ++v, from += kCodeBytes) digits[d][v] = _mm512_loadu_si512(from);
}

/// The numbers that a block's codes belong to, in the order of the vectors of codes, 16 at a time: from codes on.
template <bool kNibbles>
[[gnu::always_inline]] inline void load_numbers(const float* x, i64 left, i64 i, Vec (&v)[2]) {
  if (!kNibbles) {
    v[0] = load_some(x + i, left - i);
    return;
  }
  const auto a = load_some(x + 2 * i, left - 2 * i);
  const auto b = left - 2 * i > 16 ? load_some(x + 2 * i + 16, left - 2 * i - 16) : Vec{};
  const auto even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  v[0] = _mm512_permutex2var_ps(a, even, b);
  v[1] = _mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
}

template <bool kNibbles>
static bool digits_of(const CodeRows& w, const float* x, const Digits& to) {
  constexpr int kVectors = kNibbles ? 2 : 1;
  constexpr i64 kCodes = kVectors * kCodeBytes;
  const CodeBlocks blocks(w);
  const i64 columns = w.groups * w.group;
  for (i64 i = 0; i < w.groups; ++i) to.sums[i] = 0;
  for (i64 block = 0; block < blocks.count; ++block) {
    const float* from = x + block * kCodes;
    const i64 left = columns - block * kCodes;
    Vec numbers[kCodeBytes / kWidth][2], largest_lanes{};
    for (i64 i = 0; i < kCodeBytes / kWidth; ++i) {
      load_numbers<kNibbles>(from, left, i * kWidth, numbers[i]);
      for (int v = 0; v < kVectors; ++v) {
        if (_mm512_cmp_ps_mask(numbers[i][v], numbers[i][v], _CMP_UNORD_Q)) return false;
        largest_lanes = max(largest_lanes, _mm512_abs_ps(numbers[i][v]));
      }
    }
    const float largest = _mm512_reduce_max_ps(largest_lanes);
    if (largest > 0x1p120f || (largest < 0x1p-90f && largest > 0)) return false;
    // 2^22 steps are more than the largest number.
    const Vec exponent = largest > 0 ? _mm512_getexp_ps(spread(largest)) - spread(21.0f) : Vec{};
    const Vec step = _mm512_scalef_ps(spread(1.0f), exponent), back = _mm512_scalef_ps(spread(1.0f), -exponent);
    std::int8_t* digits = to.digits + block * kDigits * kCodes;
    for (i64 i = 0; i < kCodeBytes / kWidth; ++i)
      for (int v = 0; v < kVectors; ++v) {
        auto q = _mm512_cvtps_epi32(numbers[i][v] * back);
        for (int d = kDigits - 1; d >= 0; --d) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(digits + (d * kVectors + v) * kCodeBytes + i * kWidth),
                           _mm512_cvtepi32_epi8(q));
          q = _mm512_srai_epi32(_mm512_add_epi32(q, _mm512_set1_epi32(128)), 8);
        }
      }
    to.steps[block] = _mm512_cvtss_f32(step);
    __m512i rows[kDigits][2];
    load_digits<kNibbles>(digits, rows);
    const auto one = _mm512_set1_epi8(1);
    const Vec sums = block_sums<kNibbles>({one, one}, rows) * step;
    if (blocks.per_block == 1) {
      to.sums[block / blocks.per_group] += sum_of(sums);
      continue;
    }
    float lanes[16];
    store(lanes, sums);
    for (i64 l = 0; l < 16; ++l) {
      const i64 group = block * blocks.per_block + blocks.group_of(l);
      if (group < w.groups) to.sums[group] += lanes[l];
    }
  }
  return true;
}

/// What the loops over blocks need of codes.
template <bool kNibbles>
struct CodeVectors {
  __m512i turn;  // bytes by code, or what makes bytes of them by xor
  __m512i group_of_lane;
  float unit;
  CodeVectors(const CodeBytes& meaning, const CodeBlocks& blocks) : unit(meaning.unit) {
    const auto nibbles = _mm_loadu_si128(reinterpret_cast<const __m128i*>(meaning.of_nibble));
    turn = kNibbles ? _mm512_broadcast_i32x4(nibbles)
                    : _mm512_set1_epi8(static_cast<char>(static_cast<int>(meaning.middle)));
    int lanes[16];
    for (int l = 0; l < 16; ++l) lanes[l] = static_cast<int>(blocks.group_of(l));
    group_of_lane = _mm512_loadu_si512(lanes);
  }
};

template <bool kNibbles, bool kManyGroups, int R>
[[gnu::always_inline]] inline void add_blocks(const CodeRows& w, const Digits& x, const CodeBlocks& blocks,
                                              const CodeVectors<kNibbles>& vectors, Vec (&sum)[R]) {
  constexpr i64 kSize = kDigits * (kNibbles ? 2 : 1) * kCodeBytes;
  const std::int8_t* at = x.digits;
  const unsigned char* from = w.codes;
  const float *step = x.steps, *scale = w.scale;
  const i64 row = w.row, scale_row = w.scale_row;
  i64 groups = blocks.per_block;
  // All bytes of a block, but for the last one.
  const auto block = [&](auto load_codes) __attribute__((always_inline)) {
    __m512i digits[kDigits][2];
    load_digits<kNibbles>(at, digits);
    const Vec by = spread(*step * vectors.unit);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const unsigned char* bytes = from + r * row;
      __builtin_prefetch(bytes + kAhead, 0, 2);
      __m512i codes[2];
      codes_of<kNibbles>(load_codes(bytes), vectors.turn, codes);
      const Vec scales = kManyGroups
                             ? _mm512_permutexvar_ps(vectors.group_of_lane, load_some(scale + r * scale_row, groups))
                             : spread(scale[r * scale_row]);
      sum[r] = fma(block_sums<kNibbles>(codes, digits) * by, scales, sum[r]);
    }
    at += kSize;
    from += kCodeBytes;
    ++step;
  };
  const auto whole = [](const unsigned char* p) { return _mm512_loadu_si512(p); };
  const auto rest = [&](const unsigned char* p) {
    return _mm512_maskz_loadu_epi8((__mmask64{1} << blocks.bytes % kCodeBytes) - 1, p);
  };
  const i64 full = blocks.bytes / kCodeBytes, per_group = blocks.per_group;
  for (i64 b = 0; b < full;) {
    const i64 until = b + per_group < full ? b + per_group : full;
    for (; b < until; ++b) block(whole);
    scale += w.scale_group * blocks.per_block;
  }
  if (blocks.bytes % kCodeBytes == 0) return;
  if (kManyGroups) groups = w.groups - full * blocks.per_block;
  else scale = w.scale;  // one group a row
  block(rest);
}

#include "fast/isa/digits_rows.inl"

static bool to_digits(const CodeRows& w, const float* x, const Digits& to) {
  return w.bits == 4 ? digits_of<true>(w, x, to) : digits_of<false>(w, x, to);
}

static void dot_digits(const CodeRows& w, i64 rows, const Digits& x, float* y) {
  if (w.bits == 4) dot_digits_of<true>(w, rows, x, y);
  else dot_digits_of<false>(w, rows, x, y);
}
