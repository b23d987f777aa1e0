// A square of numbers, whose rows become columns: four by four.

constexpr i64 kSquare = 16;  // both sides lie within lines that stay in the first-level cache

static inline __attribute__((always_inline)) void transpose_four(const float* x, i64 from, float* y, i64 to) {
  using Four = float __attribute__((vector_size(16)));
  using Places = int __attribute__((vector_size(16)));
  Four r[4];
  for (int i = 0; i < 4; ++i) __builtin_memcpy(&r[i], x + i * from, sizeof(Four));
  const Places low{0, 4, 1, 5}, high{2, 6, 3, 7}, front{0, 1, 4, 5}, back{2, 3, 6, 7};
  const Four a = __builtin_shuffle(r[0], r[1], low), b = __builtin_shuffle(r[2], r[3], low),
             c = __builtin_shuffle(r[0], r[1], high), d = __builtin_shuffle(r[2], r[3], high);
  const Four columns[4] = {__builtin_shuffle(a, b, front), __builtin_shuffle(a, b, back),
                           __builtin_shuffle(c, d, front), __builtin_shuffle(c, d, back)};
  for (int i = 0; i < 4; ++i) __builtin_memcpy(y + i * to, &columns[i], sizeof(Four));
}

/// y[c·to + r] = x[r·from + c] for r < rows and c < columns, both up to kSquare.
static void transpose_square(const float* x, i64 from, float* y, i64 to, i64 rows, i64 columns) {
  const i64 whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (i64 c = 0; c < whole_columns; c += 4)
    for (i64 r = 0; r < whole_rows; r += 4) transpose_four(x + r * from + c, from, y + c * to + r, to);
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = r < whole_rows ? whole_columns : 0; c < columns; ++c) y[c * to + r] = x[r * from + c];
}
