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

template <bool kNibbles, int R>
static void dot_digits_rows(const CodeRows& w, const Digits& x, float* y) {
  const CodeBlocks blocks(w);
  const auto bytes = code_bytes(w);
  Vec sum[R];
  for (int r = 0; r < R; ++r) sum[r] = Vec{};
  if (blocks.per_block > 1 && w.scale_group == 1) add_blocks<kNibbles, true, R>(w, x, blocks, bytes, sum);
  else add_blocks<kNibbles, false, R>(w, x, blocks, bytes, sum);
  take_off_zeros<R>(w, bytes.middle * bytes.unit, x.sums, sum);
  for (int r = 0; r < R; ++r) y[r] = sum_of(sum[r]);
}

template <bool kNibbles>
static void dot_digits_of(const CodeRows& w, int rows, const Digits& x, float* y) {
  switch (rows) {
    case 1: return dot_digits_rows<kNibbles, 1>(w, x, y);
    case 2: return dot_digits_rows<kNibbles, 2>(w, x, y);
    case 3: return dot_digits_rows<kNibbles, 3>(w, x, y);
    default: return dot_digits_rows<kNibbles, 4>(w, x, y);
  }
}
