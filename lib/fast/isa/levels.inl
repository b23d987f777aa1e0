// What becomes of values, and of levels, without sums: included by narrow.inl, in its terms.

static void to_u8(const float* x, float scale, float shift, float max_level, std::uint8_t* y, i64 n) {
  const Vec by = spread(scale), plus = spread(shift), zero{}, limit = spread(max_level);
  i64 i = 0;
  for (; i + kWidth <= n; i += kWidth) store_u8(y + i, min(limit, max(zero, load(x + i) * by + plus)));
  if (i == n) return;
  float lanes[kWidth] = {};
  std::uint8_t levels[kWidth];
  for (i64 j = 0; i + j < n; ++j) lanes[j] = x[i + j];
  store_u8(levels, min(limit, max(zero, load(lanes) * by + plus)));
  for (i64 j = 0; i + j < n; ++j) y[i + j] = levels[j];
}

static void rows_to_u8(const float* x, i64 row, float scale, float shift, float max_level, std::uint8_t* y, i64 to,
                       i64 rows, i64 n) {
  if (row == n && to == n) return to_u8(x, scale, shift, max_level, y, rows * n);
  for (i64 i = 0; i < rows; ++i) to_u8(x + i * row, scale, shift, max_level, y + i * to, n);
}

static void pixels_to_u8(const float* const* x, int channels, const float* by, const float* plus, float max_level,
                         i64 n, Word* to, i64 step) {
  const Vec zero{}, limit = spread(max_level);
  for (i64 i = 0; i < n; i += kWidth) {
    const i64 now = n - i < kWidth ? n - i : kWidth;
    Words words{};
    for (int c = 0; c < channels; ++c) {
      float lanes[kWidth] = {};
      if (now < kWidth) __builtin_memcpy(lanes, x[c] + i, static_cast<std::size_t>(now) * sizeof(float));
      const Vec v = now < kWidth ? load(lanes) : load(x[c] + i);
      words |= (Words)to_levels(min(limit, max(zero, v * spread(by[c]) + spread(plus[c])))) << 8 * c;
    }
    if (step == 1 && now == kWidth) {
      store_words(to + i, words);
      continue;
    }
    Word lanes[kWidth];
    store_words(lanes, words);
    for (i64 j = 0; j < now; ++j) to[(i + j) * step] = lanes[j];
  }
}

static void sixteen_to_u8(const float* x, const float* by, const float* plus, float max_level, std::uint8_t* y,
                          i64 pixels) {
  const Vec zero{}, limit = spread(max_level);
  for (i64 c = 0; c < kBlock; c += kWidth) {
    const Vec scale = load(by + c), shift = load(plus + c);
    for (i64 p = 0; p < pixels; ++p)
      store_u8(y + p * 4 * kBlock + c, min(limit, max(zero, load(x + p * kBlock + c) * scale + shift)));
  }
}

static void sixteen_from_u8(const std::uint8_t* x, const float* low, const float* scale, float* y, i64 pixels) {
  for (i64 c = 0; c < kBlock; c += kWidth) {
    const Vec first = load(low + c), step = load(scale + c);
    for (i64 p = 0; p < pixels; ++p) store(y + p * kBlock + c, first + step * load_u8(x + p * 4 * kBlock + c));
  }
}

/// Columns [x, x + P).
template <int P>
static inline __attribute__((always_inline)) void u8_pool_block(const PoolRow& r, i64 x) {
  using Bytes = std::uint8_t __attribute__((vector_size(sizeof(Words))));
  for (i64 part = 0; part < kBlock; part += kWidth) {
    Bytes best[P] = {};
    for (i64 tap = 0; tap < r.tap_count; ++tap) {
      const auto* from = reinterpret_cast<const Word*>(r.in) + r.taps[tap] + x * r.step + part;
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) {
        const auto v = (Bytes)load_words(from + p * r.step);
        best[p] = v > best[p] ? v : best[p];
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) store_words(reinterpret_cast<Word*>(r.out) + (x + p) * kBlock + part, (Words)best[p]);
  }
}

static void u8_pool(const PoolRow& r) {
  i64 x = 0;
  for (; x + 8 <= r.pixels; x += 8) u8_pool_block<8>(r, x);
  for (; x < r.pixels; ++x) u8_pool_block<1>(r, x);
}

/// The same where there is neither PRelu nor a residual, of two vectors a pixel, by two pixels.
static void levels_aside(const U8Aside& t, i64 pixels) {
  const Vec top = spread(t.max_level);
  const Vec by[2] = {load(t.by), load(t.by + kWidth)}, plus[2] = {load(t.plus), load(t.plus + kWidth)};
  const auto level = [&](i64 p, int j) __attribute__((always_inline)) {
    return min(top, max(Vec{}, load(t.values + p * kBlock + j * kWidth) * by[j] + plus[j]));
  };
  for (i64 p = 0; p < pixels; p += 2) {
    const auto q = p + 1 < pixels ? p + 1 : p;
    store_u8(t.out + p * t.out_pixel, t.out + q * t.out_pixel, {level(p, 0), level(p, 1)}, {level(q, 0), level(q, 1)});
  }
}

static void u8_finish_aside(const U8Aside& t, i64 pixels) {
  const bool plain = t.out && t.by && !t.slopes && !t.residual && !t.wide_residual;
  if (plain && 2 * kWidth == kBlock) return levels_aside(t, pixels);
  const auto prelu = [](Vec v, Vec slope) { return v < spread(0.0f) ? slope * v : v; };
  const auto level = [](Vec v, Vec by, Vec plus, Vec highest) { return min(highest, max(Vec{}, v * by + plus)); };
  for (i64 c = 0; c < kBlock; c += kWidth) {
    const auto of = [=](const float* p) { return p ? load(p + c) : Vec{}; };
    const Vec slope = of(t.slopes), by = of(t.by), plus = of(t.plus), top = spread(t.max_level),
              sum_slope = of(t.sum_slopes), sum_by = spread(t.sum_by), sum_plus = spread(t.sum_plus),
              sum_top = spread(t.sum_max_level), own = spread(t.own), other = spread(t.other),
              offset = spread(t.offset), lowest = spread(t.min), highest = spread(t.max);
    const auto pass = [&](bool adds, auto residual) __attribute__((always_inline)) {
      for (i64 p = 0; p < pixels; ++p) {
        auto* at = t.values + p * kBlock + c;
        Vec v = load(at);
        if (t.slopes) v = prelu(v, slope);
        if (t.by) v = level(v, by, plus, top);
        if (adds) {
          if (t.by) v = __builtin_convertvector(to_levels(v), Vec);
          v = min(highest, max(lowest, v * own + (residual(p) * other + offset)));
          if (t.sum_slopes) v = prelu(v, sum_slope);
          if (t.out) v = level(v, sum_by, sum_plus, sum_top);
        }
        if (t.out) store_u8(t.out + p * t.out_pixel + c, v);
        else store(at, v);
      }
    };
    if (t.residual) pass(true, [&](i64 p) { return load_u8(t.residual + p * t.residual_pixel + c); });
    else if (t.wide_residual) pass(true, [&](i64 p) { return load(t.wide_residual + p * t.residual_pixel + c); });
    else pass(false, [](i64) { return Vec{}; });
  }
}
