// Pooling on 16 channels.

template <int P, bool kMaximum>
static inline __attribute__((always_inline)) void pool_block(const PoolRow& r, i64 x) {
  const Vec share = spread(1 / r.size);  // a division of vectors takes as long as several loads
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec value[P];
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) value[p] = kMaximum ? spread(-__builtin_inff()) : Vec{};
    for (i64 tap = 0; tap < r.tap_count; ++tap) {
      const float* in = r.in + r.taps[tap] + x * r.step + lane;
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        const Vec v = load(in + p * r.step);
        value[p] = kMaximum ? max(v, value[p]) : value[p] + v;
      }
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) store(r.out + (x + p) * kBlock + lane, kMaximum ? value[p] : value[p] * share);
  }
}

static void pool(const PoolRow& r) {
  i64 x = 0;
  for (; x + 8 <= r.pixels; x += 8) r.maximum ? pool_block<8, true>(r, x) : pool_block<8, false>(r, x);
  for (; x < r.pixels; ++x) r.maximum ? pool_block<1, true>(r, x) : pool_block<1, false>(r, x);
}

// Columns side by side: the rows of each become one vector, which serves all outputs that it reaches.

/// P outputs from column x on. `kInside`: none of their windows lies beside the plane.
template <int K, int S, int P, bool kMaximum, bool kInside>
static inline __attribute__((always_inline)) void pool_outputs(const PoolBand& b, i64 x) {
  constexpr int kReads = (P - 1) * S + K;
  const Vec none = kMaximum ? spread(-__builtin_inff()) : Vec{};
  const auto combine = [](Vec value, Vec with) __attribute__((always_inline)) {
    return kMaximum ? max(value, with) : with + value;
  };
  const i64 first = b.first + x * S;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec column[kReads];
#pragma GCC unroll 32
    for (int c = 0; c < kReads; ++c) column[c] = none;
    for (i64 row = 0; row < b.rows; ++row) {
      const float* in = b.in + row * b.row + first * kBlock + lane;
#pragma GCC unroll 32
      for (int c = 0; c < kReads; ++c)
        if (kInside || (first + c >= 0 && first + c < b.width)) column[c] = combine(load(in + c * kBlock), column[c]);
    }
    const auto share_of = [&](i64 values) {
      return spread(b.size > 0 ? 1 / b.size : values > 0 ? 1 / static_cast<float>(values) : 0.0f);
    };
    Vec share = share_of(b.rows * K);
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) {
      Vec value = column[p * S];
#pragma GCC unroll 8
      for (int j = 1; j < K; ++j) value = combine(column[p * S + j], value);
      if (!kInside) {
        const i64 left = first + p * S, right = left + K;
        const i64 columns = (right < b.width ? right : b.width) - (left > 0 ? left : 0);
        share = share_of(columns > 0 ? b.rows * columns : 0);
      }
      store(b.out + (x + p) * kBlock + lane, kMaximum ? value : value * share);
    }
  }
}

/// As many as registers have room for the columns of.
template <int K, int S, bool kMaximum>
static void pool_columns(const PoolBand& b) {
  constexpr int kMost = kWidth == kBlock ? 8 : 4;
  const auto inside = [&](i64 x, i64 count) {
    const i64 first = b.first + x * S;
    return first >= 0 && first + (count - 1) * S + K <= b.width;
  };
  for (i64 x = 0; x < b.pixels;) {
    if (x + kMost <= b.pixels && inside(x, kMost)) {
      pool_outputs<K, S, kMost, kMaximum, true>(b, x);
      x += kMost;
    } else if (x + 2 <= b.pixels && inside(x, 2)) {
      pool_outputs<K, S, 2, kMaximum, true>(b, x);
      x += 2;
    } else {
      pool_outputs<K, S, 1, kMaximum, false>(b, x++);
    }
  }
}

template <int K, int S>
static void pool_band_of(const PoolBand& b) {
  b.maximum ? pool_columns<K, S, true>(b) : pool_columns<K, S, false>(b);
}

static void pool_band(const PoolBand& b) {
  if (b.columns == 2) b.stride == 1 ? pool_band_of<2, 1>(b) : pool_band_of<2, 2>(b);
  else if (b.columns == 3) b.stride == 1 ? pool_band_of<3, 1>(b) : pool_band_of<3, 2>(b);
  else b.stride == 1 ? pool_band_of<5, 1>(b) : pool_band_of<5, 2>(b);
}
