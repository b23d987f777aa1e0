// Sums of bf16 and of u8 by i8 in the tile registers of AMX: 16 lines of 64 bytes each. A line of the left operand is
// 16 words of a pixel, one of the right operand 16 columns of a step, which is how both lie in memory anyway.

constexpr int kTileRows = 16;

/// What a thread tells the processor about its tiles: the bytes of a line, and how many lines there are.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

/// Tiles 0 to 3 are sums of `rows` pixels each. 4 and 5 are operands of 16 steps, 6 and 7 of the last `tail` ones.
constexpr TileShapes tile_shapes(int rows, int tail) {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    const bool is_weights = tile == 5 || tile == 7, is_tail = tile >= 6;
    const auto steps = is_tail ? (tail == 0 ? kTileRows : tail) : kTileRows;
    shapes.rows[tile] = static_cast<std::uint8_t>(is_weights ? steps : rows);
    shapes.bytes[tile] = static_cast<std::uint16_t>(tile < 4 || is_weights ? 64 : 4 * steps);
  }
  return shapes;
}

/// Tiles 0 to 3 are sums of `rows` pixels each, 4 and 5 pixels, 6 and 7 weights, all of 16 steps.
constexpr TileShapes full_shapes(int rows) {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.rows[tile] = static_cast<std::uint8_t>(tile < 6 ? rows : kTileRows);
    shapes.bytes[tile] = 64;
  }
  return shapes;
}

struct AllTileShapes {
  TileShapes shapes[kTileRows][kTileRows], full[kTileRows];
  constexpr AllTileShapes() : shapes(), full() {
    for (int rows = 0; rows < kTileRows; ++rows) {
      for (int tail = 0; tail < kTileRows; ++tail) shapes[rows][tail] = tile_shapes(rows + 1, tail);
      full[rows] = full_shapes(rows + 1);
    }
  }
};
constexpr AllTileShapes kTileShapes;

/// Asking what the tiles are takes 5 ns, telling it 45. Another library may have told otherwise since the last call.
inline void shape_tiles(const TileShapes& wanted) {
  TileShapes now;
  _tile_storeconfig(&now);
  const auto same = _mm512_cmpeq_epi64_mask(_mm512_load_si512(&now), _mm512_load_si512(&wanted));
  if (same != 0xff) _tile_loadconfig(&wanted);
}

struct Bf16Tiles {
  using Sum = float;
  static constexpr bool kHasParts = true;
  static void start(const float* bias) {
    // All lines are the same.
    _tile_loadd(0, bias, 0);
    _tile_loadd(1, bias + kTileRows, 0);
    _tile_loadd(2, bias, 0);
    _tile_loadd(3, bias + kTileRows, 0);
  }
  // Macros of the compiler's want the tiles' numbers.
  [[gnu::always_inline]] static void dot0() { _tile_dpbf16ps(0, 4, 5); }
  [[gnu::always_inline]] static void dot1() { _tile_dpbf16ps(1, 4, 5); }
  [[gnu::always_inline]] static void dot2() { _tile_dpbf16ps(2, 4, 5); }
  [[gnu::always_inline]] static void dot3() { _tile_dpbf16ps(3, 4, 5); }
  [[gnu::always_inline]] static void full0() { _tile_dpbf16ps(0, 4, 6); }
  [[gnu::always_inline]] static void full1() { _tile_dpbf16ps(1, 4, 7); }
  [[gnu::always_inline]] static void full2() { _tile_dpbf16ps(2, 5, 6); }
  [[gnu::always_inline]] static void full3() { _tile_dpbf16ps(3, 5, 7); }
  [[gnu::always_inline]] static void last0() { _tile_dpbf16ps(0, 6, 7); }
  [[gnu::always_inline]] static void last1() { _tile_dpbf16ps(1, 6, 7); }
  [[gnu::always_inline]] static void last2() { _tile_dpbf16ps(2, 6, 7); }
  [[gnu::always_inline]] static void last3() { _tile_dpbf16ps(3, 6, 7); }
};

struct U8Tiles {
  using Sum = int;
  static constexpr bool kHasParts = false;
  static void start(const float*) {}
  [[gnu::always_inline]] static void dot0() { _tile_dpbusd(0, 4, 5); }
  [[gnu::always_inline]] static void dot1() { _tile_dpbusd(1, 4, 5); }
  [[gnu::always_inline]] static void dot2() { _tile_dpbusd(2, 4, 5); }
  [[gnu::always_inline]] static void dot3() { _tile_dpbusd(3, 4, 5); }
  [[gnu::always_inline]] static void full0() { _tile_dpbusd(0, 4, 6); }
  [[gnu::always_inline]] static void full1() { _tile_dpbusd(1, 4, 7); }
  [[gnu::always_inline]] static void full2() { _tile_dpbusd(2, 5, 6); }
  [[gnu::always_inline]] static void full3() { _tile_dpbusd(3, 5, 7); }
  [[gnu::always_inline]] static void last0() { _tile_dpbusd(0, 6, 7); }
  [[gnu::always_inline]] static void last1() { _tile_dpbusd(1, 6, 7); }
  [[gnu::always_inline]] static void last2() { _tile_dpbusd(2, 6, 7); }
  [[gnu::always_inline]] static void last3() { _tile_dpbusd(3, 6, 7); }
};

#include "fast/isa/meanwhile_amx.inl"

/// Sums of pixels from pixel 0 on, and where kTwo of as many that lie `second` words further on.
template <class Tiles, bool kTwo, class Meanwhile>
static inline __attribute__((always_inline)) void sum_tiles(const NarrowSum& t, int tail, i64 second,
                                                            Meanwhile& meanwhile) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const i64 pixel = t.pixel * static_cast<i64>(sizeof(Word));
  const Word* w = t.weights;
  KeepsAwake awake;
  for (i64 block = 0; block < t.blocks; ++block) {
    const i64 steps = block + 1 < t.blocks ? t.steps : t.last_steps;
    for (i64 tap = 0; tap < t.tap_count; ++tap) {
      const Word* a = t.in + block * t.block + t.taps[tap];
      const Word* b = a + second;
      i64 left = steps;
      for (; left >= kTileRows; left -= kTileRows, a += kTileRows, b += kTileRows, w += kTileRows * kColumns) {
        ask(t.ahead);
        _tile_loadd(4, a, pixel);
        _tile_loadd(5, w, kLine);
        Tiles::dot0();
        _tile_loadd(5, w + kTileRows, kLine);
        Tiles::dot1();
        if (kTwo) {
          _tile_loadd(4, b, pixel);
          Tiles::dot3();
          _tile_loadd(5, w, kLine);
          Tiles::dot2();
        }
        meanwhile.step();
        awake.step();
      }
      if (left == 0) continue;
      ask(t.ahead);
      _tile_loadd(6, a, pixel);
      _tile_loadd(7, w, kLine);
      Tiles::last0();
      _tile_loadd(7, w + kTileRows, kLine);
      Tiles::last1();
      if (kTwo) {
        _tile_loadd(6, b, pixel);
        Tiles::last3();
        _tile_loadd(7, w, kLine);
        Tiles::last2();
      }
      meanwhile.step();
      w += tail * kColumns;
    }
  }
}

/// The same where all steps fill tiles.
template <class Tiles, bool kTwo, class Meanwhile>
static inline __attribute__((always_inline)) void sum_full_tiles(const NarrowSum& t, i64 second, Meanwhile& meanwhile) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const i64 pixel = t.pixel * static_cast<i64>(sizeof(Word));
  const Word* w = t.weights;
  KeepsAwake awake;
  for (i64 block = 0; block < t.blocks; ++block) {
    const i64 steps = block + 1 < t.blocks ? t.steps : t.last_steps;
    for (i64 tap = 0; tap < t.tap_count; ++tap) {
      const Word* a = t.in + block * t.block + t.taps[tap];
      for (i64 left = steps; left > 0; left -= kTileRows, a += kTileRows, w += kTileRows * kColumns) {
        ask(t.ahead);
        _tile_loadd(4, a, pixel);
        _tile_loadd(6, w, kLine);
        Tiles::full0();
        _tile_loadd(7, w + kTileRows, kLine);
        Tiles::full1();
        if (kTwo) {
          _tile_loadd(5, a + second, pixel);
          Tiles::full2();
          Tiles::full3();
        }
        meanwhile.step();
        awake.step();
      }
    }
  }
}

/// The same of f32 in three parts (NarrowSum::part). Of their nine products the six that are not below what f32 rounds
/// off, that of the first parts last.
template <bool kTwo, class Meanwhile>
static inline __attribute__((always_inline)) void sum_bf16x3(const NarrowSum& t, i64 second, Meanwhile& meanwhile) {
  constexpr i64 kLine = kColumns * sizeof(Word), kPart = kTileRows * kColumns;
  const i64 pixel = t.pixel * static_cast<i64>(sizeof(Word));
  const Word* w = t.weights;
  KeepsAwake awake;
  for (i64 block = 0; block < t.blocks; ++block)
    for (i64 tap = 0; tap < t.tap_count; ++tap, w += 3 * kPart) {
      const Word* a = t.in + block * t.block + t.taps[tap];
      const auto pixels = [&](i64 part) __attribute__((always_inline)) {
        _tile_loadd(4, a + part * t.part, pixel);
        if (kTwo) _tile_loadd(5, a + second + part * t.part, pixel);
      };
      const auto weights = [&](i64 part) __attribute__((always_inline)) {
        const Word* from = w + (2 - part) * kPart;
        _tile_loadd(6, from, kLine);
        _tile_loadd(7, from + kTileRows, kLine);
      };
      const auto multiply = [&]() __attribute__((always_inline)) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (kTwo) {
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
        }
        meanwhile.step();
        awake.step();
      };
      ask(t.ahead);
      pixels(0);
      weights(2);
      multiply();
      weights(1);
      multiply();
      pixels(1);
      multiply();
      weights(0);
      multiply();
      pixels(2);
      multiply();
      pixels(0);
      multiply();
    }
}

/// One sum of f32 in three parts, of pixel `a` by column `column`, in f32.
static float one_sum(const NarrowSum& t, const Word* a, i64 column, float sum) {
  constexpr i64 kPart = kTileRows * kColumns;
  const Word* w = t.weights + column;
  for (i64 block = 0; block < t.blocks; ++block)
    for (i64 tap = 0; tap < t.tap_count; ++tap, w += 3 * kPart) {
      const Word* from = a + block * t.block + t.taps[tap];
      for (i64 i = 0; i < 2 * kTileRows; ++i)
        sum += whole_of(from + i / 2, t.part, i % 2 == 1) * whole_of(w + i / 2 * kColumns, kPart, i % 2 == 1);
    }
  return sum;
}

/// How the pixels of a sum lie in one or two tiles, of as many lines each. They may share pixels.
struct TileLines {
  i64 lines;
  bool two;
  i64 second = 0;  ///< pixels from the first of one tile to the first of the other
  /// Rows of NarrowSum::run pixels: all, those of a tile, and lines from one to the next.
  i64 rows = 0, tile_rows = 0, apart = 0;

  TileLines(const NarrowSum& t, int pixels) : lines(pixels), two(pixels > kTileRows) {
    if (t.run == 0) {
      if (two) lines = (pixels + 1) / 2;
      second = pixels - lines;
      return;
    }
    rows = pixels / t.run;
    tile_rows = rows_of_tile(t.run, t.row, t.pixel);
    two = rows > tile_rows;
    if (!two) tile_rows = rows;
    if (tile_rows > 1) apart = t.row / t.pixel;
    lines = (tile_rows - 1) * apart + t.run;
  }

  /// Words from the first pixel of one tile to the first of the other.
  i64 behind(const NarrowSum& t) const { return t.run == 0 ? second * t.pixel : (rows - tile_rows) * t.row; }
  /// The line of the sums at which those of the second tile begin.
  i64 second_line(const NarrowSum& t) const { return t.run == 0 ? second : kTileRows; }
};

/// The sums of up to 32 pixels, 32 a pixel, while others are finished. Rows of pixels lie as together() wants
/// them.
template <class Tiles, class Meanwhile>
static inline __attribute__((always_inline)) void tile_sums(const NarrowSum& t, const TileLines& at, const float* bias,
                                                            float* to, Meanwhile meanwhile) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const int tail = static_cast<int>(t.last_steps % kTileRows);
  const bool three = Tiles::kHasParts && t.part != 0;
  shape_tiles(tail == 0 ? kTileShapes.full[at.lines - 1] : kTileShapes.shapes[at.lines - 1][tail]);
  if (bias) {
    Tiles::start(bias);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const i64 behind = at.behind(t);
  if (three && at.two) sum_bf16x3<true>(t, behind, meanwhile);
  else if (three) sum_bf16x3<false>(t, 0, meanwhile);
  else if (tail == 0 && at.two) sum_full_tiles<Tiles, true>(t, behind, meanwhile);
  else if (tail == 0) sum_full_tiles<Tiles, false>(t, 0, meanwhile);
  else if (at.two) sum_tiles<Tiles, true>(t, tail, behind, meanwhile);
  else sum_tiles<Tiles, false>(t, tail, 0, meanwhile);
  _tile_stored(0, to, kLine);
  _tile_stored(1, to + kTileRows, kLine);
  if (at.two) {
    _tile_stored(2, to + at.second_line(t) * kColumns, kLine);
    _tile_stored(3, to + at.second_line(t) * kColumns + kTileRows, kLine);
  }
}

/// Rows of pixels, between which there may be lines of a tile, come together.
inline void together(const NarrowSum& t, const TileLines& at, float* sums) {
  if (t.run == 0) return;
  for (i64 row = 1; row < at.rows; ++row) {
    const i64 line =
        row < at.tile_rows ? row * at.apart : at.second_line(t) + (row - (at.rows - at.tile_rows)) * at.apart;
    __builtin_memmove(sums + row * t.run * kColumns, sums + line * kColumns,
                      static_cast<std::size_t>(t.run * kColumns) * sizeof(float));
  }
}

/// Parts of infinite numbers give NaN where f32 may not: such sums of pixels [begin, end) are computed again.
[[gnu::noinline, gnu::cold]] static void sums_again(const NarrowSum& t, i64 begin, i64 end, const float* bias,
                                                    float* sums) {
  for (i64 p = begin; p < end; ++p) {
    const Word* in = t.in + (t.run != 0 ? p / t.run * t.row + p % t.run * t.pixel : p * t.pixel);
    for (i64 c = 0; c < kColumns; ++c)
      if (auto& sum = sums[p * kColumns + c]; sum != sum) sum = one_sum(t, in, c, bias ? bias[c] : 0);
  }
}

/// Whether steps of all blocks but the last one fill tiles, or there is one block.
inline bool fits_tiles(const NarrowSum& t) { return !t.other_taps && (t.blocks == 1 || t.steps % kTileRows == 0); }

/// Calls part(first pixel, pixels) for all of them, at most 32 each and about as many.
template <class Part>
[[gnu::always_inline]] inline void in_tiles(int pixels, Part part) {
  for (int first = 0, parts = (pixels + kMostPixels - 1) / kMostPixels; parts > 0; --parts) {
    const int now = (pixels - first + parts - 1) / parts;
    part(first, now);
    first += now;
  }
}

template <int P>
static inline __attribute__((always_inline)) void finish_bf16(const Bf16Tile& t, i64 first, float* sums, int p) {
  Vec sum[P][2];
  const auto take = [&]() __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int i = 0; i < P; ++i) {
      sum[i][0] = load(sums + (p + i) * kColumns);
      sum[i][1] = load(sums + (p + i) * kColumns + kWidth);
    }
  };
  take();
  if (t.sum.part != 0) {
    __mmask16 nan = 0;
#pragma GCC unroll 4
    for (int i = 0; i < P; ++i) nan |= _mm512_cmp_ps_mask(sum[i][0], sum[i][1], _CMP_UNORD_Q);
    if (__builtin_expect(nan != 0, 0)) {
      auto part = t.sum;
      part.in += first * part.pixel;
      sums_again(part, p, p + P, t.bias, sums);
      take();
    }
  }
  if (t.columns > kBlock) return bf16_finish<P>(t, first + p, 0, sum);
  Vec half[P][1];
#pragma GCC unroll 4
  for (int i = 0; i < P; ++i) half[i][0] = sum[i][0];
  bf16_finish<P>(t, first + p, 0, half);
}

template <int P>
static inline __attribute__((always_inline)) void finish_u8(const U8Tile& t, i64 first, const float* sums, int p) {
  Ints sum[P][2];
#pragma GCC unroll 4
  for (int i = 0; i < P; ++i) {
    __builtin_memcpy(&sum[i][0], sums + (p + i) * kColumns, sizeof(Ints));
    __builtin_memcpy(&sum[i][1], sums + (p + i) * kColumns + kWidth, sizeof(Ints));
  }
  u8_finish_columns<P>(t, first + p, 0, sum);
}

/// Calls part<P>(p) for pixels [p, p + P) of [begin, end).
template <class Part>
static inline __attribute__((always_inline)) void each_finished(int begin, int end, Part part) {
  int p = begin;
  for (; p + kFinished <= end; p += kFinished) part.template operator()<kFinished>(p);
  for (; p < end; ++p) part.template operator()<1>(p);
}

/// Finishes up to `count` more pixels.
static void finish_some(TileAside& a, int count) {
  if (a.done == a.pixels) return;
  float* sums = a.sums[1 - a.which];
  if (a.done == 0) together(a.tile.sum, TileLines(a.tile.sum, a.pixels), sums);
  const int end = a.pixels - a.done > count ? a.done + count : a.pixels;
  each_finished(
      a.done, end, [&]<int P>(int p) __attribute__((always_inline)) { finish_bf16<P>(a.tile, a.first, sums, p); });
  bf16_activate(a.tile, a.first + a.done, end - a.done);
  a.done = end;
}

static void finish_aside(TileAside& a) { finish_some(a, a.pixels); }

/// Sums of a tile, or two, that finishes the one before and is finished by the next one.
[[gnu::noinline]] static void bf16_aside(const Bf16Tile& t, int pixels) {
  auto& aside = *t.sum.aside;
  in_tiles(pixels, [&](int first, int now) {
    auto part = t.sum;
    part.in += first * part.pixel;
    tile_sums<Bf16Tiles>(part, TileLines(part, now), t.bias, aside.sums[aside.which],
                         FinishesOther(aside, multiplications(part)));
    finish_some(aside, aside.pixels);
    aside.tile = t;
    aside.which = 1 - aside.which;
    aside.first = first;
    aside.pixels = now;
    aside.done = 0;
  });
}

/// Sums of tiles, each finished at once: part<P>(first, p, sums) finishes P pixels.
template <class Tiles, class Part>
static inline __attribute__((always_inline)) void sum_now(const NarrowSum& t, int pixels, const float* bias,
                                                          Part part) {
  alignas(64) float sums[kMostPixels * kColumns];
  in_tiles(pixels, [&](int first, int now) {
    auto sum = t;
    sum.in += first * sum.pixel;
    const TileLines at(sum, now);
    tile_sums<Tiles>(sum, at, bias, sums, FinishesNone{});
    together(sum, at, sums);
    each_finished(
        0, now, [&]<int P>(int p) __attribute__((always_inline)) { part.template operator()<P>(first, p, sums); });
  });
}

static void bf16_in_tiles(const Bf16Tile& t, int pixels) {
  if (!fits_tiles(t.sum)) return bf16(t, pixels);
  if (t.sum.aside) return bf16_aside(t, pixels);
  sum_now<Bf16Tiles>(
      t.sum, pixels, t.bias, [&]<int P>(int first, int p, float* sums) __attribute__((always_inline)) {
        finish_bf16<P>(t, first, sums, p);
      });
  bf16_activate(t, 0, pixels);
}

static void u8_in_tiles(const U8Tile& t, int pixels) {
  if (!fits_tiles(t.sum)) return u8(t, pixels);
  sum_now<U8Tiles>(
      t.sum, pixels, nullptr, [&]<int P>(int first, int p, float* sums) __attribute__((always_inline)) {
        finish_u8<P>(t, first, sums, p);
      });
}
