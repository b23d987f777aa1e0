// A few rows in bf16 by all columns of a matrix. Included by narrow.inl.

/// Partial sums of a column, each of every so many words: a sum waits for the one before it longer than weights take to
/// come from the second-level cache. Reading several panels at once instead, the caches foresee less.
constexpr int kChains = kWidth == 16 ? 4 : 1;

/// P rows by two vectors of the columns of a panel.
template <int P>
static inline __attribute__((always_inline)) void few_rows_block(const Bf16FewRows& r, const Word* in, const Word* w,
                                                                 const float* bias, float* out) {
  Vec sum[kChains][P][2] = {};
  for (int p = 0; bias && p < P; ++p) {
    sum[0][p][0] = load(bias);
    sum[0][p][1] = load(bias + kWidth);
  }
  const auto step = [&](i64 i, Vec(&to)[P][2]) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int part = 0; part < Bf16Dots::kParts; ++part) {
      const auto b0 = Bf16Dots::right(load_words(w), part), b1 = Bf16Dots::right(load_words(w + kWidth), part);
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) Bf16Dots::add(in + p * r.row + i, part, b0, b1, to[p]);
    }
    w += kColumns;
  };
  i64 i = 0;
  for (; i + kChains <= r.words; i += kChains)
#pragma GCC unroll 4
    for (int chain = 0; chain < kChains; ++chain) step(i + chain, sum[chain]);
  for (; i < r.words; ++i) step(i, sum[0]);
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
#pragma GCC unroll 4
    for (int chain = 1; chain < kChains; ++chain) {
      sum[0][p][0] = sum[0][p][0] + sum[chain][p][0];
      sum[0][p][1] = sum[0][p][1] + sum[chain][p][1];
    }
    store(out + p * r.out_row, sum[0][p][0]);
    store(out + p * r.out_row + kWidth, sum[0][p][1]);
  }
}

template <int P>
static void few_rows(const Bf16FewRows& r) {
  for (i64 column = 0; column < r.columns; column += kColumns)
    for (i64 c = 0; c < kColumns; c += 2 * kWidth)
      few_rows_block<P>(r, r.in, r.weights + column * r.words + c, r.bias ? r.bias + column + c : nullptr,
                        r.out + column + c);
}

static void bf16_few_rows(const Bf16FewRows& r, int rows) {
  switch (rows) {
    case 1: return few_rows<1>(r);
    case 2: return few_rows<2>(r);
    default: return few_rows<3>(r);
  }
}
