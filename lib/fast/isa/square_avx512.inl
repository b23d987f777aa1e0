// A square of numbers, whose rows become columns, in registers.

constexpr i64 kSquare = 16;

/// Each quarter of the four rows is a square of four, which is transposed.
static inline __attribute__((always_inline)) void transpose_quarters(const Vec* r, Vec* to) {
  const Vec a = _mm512_unpacklo_ps(r[0], r[1]), b = _mm512_unpacklo_ps(r[2], r[3]), c = _mm512_unpackhi_ps(r[0], r[1]),
            d = _mm512_unpackhi_ps(r[2], r[3]);
  constexpr int kFronts = 0x44, kBacks = 0xee;
  to[0] = _mm512_shuffle_ps(a, b, kFronts);
  to[1] = _mm512_shuffle_ps(a, b, kBacks);
  to[2] = _mm512_shuffle_ps(c, d, kFronts);
  to[3] = _mm512_shuffle_ps(c, d, kBacks);
}

template <bool kWhole>
static inline __attribute__((always_inline)) void transpose_rows(const float* x, i64 from, float* y, i64 to, i64 rows,
                                                                 i64 columns) {
  Vec r[16], quarters[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = kWhole ? load(x + i * from) : i < rows ? load_some(x + i * from, columns) : Vec{};
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) transpose_quarters(r + i, quarters + i);
  constexpr int kFirst = 0x44, kLast = 0xee, kEven = 0x88, kOdd = 0xdd;  // of the quarters of both
  const auto put = [&](i64 c, Vec v) __attribute__((always_inline)) {
    if (kWhole) store(y + c * to, v);
    else if (c < columns) store_some(y + c * to, v, rows);
  };
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Vec* q = quarters + i;
    const Vec a = _mm512_shuffle_f32x4(q[0], q[4], kFirst), b = _mm512_shuffle_f32x4(q[8], q[12], kFirst),
              c = _mm512_shuffle_f32x4(q[0], q[4], kLast), d = _mm512_shuffle_f32x4(q[8], q[12], kLast);
    put(i, _mm512_shuffle_f32x4(a, b, kEven));
    put(4 + i, _mm512_shuffle_f32x4(a, b, kOdd));
    put(8 + i, _mm512_shuffle_f32x4(c, d, kEven));
    put(12 + i, _mm512_shuffle_f32x4(c, d, kOdd));
  }
}

/// y[c·to + r] = x[r·from + c] for r < rows and c < columns, both up to kSquare.
static void transpose_square(const float* x, i64 from, float* y, i64 to, i64 rows, i64 columns) {
  const bool whole = rows == kSquare && columns == kSquare;
  whole ? transpose_rows<true>(x, from, y, to, rows, columns) : transpose_rows<false>(x, from, y, to, rows, columns);
}
