// Rows of compressed weights times a vector's digits, by add_blocks of digits_avx2.inl or digits_avx512.inl.

/// What zero points, and the middle of the bytes that stand for codes, take off.
template <int R>
[[gnu::always_inline]] inline void take_off_zeros(const CodeRows& w, float bytes_middle, const float* x_sums,
                                                  Vec (&sum)[R]) {
  const Vec middle = spread(bytes_middle);
  if (!w.zero && bytes_middle == 0) return;
  for (i64 first = 0; first < w.groups; first += kWidth) {
    const i64 count = w.groups - first;
    const Vec sums = load_some(x_sums + first, count);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const auto of = [&](const float* p, i64 row, i64 step) {
        p += r * row;
        return step == 0 ? spread(*p) : load_some(p + first, count);
      };
      const Vec zero = w.zero ? of(w.zero, w.zero_row, w.zero_group) + middle : middle;
      sum[r] = fma(-zero * of(w.scale, w.scale_row, w.scale_group), sums, sum[r]);
    }
  }
}

template <bool kNibbles, bool kManyGroups>
static void dot_digits_rows(const CodeRows& w, i64 rows, const Digits& x, float* y) {
  const CodeBlocks blocks(w);
  const auto meaning = code_bytes(w);
  const CodeVectors<kNibbles> vectors(meaning, blocks);
  by_fours(rows, [&](i64 row, auto count) {
    const auto some = w.from(row);
    Vec sum[count];
    for (auto& s : sum) s = Vec{};
    add_blocks<kNibbles, kManyGroups>(some, x, blocks, vectors, sum);
    take_off_zeros(some, meaning.middle * meaning.unit, x.sums, sum);
    for (int r = 0; r < count; ++r) y[row + r] = sum_of(sum[r]);
  });
}

template <bool kNibbles>
static void dot_digits_of(const CodeRows& w, i64 rows, const Digits& x, float* y) {
  if (CodeBlocks(w).per_block > 1 && w.scale_group == 1) dot_digits_rows<kNibbles, true>(w, rows, x, y);
  else dot_digits_rows<kNibbles, false>(w, rows, x, y);
}
