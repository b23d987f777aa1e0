// Rows of f32 in the tile registers of AMX by matrices of f32, both as the sum of three bf16 (Bf16x3Rows): parts of the
// weights are made while tiles are multiplied.

/// A block of weights: its numbers, and words of a part of it.
constexpr i64 kNumbers = 2 * kTileRows * kColumns, kPartWords = kTileRows * kColumns;
/// Some lines of 16 words of its parts.
template <i64 kFirst, i64 kEnd>
[[gnu::always_inline]] inline void make_parts(const float* from, Word* to) {
#pragma GCC unroll 8
  for (i64 line = kFirst; line < kEnd; ++line)
    two_in_three<false>(load(from + 2 * line * kWidth), load(from + (2 * line + 1) * kWidth), to + line * kTileRows,
                        kPartWords);
}

/// Sums of rows by a panel that lie aside, and where they go.
struct SumsAside {
  const Bf16x3Rows* all;
  float* sums;
  const float* bias;
  i64 panel;
  int rows, done;  ///< how many there are, and are finished

  /// Parts of infinite numbers give NaN where f32 may not: such sums of a row are computed again.
  [[gnu::noinline, gnu::cold]] void again(int row) const {
    const i64 part = all->rows * kBlock;
    for (i64 c = 0; c < kColumns; ++c) {
      float& sum = sums[row * kColumns + c];
      if (sum == sum) continue;
      sum = bias[c];
      const Word* a = all->in + row * kBlock;
      const float* w = all->weights + panel * all->blocks * kNumbers + 2 * c;
      for (i64 block = 0; block < all->blocks; ++block, a += 3 * part, w += kNumbers)
        for (i64 i = 0; i < 2 * kTileRows; ++i)
          sum += whole_of(a + i / 2, part, i % 2 == 1) * w[i / 2 * 2 * kColumns + i % 2];
    }
  }

  [[gnu::noinline]] void finish(int count) {
    const i64 column = panel * kColumns, valid = all->n - column, row = all->row;
    const Vec low = spread(all->low), high = spread(all->high);
    const auto lanes = [](i64 n) { return static_cast<__mmask16>(n >= kWidth ? 0xffff : (1 << (n < 0 ? 0 : n)) - 1); };
    const __mmask16 first = lanes(valid), second = lanes(valid - kWidth);
    int r = done;
    const int end = r + count < rows ? r + count : rows;
    const float *from = sums + r * kColumns, *plus = all->residual ? all->residual + r * row + column : nullptr;
    float* to = all->out + r * row + column;
    for (; r < end; ++r, from += kColumns, to += row) {
      const auto nan = _mm512_cmp_ps_mask(load(from), load(from + kWidth), _CMP_UNORD_Q);
      if (__builtin_expect(nan != 0, 0)) again(r);
      Vec v = load(from), w = load(from + kWidth);
      if (plus) {
        v = v + _mm512_maskz_loadu_ps(first, plus);
        w = w + _mm512_maskz_loadu_ps(second, plus + kWidth);
        plus += row;
      }
      _mm512_mask_storeu_ps(to, first, min(high, max(low, v)));
      _mm512_mask_storeu_ps(to + kWidth, second, min(high, max(low, w)));
    }
    done = end;
  }
};

/// A block of 32 steps of rows by a panel, whose parts lie at `made`. While tiles are multiplied it makes parts of the
/// next block and finishes some rows of the panel before: not at once where it `begins` a panel, for the tiles of the
/// panel before take a while.
template <bool kTwo, bool kMakes>
static void multiply_block(const Word* a, i64 second, i64 part, const Word* made, const float* from, Word* to,
                           SumsAside& before, int finished, bool begins, KeepsAwake& awake) {
  constexpr i64 kLine = kColumns * sizeof(Word), kPixel = kBlock * sizeof(Word);
  const auto rows = [&](i64 p) __attribute__((always_inline)) {
    _tile_loadd(4, a + p * part, kPixel);
    if (kTwo) _tile_loadd(5, a + second + p * part, kPixel);
  };
  const auto weights = [&](i64 p) __attribute__((always_inline)) {
    _tile_loadd(6, made + p * kPartWords, kLine);
    _tile_loadd(7, made + p * kPartWords + kTileRows, kLine);
  };
  const auto multiply = [&]<i64 kFirst, i64 kEnd>() __attribute__((always_inline)) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if (kTwo) {
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    awake.step();
    if (kMakes) make_parts<kFirst, kEnd>(from, to);
    if ((kFirst >= 16 || !begins) && before.done < before.rows) before.finish(finished);
  };
  rows(0);
  weights(2);
  multiply.template operator()<0, 6>();
  weights(1);
  multiply.template operator()<6, 11>();
  rows(1);
  multiply.template operator()<11, 16>();
  weights(0);
  multiply.template operator()<16, 22>();
  rows(2);
  multiply.template operator()<22, 27>();
  rows(0);
  multiply.template operator()<27, 32>();
}

static void bf16x3_rows(const Bf16x3Rows& t) {
  constexpr i64 kLine = kColumns * sizeof(Word), kGaps = 6;
  alignas(64) float sums[2][kMostPixels * kColumns], biases[2][kColumns] = {};
  const auto made = [&](i64 block) { return t.room + block % 2 * 3 * kPartWords; };
  const bool two = t.rows > kTileRows;
  const int each = two ? (t.rows + 1) / 2 : t.rows;
  const i64 second = t.rows - each, part = t.rows * kBlock, panels = (t.n + kColumns - 1) / kColumns;
  const i64 gaps = kGaps * t.blocks - kGaps / 2;
  const int finished = static_cast<int>((t.rows + gaps - 1) / gaps);
  const auto multiply = two ? multiply_block<true, true> : multiply_block<false, true>,
             multiply_last = two ? multiply_block<true, false> : multiply_block<false, false>;
  shape_tiles(kTileShapes.full[each - 1]);
  make_parts<0, 32>(t.weights, made(0));
  const float* weights = t.weights;
  SumsAside before{};
  KeepsAwake awake;
  i64 block = 0;
  for (i64 panel = 0; panel < panels; ++panel) {
    float *to = sums[panel % 2], *bias = biases[panel % 2];
    const i64 valid = t.n - panel * kColumns < kColumns ? t.n - panel * kColumns : kColumns;
    if (t.bias) __builtin_memcpy(bias, t.bias + panel * kColumns, static_cast<std::size_t>(valid) * sizeof(float));
    Bf16Tiles::start(bias);
    for (i64 b = 0; b < t.blocks; ++b, ++block, weights += kNumbers) {
      const bool last = block + 1 >= panels * t.blocks;
      (last ? multiply_last : multiply)(t.in + b * 3 * part, second * kBlock, part, made(block), weights + kNumbers,
                                        made(block + 1), before, finished, b == 0, awake);
    }
    _tile_stored(0, to, kLine);
    _tile_stored(1, to + kTileRows, kLine);
    if (two) {
      _tile_stored(2, to + second * kColumns, kLine);
      _tile_stored(3, to + second * kColumns + kTileRows, kLine);
    }
    before = {&t, to, bias, panel, t.rows, 0};
  }
  before.finish(t.rows);
}
