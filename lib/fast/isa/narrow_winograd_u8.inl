// Winograd's F(3×3, 3×3) of u8 by i8, with the points 0, 1, -1, 2 and infinity, in integers of 16 bits. Transformed
// input is at most 18 · 255, weights, which have the denominators' factor 36, at most 81 · 128. Behind u8_finish().

using Shorts = std::int16_t __attribute__((vector_size(4 * kWidth)));

[[gnu::always_inline]] inline Shorts load_shorts(const std::uint8_t* p) {
  using Bytes = std::uint8_t __attribute__((vector_size(2 * kWidth)));
  Bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, Shorts);
}

[[gnu::always_inline]] inline void u8_winograd_input_line(const Shorts (&d)[5], Shorts (&t)[5]) {
  const Shorts a = d[3] - d[1], b = d[0] - d[2], c = d[3] - d[2], twice = d[1] + d[1];
  t[0] = b + b + a;
  t[1] = c - twice;
  t[2] = c - (d[2] + d[2]) + twice;
  t[3] = a;
  t[4] = d[4] - d[2] - (a + a);
}

static void u8_winograd_input(const Word* in, i64 row, Word* to, i64 step) {
  constexpr int A = 5;
  for (i64 part = 0; part < 2 * kBlock; part += 2 * kWidth) {
    Shorts lines[A][A];
#pragma GCC unroll 5
    for (int y = 0; y < A; ++y) {
      Shorts d[A];
#pragma GCC unroll 5
      for (int x = 0; x < A; ++x)
        d[x] = load_shorts(reinterpret_cast<const std::uint8_t*>(in + y * row + x * kBlock) + part);
      u8_winograd_input_line(d, lines[y]);
    }
#pragma GCC unroll 5
    for (int x = 0; x < A; ++x) {
      const Shorts d[A] = {lines[0][x], lines[1][x], lines[2][x], lines[3][x], lines[4][x]};
      Shorts t[A];
      u8_winograd_input_line(d, t);
#pragma GCC unroll 5
      for (int y = 0; y < A; ++y) store_words(to + (y * A + x) * step + part / 2, (Words)t[y]);
    }
  }
}

template <int P>
static void i16_pixels(const I16Tile& t, int pixels) {
  if constexpr (P > 0) {
    if (pixels != P) return i16_pixels<P - 1>(t, pixels);
    for (i64 column = 0; column < t.columns; column += 2 * kWidth) {
      Words sum[P][2] = {};
      narrow_sums<I16Dots, P>(t.sum, 0, column, sum);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
          const i64 c = column + j * kWidth;
          store_words(t.out + p * t.out_pixel + c / kBlock * t.out_block + c % kBlock, sum[p][j]);
        }
    }
  }
}

static void i16(const I16Tile& t, int pixels) {
  auto tile = t;
  in_parts(pixels, kPixels, [&](i64 first, int now) {
    tile.sum.in = t.sum.in + first * t.sum.pixel;
    tile.out = t.out + first * t.out_pixel;
    i16_pixels<kPixels>(tile, now);
  });
}

[[gnu::always_inline]] inline void u8_winograd_output_line(const Words (&m)[5], Words (&o)[3]) {
  const Words sum = m[1] + m[2], twice = m[3] + m[3];
  o[0] = m[0] + sum + m[3];
  o[1] = m[1] - m[2] + twice;
  o[2] = sum + twice + twice + m[4];
}

/// P pixels of a row of a tile.
template <int P>
static inline __attribute__((always_inline)) void u8_winograd_row(const U8Tile& t, i64 column,
                                                                  const Words (&value)[3][2]) {
  constexpr Word kNinth = 0x38e38e39;  // · 9 = 1 modulo 2^32
  Ints sum[P][2];
#pragma GCC unroll 3
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) sum[p][j] = (Ints)(value[p][j] * kNinth) >> 2;
  u8_finish<P>(t, 0, column, sum);
}

static void u8_winograd_output(const U8WinogradTile& t) {
  constexpr int A = 5;
  for (i64 column = 0; column < t.tile.columns; column += 2 * kWidth) {
    Words result[3][3][2];
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const i64 c = column + j * kWidth;
      const Word* from = t.from + c / kBlock * t.half + c % kBlock;
      Words lines[3][A];
#pragma GCC unroll 5
      for (int x = 0; x < A; ++x) {
        Words d[A], o[3];
#pragma GCC unroll 5
        for (int y = 0; y < A; ++y) d[y] = load_words(from + (y * A + x) * t.point);
        u8_winograd_output_line(d, o);
        lines[0][x] = o[0];
        lines[1][x] = o[1];
        lines[2][x] = o[2];
      }
#pragma GCC unroll 3
      for (int y = 0; y < 3; ++y) {
        Words o[3];
        u8_winograd_output_line(lines[y], o);
#pragma GCC unroll 3
        for (int x = 0; x < 3; ++x) result[y][x][j] = o[x];
      }
    }
    auto tile = t.tile;
#pragma GCC unroll 3
    for (int y = 0; y < 3; ++y) {
      if (y == t.rows) break;
      if (t.columns == 3) u8_winograd_row<3>(tile, column, result[y]);
      else if (t.columns == 2) u8_winograd_row<2>(tile, column, result[y]);
      else u8_winograd_row<1>(tile, column, result[y]);
      if (tile.residual) tile.residual += t.width * tile.residual_pixel;
      if (tile.wide_residual) tile.wide_residual += t.width * tile.residual_pixel;
      if (tile.wide) tile.wide += t.width * tile.out_pixel;
      else tile.out += t.width * tile.out_pixel;
    }
  }
}
