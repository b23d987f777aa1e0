// A number of f32 as the sum of three bf16, as the tiles of AMX multiply them (tiles_amx.inl, rows_amx.inl).

/// The number that three parts are.
static float whole_of(const Word* parts, i64 part, bool odd) {
  const auto half = [&](i64 p) {
    return __builtin_bit_cast(float, odd ? parts[p * part] & 0xffff0000u : parts[p * part] << 16);
  };
  return half(0) + half(1) + half(2);
}

/// The first 8 bits of f32, the next 8 and what is left, each exact as bf16. Infinite numbers leave nothing, or where
/// they need not be known again NaN.
template <bool kKnown = true>
[[gnu::always_inline]] inline void in_three(Vec x, Vec (&parts)[3]) {
  const auto upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  const auto cut = [&](Vec v) { return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), upper)); };
  parts[0] = cut(x);
  const Vec left =
      kKnown ? _mm512_maskz_sub_ps(_mm512_cmp_ps_mask(x, parts[0], _CMP_NEQ_UQ), x, parts[0]) : x - parts[0];
  parts[1] = cut(left);
  parts[2] = left - parts[1];
}

/// Of two vectors, whose numbers become halves of words in this order.
template <bool kKnown = true>
[[gnu::always_inline]] inline void two_in_three(Vec x, Vec y, Word* to, i64 part) {
  alignas(64) static constexpr std::uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                           23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                           45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  Vec first[3], second[3];
  in_three<kKnown>(x, first);
  in_three<kKnown>(y, second);
  for (int p = 0; p < 3; ++p)
    _mm512_storeu_si512(to + p * part,
                        _mm512_permutex2var_epi16(_mm512_castps_si512(first[p]), _mm512_load_si512(kUpper),
                                                  _mm512_castps_si512(second[p])));
}

static void to_bf16x3(const float* x, const float* y, i64 step, i64 n, Word* to, i64 part) {
  for (i64 i = 0; i < n; ++i, to += kBlock) two_in_three(load(x + i * step), y ? load(y + i * step) : Vec{}, to, part);
}

static void lines_to_bf16x3(const float* even, const float* odd, Word* to, i64 part) {
  Vec first[3], second[3] = {};
  for (i64 c = 0; c < kColumns; c += kWidth) {
    in_three(load(even + c), first);
    if (odd) in_three(load(odd + c), second);
    for (int p = 0; p < 3; ++p)
      store_words(to + p * part + c, (Words)_mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(first[p]), 16),
                                                            _mm512_castps_si512(second[p])));
  }
}
