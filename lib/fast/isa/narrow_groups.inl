// Convolutions of groups on bf16 and u8, by vectors of sixteen: the sums of many pixels by 16 columns stay in
// registers. Included behind narrow.inl.

constexpr int kGroupPixels = 28;

/// The sums of R rows of C pixels, of which the first one reads from `in` on. Words of a tap are a multiple of kSteps.
/// Not inline: all registers are theirs.
template <class Dots, int R, int C, int kSteps, class Sum>
[[gnu::noinline]] static void group_sums(const NarrowSum& t, const Word* in, i64 column, Sum start, Sum* to) {
  Sum sum[R * C];
#pragma GCC unroll 32
  for (int p = 0; p < R * C; ++p) sum[p] = start;
  const Word* w = t.weights + column;
  for (i64 tap = 0; tap < t.tap_count; ++tap) {
    const Word* rows[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) rows[r] = in + t.taps[tap] + r * t.row;
    for (i64 left = t.steps; left > 0; left -= kSteps) {
#pragma GCC unroll 4
      for (int i = 0; i < kSteps; ++i) {
        const Words b = load_words(w + i * kColumns);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 32
          for (int p = 0; p < C; ++p) Dots::add_alone(rows[r] + p * kBlock + i, b, sum[r * C + p]);
      }
      w += kSteps * kColumns;
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        rows[r] += kSteps;
        // Otherwise compilers make one of them, with as many distances from it as there are pixels.
        asm("" : "+r"(rows[r]));
      }
    }
  }
#pragma GCC unroll 32
  for (int p = 0; p < R * C; ++p) to[p] = sum[p];
}

template <class Dots, int R, int C, class Sum>
static void group_tile(const NarrowSum& t, const Word* in, i64 pixels, i64 column, Sum start, Sum* to) {
  if constexpr (C > 0) {
    if (pixels != C) return group_tile<Dots, R, C - 1>(t, in, pixels, column, start, to);
    t.steps % 4 == 0 ? group_sums<Dots, R, C, 4>(t, in, column, start, to)
                     : group_sums<Dots, R, C, 1>(t, in, column, start, to);
  }
}

/// finish(y, x, rows, pixels, sums) for tiles, which short rows share, and of which long ones are several.
template <class Dots, class Sum, class Finish>
[[gnu::always_inline]] inline void group_rows(const NarrowSum& t, const TileRows& g, Sum start, Finish finish) {
  alignas(64) Sum sums[kGroupPixels];
  const auto at = [&](i64 y, i64 x) { return t.in + y * t.row + x * kBlock; };
  i64 y = 0;
  for (; 4 * g.pixels <= kGroupPixels && y + 4 <= g.rows; y += 4) {
    group_tile<Dots, 4, kGroupPixels / 4>(t, at(y, 0), g.pixels, g.column, start, sums);
    finish(y, 0, 4, g.pixels, sums);
  }
  for (; 2 * g.pixels <= kGroupPixels && y + 2 <= g.rows; y += 2) {
    group_tile<Dots, 2, kGroupPixels / 2>(t, at(y, 0), g.pixels, g.column, start, sums);
    finish(y, 0, 2, g.pixels, sums);
  }
  for (; y < g.rows; ++y)
    in_parts(
        g.pixels, kGroupPixels, [&](i64 x, int now) __attribute__((always_inline)) {
          group_tile<Dots, 1, kGroupPixels>(t, at(y, x), now, g.column, start, sums);
          finish(y, x, 1, now, sums);
        });
}

/// store(value of a sum, place) for pixels of rows whose results lie `apart` pixels apart.
template <class Sum, class Store>
[[gnu::always_inline]] inline void each_result(i64 first, i64 rows, i64 pixels, i64 apart, const Sum* sums,
                                               Store store) {
  for (i64 r = 0; r < rows; ++r, first += apart)
    for (i64 p = 0; p < pixels; ++p) store(*sums++, first + p);
}

/// Where there are any.
template <class Value>
[[gnu::always_inline]] inline Value* columns_of(Value* tile, i64 first) {
  return tile ? tile + first : nullptr;
}

static void u8_rows(const U8Tile& tile, const TileRows& g) {
  const U8Tile t = tile;  // which bytes that are stored cannot change
  const i64 column = g.column;
  U8Values<1> values(t, column);
  const bool adds = t.residual || t.wide_residual;
  if (t.lows && !adds) {
    values.low = load_u8(t.lows + column);
    values.high = load_u8(t.highs + column);
  }
  const auto* const residual = columns_of(t.residual, column);
  const auto* const wide_residual = columns_of(t.wide_residual, column / kBlock * t.residual_block);
  auto* const wide = columns_of(t.wide, column / kBlock * t.out_block);
  auto* const out = columns_of(t.out, column);
  group_rows<U8Dots>(t.sum, g, Ints{}, [&](i64 y, i64 x, i64 rows, i64 pixels, const Ints* sums) {
    const auto all = [&](auto with) __attribute__((always_inline)) {
      each_result(
          y * g.apart + x, rows, pixels, g.apart, sums, [&](Ints sum, i64 place) __attribute__((always_inline)) {
            const Vec v = with(values.bounded(sum, 0), place * t.residual_pixel);
            if (t.wide) store(wide + place * t.out_pixel, v);
            else store_u8(out + place * t.out_pixel, v);
          });
    };
    if (t.residual) all([&](Vec v, i64 at) { return values.with(v, load_u8(residual + at)); });
    else if (t.wide_residual) all([&](Vec v, i64 at) { return values.with(v, load(wide_residual + at)); });
    else all([](Vec v, i64) { return v; });
  });
}

template <class Dots>
static void bf16_rows(const Bf16Tile& t, const TileRows& g) {
  const Vec low = spread(t.low), high = spread(t.high), bias = t.bias ? load(t.bias + g.column) : Vec{};
  const auto* const residual = columns_of(t.residual, g.column);
  const auto* const wide_residual = columns_of(t.wide_residual, g.column / kBlock * t.residual_block);
  auto* const wide = columns_of(t.wide, g.column / kBlock * t.out_block);
  auto* const out = columns_of(t.out, g.column);
  const bool half = t.columns <= kBlock;  // zeros take the place of the second one
  group_rows<Dots>(t.sum, g, bias, [&](i64 y, i64 x, i64 rows, i64 pixels, const Vec* sums) {
    const auto all = [&](auto with) __attribute__((always_inline)) {
      each_result(
          y * g.apart + x, rows, pixels, g.apart, sums, [&](Vec sum, i64 place) __attribute__((always_inline)) {
            const Vec v = min(high, max(low, with(sum, place * t.residual_pixel)));
            if (t.wide) store(wide + place * t.out_pixel, v);
            else if (half) store_bf16(out + place * t.out_pixel, v, Vec{});
            else store_bf16(out + place * t.out_pixel, v);
          });
    };
    if (t.residual) all([&](Vec v, i64 at) { return v + load_bf16(residual + at); });
    else if (t.wide_residual) all([&](Vec v, i64 at) { return v + load(wide_residual + at); });
    else all([](Vec v, i64) { return v; });
  });
}
