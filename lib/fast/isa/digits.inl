// Compressed weights by u8 × i8 instructions: what they are multiplied by is written as three digits of a number in
// base 256, so the sums of a block are those of integers, and exact. For AVX-512 with VNNI, after its vectors.

constexpr i64 kCodeBytes = 64;  // of a block: as many codes as a vector holds
constexpr int kDigits = 3;
constexpr i64 kAhead = 8192;  // bytes that are asked for beforehand, into the second cache

/// What bytes of codes stand for. Those of 8 bits are as nibble_bytes() says with 128 in the middle.
template <bool kNibbles>
static NibbleBytes meaning_of(const CodeRows& w) {
  auto meaning = nibble_bytes(w.kind);
  if (!kNibbles) meaning.middle *= 16;
  return meaning;
}

/// How blocks and groups of codes lie: a group is several blocks, or a block several groups of `lanes` lanes each.
struct Grouping {
  i64 bytes;      // of a row
  i64 blocks;     // of a row, the last one perhaps not whole
  i64 per_group;  // blocks, at least one
  i64 per_block;  // groups, at least one
  __m512i group_of_lane;

  explicit Grouping(const CodeRows& w) {
    const i64 group = w.group * w.bits / 8;
    bytes = w.groups * group;
    blocks = (bytes + kCodeBytes - 1) / kCodeBytes;
    per_group = w.groups == 1 ? blocks : group < kCodeBytes ? 1 : group / kCodeBytes;
    per_block = w.groups > 1 && group < kCodeBytes ? kCodeBytes / group : 1;
    int lanes[16];
    for (int l = 0; l < 16; ++l) lanes[l] = static_cast<int>(l * per_block / 16);
    group_of_lane = _mm512_loadu_si512(lanes);
  }
};

static __mmask16 first_lanes(i64 count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : (1 << (count > 0 ? count : 0)) - 1);
}

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
    v[0] = _mm512_maskz_loadu_ps(first_lanes(left - i), x + i);
    return;
  }
  const auto a = _mm512_maskz_loadu_ps(first_lanes(left - 2 * i), x + 2 * i);
  const auto b = left - 2 * i > 16 ? _mm512_maskz_loadu_ps(first_lanes(left - 2 * i - 16), x + 2 * i + 16) : Vec{};
  const auto even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  v[0] = _mm512_permutex2var_ps(a, even, b);
  v[1] = _mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
}

template <bool kNibbles>
static bool digits_of(const CodeRows& w, const float* x, const Digits& to) {
  constexpr int kVectors = kNibbles ? 2 : 1;
  constexpr i64 kCodes = kVectors * kCodeBytes;
  const Grouping g(w);
  const i64 columns = w.groups * w.group;
  for (i64 i = 0; i < w.groups; ++i) to.sums[i] = 0;
  for (i64 block = 0; block < g.blocks; ++block) {
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
    if (g.per_block == 1) {
      to.sums[block / g.per_group] += _mm512_reduce_add_ps(sums);
      continue;
    }
    float lanes[16];
    store(lanes, sums);
    for (i64 l = 0; l < 16; ++l) {
      const i64 group = block * g.per_block + l * g.per_block / 16;
      if (group < w.groups) to.sums[group] += lanes[l];
    }
  }
  return true;
}

template <bool kNibbles, bool kManyGroups, int R>
[[gnu::always_inline]] inline void add_blocks(const CodeRows& w, const Digits& x, const Grouping& g,
                                              const NibbleBytes& meaning, Vec (&sum)[R]) {
  constexpr i64 kSize = kDigits * (kNibbles ? 2 : 1) * kCodeBytes;
  const auto nibbles = _mm_loadu_si128(reinterpret_cast<const __m128i*>(meaning.bytes));
  const auto turn = kNibbles ? _mm512_broadcast_i32x4(nibbles)
                             : _mm512_set1_epi8(static_cast<char>(static_cast<int>(meaning.middle)));
  const std::int8_t* at = x.digits;
  const unsigned char* from = w.codes;
  const float *step = x.steps, *scale = w.scale;
  const i64 row = w.row, scale_row = w.scale_row;
  __mmask16 groups = 0xffff;
  // All bytes of a block, but for the last one.
  const auto block = [&](auto load_codes) __attribute__((always_inline)) {
    __m512i digits[kDigits][2];
    load_digits<kNibbles>(at, digits);
    const Vec by = spread(*step * meaning.unit);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const unsigned char* bytes = from + r * row;
      __builtin_prefetch(bytes + kAhead, 0, 2);
      __m512i codes[2];
      codes_of<kNibbles>(load_codes(bytes), turn, codes);
      const Vec scales =
          kManyGroups ? _mm512_permutexvar_ps(g.group_of_lane, _mm512_maskz_loadu_ps(groups, scale + r * scale_row))
                      : spread(scale[r * scale_row]);
      sum[r] = fma(block_sums<kNibbles>(codes, digits) * by, scales, sum[r]);
    }
    at += kSize;
    from += kCodeBytes;
    ++step;
  };
  const auto whole = [](const unsigned char* p) { return _mm512_loadu_si512(p); };
  const auto rest = [&](const unsigned char* p) {
    return _mm512_maskz_loadu_epi8((__mmask64{1} << g.bytes % kCodeBytes) - 1, p);
  };
  const i64 full = g.bytes / kCodeBytes, per_group = g.per_group;
  if (kManyGroups) groups = first_lanes(g.per_block);
  for (i64 b = 0; b < full;) {
    const i64 until = b + per_group < full ? b + per_group : full;
    for (; b < until; ++b) block(whole);
    scale += w.scale_group * g.per_block;
  }
  if (g.bytes % kCodeBytes == 0) return;
  if (kManyGroups) groups = first_lanes(w.groups - full * g.per_block);
  else scale = w.scale;  // one group a row
  block(rest);
}

template <bool kNibbles, int R>
static void dot_digits_rows(const CodeRows& w, const Digits& x, float* y) {
  const Grouping g(w);
  const auto meaning = meaning_of<kNibbles>(w);
  Vec sum[R];
  for (int r = 0; r < R; ++r) sum[r] = Vec{};
  if (g.per_block > 1 && w.scale_group == 1) add_blocks<kNibbles, true, R>(w, x, g, meaning, sum);
  else add_blocks<kNibbles, false, R>(w, x, g, meaning, sum);
  const Vec middle = spread(meaning.middle * meaning.unit);
  if (w.zero || meaning.middle > 0)
    for (i64 first = 0; first < w.groups; first += 16) {
      const auto mask = first_lanes(w.groups - first);
      const Vec sums = _mm512_maskz_loadu_ps(mask, x.sums + first);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const auto of = [&](const float* p, i64 row, i64 step) {
          p += r * row;
          return step == 0 ? spread(*p) : _mm512_maskz_loadu_ps(mask, p + first);
        };
        const Vec zero = w.zero ? of(w.zero, w.zero_row, w.zero_group) + middle : middle;
        sum[r] = fma(-zero * of(w.scale, w.scale_row, w.scale_group), sums, sum[r]);
      }
    }
  for (int r = 0; r < R; ++r) y[r] = _mm512_reduce_add_ps(sum[r]);
}

static bool to_digits(const CodeRows& w, const float* x, const Digits& to) {
  return w.bits == 4 ? digits_of<true>(w, x, to) : digits_of<false>(w, x, to);
}

static void dot_digits(const CodeRows& w, int rows, const Digits& x, float* y) {
  const bool nibbles = w.bits == 4;
  switch (rows) {
    case 1: return nibbles ? dot_digits_rows<true, 1>(w, x, y) : dot_digits_rows<false, 1>(w, x, y);
    case 2: return nibbles ? dot_digits_rows<true, 2>(w, x, y) : dot_digits_rows<false, 2>(w, x, y);
    case 3: return nibbles ? dot_digits_rows<true, 3>(w, x, y) : dot_digits_rows<false, 3>(w, x, y);
    default: return nibbles ? dot_digits_rows<true, 4>(w, x, y) : dot_digits_rows<false, 4>(w, x, y);
  }
}
