// Winograd's F(4×4, 3×3) of u8 by i8, with the points 0, 1, -1, 2, -2 and infinity, in integers of 16 bits. Transformed
// input is at most 68 · 255, weights, each point of which has a denominator of its own as a factor, at most 49 · 128.
// Behind u8_finish().

using Shorts = std::int16_t __attribute__((vector_size(4 * kWidth)));

[[gnu::always_inline]] inline Shorts load_shorts(const std::uint8_t* p) {
  using Bytes = std::uint8_t __attribute__((vector_size(2 * kWidth)));
  Bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, Shorts);
}

[[gnu::always_inline]] inline void u8_winograd_input_line(const Shorts (&d)[6], Shorts (&t)[6]) {
  const Shorts even = d[4] - (d[2] << 2), odd = d[3] - (d[1] << 2);
  const Shorts inner = d[4] - d[2], twice = (d[3] - d[1]) << 1;
  t[0] = ((d[0] - d[2]) << 2) + inner;
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = inner + twice;
  t[4] = inner - twice;
  t[5] = d[5] - d[3] - (twice << 1);
}

static void u8_winograd_input(const Word* in, i64 row, Word* to, i64 step) {
  constexpr int A = 6;
  for (i64 part = 0; part < 2 * kBlock; part += 2 * kWidth) {
    Shorts lines[A][A];
#pragma GCC unroll 6
    for (int y = 0; y < A; ++y) {
      Shorts d[A];
#pragma GCC unroll 6
      for (int x = 0; x < A; ++x)
        d[x] = load_shorts(reinterpret_cast<const std::uint8_t*>(in + y * row + x * kBlock) + part);
      u8_winograd_input_line(d, lines[y]);
    }
#pragma GCC unroll 6
    for (int x = 0; x < A; ++x) {
      const Shorts d[A] = {lines[0][x], lines[1][x], lines[2][x], lines[3][x], lines[4][x], lines[5][x]};
      Shorts t[A];
      u8_winograd_input_line(d, t);
#pragma GCC unroll 6
      for (int y = 0; y < A; ++y) store_words(to + (y * A + x) * step + part / 2, (Words)t[y]);
    }
  }
}

/// 24 times the output, from the points without their denominators.
[[gnu::always_inline]] inline void u8_winograd_output_line(const Words (&m)[6], Words (&o)[4]) {
  const Words near = (m[1] + m[2]) << 2, near_apart = (m[1] - m[2]) << 2;
  const Words far = m[3] + m[4], far_apart = (m[3] - m[4]) << 1;
  o[0] = (m[0] << 2) + (m[0] << 1) + near + far;
  o[1] = near_apart + far_apart;
  o[2] = near + (far << 2);
  o[3] = near_apart + (far_apart << 2) + (m[5] << 4) + (m[5] << 3);
}

/// P pixels of a row of a tile.
template <int P>
static inline __attribute__((always_inline)) void u8_winograd_row(const U8Tile& t, i64 column,
                                                                  const Words (&value)[4][2]) {
  constexpr Word kNinth = 0x38e38e39;  // · 9 = 1 modulo 2^32
  Ints sum[P][2];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) sum[p][j] = (Ints)(value[p][j] * kNinth) >> 6;
  u8_finish_columns<P>(t, 0, column, sum);
}

static void u8_winograd_output(const U8WinogradTile& t) {
  constexpr int A = 6, M = 4;
  for (i64 column = 0; column < t.tile.columns; column += 2 * kWidth) {
    Words result[M][M][2];
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const i64 c = column + j * kWidth;
      const Word* from = t.from + c / kBlock * t.half + c % kBlock;
      Words lines[M][A];
#pragma GCC unroll 6
      for (int x = 0; x < A; ++x) {
        Words d[A], o[M];
#pragma GCC unroll 6
        for (int y = 0; y < A; ++y) d[y] = load_words(from + (y * A + x) * t.point);
        u8_winograd_output_line(d, o);
#pragma GCC unroll 4
        for (int y = 0; y < M; ++y) lines[y][x] = o[y];
      }
#pragma GCC unroll 4
      for (int y = 0; y < M; ++y) {
        Words o[M];
        u8_winograd_output_line(lines[y], o);
#pragma GCC unroll 4
        for (int x = 0; x < M; ++x) result[y][x][j] = o[x];
      }
    }
    auto tile = t.tile;
#pragma GCC unroll 4
    for (int y = 0; y < M; ++y) {
      if (y == t.rows) break;
      if (t.columns == 4) u8_winograd_row<4>(tile, column, result[y]);
      else if (t.columns == 3) u8_winograd_row<3>(tile, column, result[y]);
      else if (t.columns == 2) u8_winograd_row<2>(tile, column, result[y]);
      else u8_winograd_row<1>(tile, column, result[y]);
      if (tile.residual) tile.residual += t.width * tile.residual_pixel;
      if (tile.wide_residual) tile.wide_residual += t.width * tile.residual_pixel;
      if (tile.wide) tile.wide += t.width * tile.out_pixel;
      else tile.out += t.width * tile.out_pixel;
    }
  }
}
