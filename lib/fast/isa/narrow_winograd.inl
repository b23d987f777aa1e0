// Winograd's F(2×2, 3×3) on blocks of 32 channels in bf16. Included after narrow.inl's vectors; a transformed word
// holds two even channels (the first 8 words of a block) or two odd ones, so that no lanes need to be exchanged.
#include "fast/isa/winograd_lines.inl"

/// The 32 lanes at `to`: first those of even channels, then of odd ones.
[[gnu::always_inline]] inline void store_halves(std::uint16_t* to, i64 part, Vec even, Vec odd) {
  if constexpr (kWidth == kBlock) return store_bf16(to, even, odd);
  store_bf16(to + part, even);
  store_bf16(to + kBlock + part, odd);
}

static void bf16_winograd_input(const Word* in, i64 row, Word* to, i64 step) {
  constexpr int A = 4;
  for (i64 part = 0; part < kBlock; part += kWidth) {
    Vec even[A][A], odd[A][A];
#pragma GCC unroll 4
    for (int y = 0; y < A; ++y) {
      Vec e[A], o[A];
#pragma GCC unroll 4
      for (int x = 0; x < A; ++x) {
        const Words w = load_words(in + y * row + x * kBlock + part);
        e[x] = even_of(w);
        o[x] = odd_of(w);
      }
      Winograd<WinogradTile::two>::input(e, even[y]);
      Winograd<WinogradTile::two>::input(o, odd[y]);
    }
#pragma GCC unroll 4
    for (int x = 0; x < A; ++x) {
      const Vec e[A] = {even[0][x], even[1][x], even[2][x], even[3][x]},
                o[A] = {odd[0][x], odd[1][x], odd[2][x], odd[3][x]};
      Vec e_out[A], o_out[A];
      Winograd<WinogradTile::two>::input(e, e_out);
      Winograd<WinogradTile::two>::input(o, o_out);
#pragma GCC unroll 4
      for (int y = 0; y < A; ++y)
        store_halves(reinterpret_cast<std::uint16_t*>(to + (y * A + x) * step), part, e_out[y], o_out[y]);
    }
  }
}

static void bf16_winograd_output(const Bf16WinogradTiles& t) {
  constexpr int A = 4;
  const Vec low = spread(t.low), high = spread(t.high);
  for (i64 column = 0; column < kColumns; column += kWidth) {
    const float* from = t.from + column / kBlock * t.half + column % kBlock;
    const Vec bias = t.bias ? load(t.bias + column) : Vec{};
    for (i64 tile = 0; tile < t.count; ++tile, from += kBlock) {
      Vec lines[2][A], result[2][2];
#pragma GCC unroll 4
      for (int x = 0; x < A; ++x) {
        Vec d[A], o[2];
#pragma GCC unroll 4
        for (int y = 0; y < A; ++y) d[y] = load(from + (y * A + x) * t.point);
        Winograd<WinogradTile::two>::output(d, o);
        lines[0][x] = o[0];
        lines[1][x] = o[1];
      }
      Winograd<WinogradTile::two>::output(lines[0], result[0]);
      Winograd<WinogradTile::two>::output(lines[1], result[1]);
      const auto put = [&](int y, int x) __attribute__((always_inline)) {
        const i64 pixel = 2 * tile + x;
        Vec v = result[y][x] + bias;
        if (t.residual) v = v + load_bf16(t.residual + y * t.residual_row + pixel * 2 * kBlock + column);
        v = min(high, max(low, v));
        const i64 place = y * t.row + pixel * t.pixel;
        if (t.wide) store(t.wide + place + column / kBlock * t.block + column % kBlock, v);
        else store_bf16(t.out + place + column, v);
      };
      if (t.rows == 2 && t.columns == 2) {
        put(0, 0);
        put(0, 1);
        put(1, 0);
        put(1, 1);
      } else {
        for (int y = 0; y < t.rows; ++y)
          for (int x = 0; x < t.columns; ++x) put(y, x);
      }
    }
  }
}
