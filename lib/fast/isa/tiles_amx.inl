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

/// Asks for some lines of what will be wanted next.
[[gnu::always_inline]] inline void ask(Ahead* ahead) {
  if (!ahead) return;
  for (i64 l = 0; l < ahead->lines && ahead->next < ahead->end; ++l, ahead->next += 64)
    __builtin_prefetch(ahead->next, 0, 2);
}

/// Sums of pixels from pixel 0 on, and where kTwo of as many that lie `second` words further on.
template <class Tiles, bool kTwo>
static inline __attribute__((always_inline)) void sum_tiles(const NarrowSum& t, int tail, i64 second) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const i64 pixel = t.pixel * static_cast<i64>(sizeof(Word));
  const Word* w = t.weights;
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
      w += tail * kColumns;
    }
  }
}

/// The same where all steps fill tiles.
template <class Tiles, bool kTwo>
static inline __attribute__((always_inline)) void sum_full_tiles(const NarrowSum& t, i64 second) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const i64 pixel = t.pixel * static_cast<i64>(sizeof(Word));
  const Word* w = t.weights;
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
      }
    }
  }
}

/// The same of f32 in three parts (NarrowSum::part). Of their nine products the six that are not below what f32 rounds
/// off, that of the first parts last.
template <bool kTwo>
static inline __attribute__((always_inline)) void sum_bf16x3(const NarrowSum& t, i64 second) {
  constexpr i64 kLine = kColumns * sizeof(Word), kPart = kTileRows * kColumns;
  const i64 pixel = t.pixel * static_cast<i64>(sizeof(Word));
  const Word* w = t.weights;
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

/// The number that three parts are.
static float whole_of(const Word* parts, i64 part, bool odd) {
  const auto half = [&](i64 p) {
    return __builtin_bit_cast(float, odd ? parts[p * part] & 0xffff0000u : parts[p * part] << 16);
  };
  return half(0) + half(1) + half(2);
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
};

/// The sums of up to 32 pixels, 32 a pixel.
template <class Tiles>
static inline __attribute__((always_inline)) void tile_sums(const NarrowSum& t, int pixels, const float* bias,
                                                            typename Tiles::Sum* to) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const TileLines at(t, pixels);
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
  if (three && at.two) sum_bf16x3<true>(t, behind);
  else if (three) sum_bf16x3<false>(t, 0);
  else if (tail == 0 && at.two) sum_full_tiles<Tiles, true>(t, behind);
  else if (tail == 0) sum_full_tiles<Tiles, false>(t, 0);
  else if (at.two) sum_tiles<Tiles, true>(t, tail, behind);
  else sum_tiles<Tiles, false>(t, tail, 0);
  _tile_stored(0, to, kLine);
  _tile_stored(1, to + kTileRows, kLine);
  const i64 second = t.run == 0 ? at.second : kTileRows;  // line of the second tile
  if (at.two) {
    _tile_stored(2, to + second * kColumns, kLine);
    _tile_stored(3, to + second * kColumns + kTileRows, kLine);
  }
  // Rows come together.
  for (i64 row = 1; row < at.rows; ++row) {
    const i64 line = row < at.tile_rows ? row * at.apart : second + (row - (at.rows - at.tile_rows)) * at.apart;
    __builtin_memmove(to + row * t.run * kColumns, to + line * kColumns, static_cast<std::size_t>(t.run * kLine));
  }
}

/// Parts of infinite numbers give NaN where f32 may not: such sums are computed again.
static void sums_again(const NarrowSum& t, int pixels, const float* bias, float* sums) {
  for (i64 p = 0; p < pixels; ++p) {
    const Word* in = t.in + (t.run != 0 ? p / t.run * t.row + p % t.run * t.pixel : p * t.pixel);
    for (i64 c = 0; c < kColumns; ++c)
      if (auto& sum = sums[p * kColumns + c]; sum != sum) sum = one_sum(t, in, c, bias ? bias[c] : 0);
  }
}

/// The first 8 bits of f32, the next 8 and what is left, each exact as bf16. Infinite numbers leave nothing, or where
/// they need not be known again NaN.
template <bool kKnown = true>
[[gnu::always_inline]] inline void in_three(Vec x, Vec (&parts)[3]) {
  const auto upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  const auto cut = [&](Vec v) { return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), upper)); };
  parts[0] = cut(x);
  const Vec left =
      kKnown ? _mm512_maskz_sub_ps(_mm512_cmp_ps_mask(x, parts[0], _CMP_NEQ_UQ), x, parts[0]) : x - parts[0];
  parts[1] = cut(left);
  parts[2] = left - parts[1];
}

/// Of two vectors, whose numbers become halves of words in this order.
template <bool kKnown = true>
[[gnu::always_inline]] inline void two_in_three(Vec x, Vec y, Word* to, i64 part) {
  alignas(64) static constexpr std::uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                           23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                           45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  Vec first[3], second[3];
  in_three<kKnown>(x, first);
  in_three<kKnown>(y, second);
  for (int p = 0; p < 3; ++p)
    _mm512_storeu_si512(to + p * part,
                        _mm512_permutex2var_epi16(_mm512_castps_si512(first[p]), _mm512_load_si512(kUpper),
                                                  _mm512_castps_si512(second[p])));
}

static void to_bf16x3(const float* x, const float* y, i64 step, i64 n, Word* to, i64 part) {
  for (i64 i = 0; i < n; ++i, to += kBlock) two_in_three(load(x + i * step), y ? load(y + i * step) : Vec{}, to, part);
}

static void lines_to_bf16x3(const float* even, const float* odd, Word* to, i64 part) {
  Vec first[3], second[3] = {};
  for (i64 c = 0; c < kColumns; c += kWidth) {
    in_three(load(even + c), first);
    if (odd) in_three(load(odd + c), second);
    for (int p = 0; p < 3; ++p)
      store_words(to + p * part + c, (Words)_mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(first[p]), 16),
                                                            _mm512_castps_si512(second[p])));
  }
}

/// Whether steps of all blocks but the last one fill tiles, or there is one block.
inline bool fits_tiles(const NarrowSum& t) { return t.blocks == 1 || t.steps % kTileRows == 0; }

/// Calls part(first pixel, pixels) for all of them, at most 32 each and about as many.
template <class Part>
[[gnu::always_inline]] inline void in_tiles(int pixels, Part part) {
  for (int first = 0, parts = (pixels + kMostPixels - 1) / kMostPixels; parts > 0; --parts) {
    const int now = (pixels - first + parts - 1) / parts;
    part(first, now);
    first += now;
  }
}

static void bf16_in_tiles(const Bf16Tile& t, int pixels) {
  if (!fits_tiles(t.sum)) return bf16(t, pixels);
  constexpr int kOnce = 4;
  alignas(64) float sums[kMostPixels * kColumns];
  const auto finish = [&]<int P>(i64 first, int p) __attribute__((always_inline)) {
    Vec sum[P][2];
#pragma GCC unroll 4
    for (int i = 0; i < P; ++i) {
      sum[i][0] = load(sums + (p + i) * kColumns);
      sum[i][1] = load(sums + (p + i) * kColumns + kWidth);
    }
    bf16_finish<P>(t, first + p, 0, sum);
  };
  in_tiles(pixels, [&](int first, int now) {
    auto part = t.sum;
    part.in += first * part.pixel;
    tile_sums<Bf16Tiles>(part, now, t.bias, sums);
    if (part.part != 0) {
      Vec any[4] = {};  // one would wait for itself
      for (i64 i = 0; i < now * kColumns; i += 2 * kColumns)
        for (i64 v = 0; v < 4 && i + v * kWidth < now * kColumns; ++v) any[v] = any[v] + load(sums + i + v * kWidth);
      const Vec all = (any[0] + any[1]) + (any[2] + any[3]);
      if (_mm512_cmp_ps_mask(all, all, _CMP_UNORD_Q) != 0) sums_again(part, now, t.bias, sums);
    }
    int p = 0;
    for (; p + kOnce <= now; p += kOnce) finish.template operator()<kOnce>(first, p);
    for (; p < now; ++p) finish.template operator()<1>(first, p);
  });
}

static void u8_in_tiles(const U8Tile& t, int pixels) {
  if (!fits_tiles(t.sum)) return u8(t, pixels);
  constexpr int kOnce = 4;
  alignas(64) int sums[kMostPixels * kColumns];
  const auto finish = [&]<int P>(i64 first, int p) __attribute__((always_inline)) {
    Ints sum[P][2];
#pragma GCC unroll 4
    for (int i = 0; i < P; ++i) {
      __builtin_memcpy(&sum[i][0], sums + (p + i) * kColumns, sizeof(Ints));
      __builtin_memcpy(&sum[i][1], sums + (p + i) * kColumns + kWidth, sizeof(Ints));
    }
    u8_finish<P>(t, first + p, 0, sum);
  };
  in_tiles(pixels, [&](int first, int now) {
    auto part = t.sum;
    part.in += first * part.pixel;
    tile_sums<U8Tiles>(part, now, nullptr, sums);
    int p = 0;
    for (; p + kOnce <= now; p += kOnce) finish.template operator()<kOnce>(first, p);
    for (; p < now; ++p) finish.template operator()<1>(first, p);
  });
}
