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

struct AllTileShapes {
  TileShapes shapes[kTileRows][kTileRows];
  constexpr AllTileShapes() : shapes() {
    for (int rows = 0; rows < kTileRows; ++rows)
      for (int tail = 0; tail < kTileRows; ++tail) shapes[rows][tail] = tile_shapes(rows + 1, tail);
  }
};
constexpr AllTileShapes kTileShapes;

/// Asking what the tiles are takes 5 ns, telling it 45. Another library may have told otherwise since the last call.
inline void shape_tiles(int rows, int tail) {
  const auto& wanted = kTileShapes.shapes[rows - 1][tail];
  TileShapes now;
  _tile_storeconfig(&now);
  const auto same = _mm512_cmpeq_epi64_mask(_mm512_load_si512(&now), _mm512_load_si512(&wanted));
  if (same != 0xff) _tile_loadconfig(&wanted);
}

struct Bf16Tiles {
  using Sum = float;
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
  [[gnu::always_inline]] static void last0() { _tile_dpbf16ps(0, 6, 7); }
  [[gnu::always_inline]] static void last1() { _tile_dpbf16ps(1, 6, 7); }
  [[gnu::always_inline]] static void last2() { _tile_dpbf16ps(2, 6, 7); }
  [[gnu::always_inline]] static void last3() { _tile_dpbf16ps(3, 6, 7); }
};

struct U8Tiles {
  using Sum = int;
  static void start(const float*) {}
  [[gnu::always_inline]] static void dot0() { _tile_dpbusd(0, 4, 5); }
  [[gnu::always_inline]] static void dot1() { _tile_dpbusd(1, 4, 5); }
  [[gnu::always_inline]] static void dot2() { _tile_dpbusd(2, 4, 5); }
  [[gnu::always_inline]] static void dot3() { _tile_dpbusd(3, 4, 5); }
  [[gnu::always_inline]] static void last0() { _tile_dpbusd(0, 6, 7); }
  [[gnu::always_inline]] static void last1() { _tile_dpbusd(1, 6, 7); }
  [[gnu::always_inline]] static void last2() { _tile_dpbusd(2, 6, 7); }
  [[gnu::always_inline]] static void last3() { _tile_dpbusd(3, 6, 7); }
};

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
      const auto ask = [&] {
        if (!t.ahead) return;
        for (i64 l = 0; l < t.ahead->lines && t.ahead->next < t.ahead->end; ++l, t.ahead->next += 64)
          __builtin_prefetch(t.ahead->next, 0, 2);
      };
      i64 left = steps;
      for (; left >= kTileRows; left -= kTileRows, a += kTileRows, b += kTileRows, w += kTileRows * kColumns) {
        ask();
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
      ask();
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

/// The sums of up to 32 pixels, 32 a pixel. Of more than 16 there are two tiles of the same size, which may share a
/// pixel.
template <class Tiles>
static inline __attribute__((always_inline)) void tile_sums(const NarrowSum& t, int pixels, const float* bias,
                                                            typename Tiles::Sum* to) {
  constexpr i64 kLine = kColumns * sizeof(Word);
  const bool two = pixels > kTileRows || t.row != 0;
  const int rows = two ? (pixels + 1) / 2 : pixels, tail = static_cast<int>(t.last_steps % kTileRows);
  const i64 second = pixels - rows;
  shape_tiles(rows, tail);
  if (bias) {
    Tiles::start(bias);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  if (two) sum_tiles<Tiles, true>(t, tail, t.row != 0 ? t.row : second * t.pixel);
  else sum_tiles<Tiles, false>(t, tail, 0);
  _tile_stored(0, to, kLine);
  _tile_stored(1, to + kTileRows, kLine);
  if (!two) return;
  _tile_stored(2, to + second * kColumns, kLine);
  _tile_stored(3, to + second * kColumns + kTileRows, kLine);
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
