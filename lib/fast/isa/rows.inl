// Reductions, normalization and transposition of rows. Sums are taken in four vectors and then in a fixed order.

/// 0, 1, 2 …
[[gnu::always_inline]] inline Int places() {
  Int at;
  for (int i = 0; i < kWidth; ++i) at[i] = i;
  return at;
}
/// v in the first n lanes, `rest` in the others.
[[gnu::always_inline]] inline Vec only(Vec v, i64 n, Vec rest) { return places() < static_cast<int>(n) ? v : rest; }

/// One number of all lanes, by halves.
template <class Join>
[[gnu::always_inline]] inline float across(Vec v, Join join) {
  for (int half = kWidth / 2; half > 0; half /= 2)
    v = join(v, (Vec)__builtin_shuffle(v, (places() + half) & (static_cast<int>(kWidth) - 1)));
  return v[0];
}
[[gnu::always_inline]] inline float add_lanes(Vec v) {
  return across(v, [](Vec a, Vec b) { return a + b; });
}

/// The sum of term(i, lanes) over the row, which is asked for kWidth elements at a time and at the end for fewer; lanes
/// beyond must then be 0.
template <class Term>
static inline __attribute__((always_inline)) float sum_of(i64 n, Term term) {
  Vec sum[4] = {};
  i64 i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth)
    for (int j = 0; j < 4; ++j) sum[j] = sum[j] + term(i + j * kWidth, kWidth);
  for (; i + kWidth <= n; i += kWidth) sum[0] = sum[0] + term(i, kWidth);
  if (i < n) sum[1] = sum[1] + term(i, n - i);
  return add_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static float sum(const float* x, i64 n) {
  return sum_of(n, [=](i64 i, i64 lanes) { return lanes == kWidth ? load(x + i) : load_some(x + i, lanes); });
}

static float deviation(const float* x, float mean, i64 n) {
  return sum_of(n, [=, m = spread(mean)](i64 i, i64 lanes) {
    const Vec d = (lanes == kWidth ? load(x + i) : load_some(x + i, lanes)) - m;
    return lanes == kWidth ? d * d : only(d * d, lanes, Vec{});
  });
}

/// The extreme of value(i, lanes) over the row, which is asked for as by sum_of; NaN if one is NaN.
template <class Pick, class Value>
static inline __attribute__((always_inline)) float extreme(i64 n, float start, Pick pick, Value value) {
  Vec best[4], nan = Vec{};
  for (int j = 0; j < 4; ++j) best[j] = spread(start);
  const auto take = [&](int j, Vec v) __attribute__((always_inline)) {
    nan = v == v ? nan : v;
    best[j] = pick(v, best[j]);  // where v is NaN, the second operand stays
  };
  i64 i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth)
    for (int j = 0; j < 4; ++j) take(j, value(i + j * kWidth, kWidth));
  for (; i + kWidth <= n; i += kWidth) take(0, value(i, kWidth));
  if (i < n) take(1, only(value(i, n - i), n - i, spread(start)));
  const auto odd = add_lanes(nan);
  return odd != odd ? odd : across(pick(pick(best[0], best[1]), pick(best[2], best[3])), pick);
}

static float maximum(const float* x, i64 n) {
  return extreme(
      n, -__builtin_inff(), [](Vec a, Vec b) { return max(a, b); },
      [=](i64 i, i64 lanes) { return lanes == kWidth ? load(x + i) : load_some(x + i, lanes); });
}
static float minimum(const float* x, i64 n) {
  return extreme(
      n, __builtin_inff(), [](Vec a, Vec b) { return min(a, b); },
      [=](i64 i, i64 lanes) { return lanes == kWidth ? load(x + i) : load_some(x + i, lanes); });
}

static float scale_add(const float* x, float scale, const float* plus, i64 step, float* y, i64 n) {
  const Vec times = spread(scale);
  return extreme(
      n, -__builtin_inff(), [](Vec a, Vec b) { return max(a, b); },
      [=](i64 i, i64 lanes) {
        if (lanes == kWidth) {
          const Vec v = load(x + i) * times + (step ? load(plus + i) : spread(*plus));
          store(y + i, v);
          return v;
        }
        const Vec v = load_some(x + i, lanes) * times + (step ? load_some(plus + i, lanes) : spread(*plus));
        store_some(y + i, v, lanes);
        return v;
      });
}

static void scale_add_grid(float* x, float scale, const float* by_row, const float* by_column, i64 columns, i64 first,
                           i64 n) {
  const Vec times = spread(scale);
  i64 row = first / columns, column = first % columns;
  for (; n > 0; ++row, column = 0) {
    const i64 here = n < columns - column ? n : columns - column;
    const Vec plus = spread(by_row[row]);
    const float* across = by_column + column;
    i64 i = 0;
    for (; i + kWidth <= here; i += kWidth) store(x + i, fma(load(x + i), times, load(across + i) + plus));
    if (i < here)
      store_some(x + i, fma(load_some(x + i, here - i), times, load_some(across + i, here - i) + plus), here - i);
    x += here;
    n -= here;
  }
}

template <class Join>
static inline __attribute__((always_inline)) void reduce_columns_by(const float* x, i64 step, i64 rows, float start,
                                                                    float* y, i64 columns, Join join) {
  i64 c = 0;
  for (; c + 4 * kWidth <= columns; c += 4 * kWidth) {
    Vec v[4];
    for (int j = 0; j < 4; ++j) v[j] = spread(start);
    for (i64 r = 0; r < rows; ++r)
      for (int j = 0; j < 4; ++j) v[j] = join(v[j], load(x + r * step + c + j * kWidth));
    for (int j = 0; j < 4; ++j) store(y + c + j * kWidth, v[j]);
  }
  for (; c < columns; c += kWidth) {
    const i64 lanes = columns - c < kWidth ? columns - c : kWidth;
    Vec v = spread(start);
    for (i64 r = 0; r < rows; ++r)
      v = join(v, lanes == kWidth ? load(x + r * step + c) : load_some(x + r * step + c, lanes));
    store_some(y + c, v, lanes);
  }
}

static void reduce_columns(Reduction what, const float* x, i64 step, i64 rows, float* y, i64 columns) {
  const auto go = [=](float start, auto join) { reduce_columns_by(x, step, rows, start, y, columns, join); };
  const auto nan_or = [](Vec p, Vec q, Vec result) { return p == p ? (q == q ? result : q) : p; };
  switch (what) {
    case Reduction::sum:
    case Reduction::mean: return go(0, [](Vec p, Vec q) { return p + q; });
    case Reduction::norm: return go(0, [](Vec p, Vec q) { return fma(q, q, p); });
    case Reduction::absolute: return go(0, [](Vec p, Vec q) { return p + max(-q, q); });
    case Reduction::maximum: return go(-__builtin_inff(), [=](Vec p, Vec q) { return nan_or(p, q, max(p, q)); });
    case Reduction::minimum: return go(__builtin_inff(), [=](Vec p, Vec q) { return nan_or(p, q, min(p, q)); });
  }
}

static float exp_sum(const float* x, float scale, float shift, float* y, i64 n) {
  const Vec times = spread(scale), minus = spread(shift);
  return sum_of(n, [=](i64 i, i64 lanes) {
    if (lanes == kWidth) {
      const Vec e = exp_or_zero(min(spread(87.0f), load(x + i) * times - minus));
      store(y + i, e);
      return e;
    }
    const Vec e = exp_or_zero(min(spread(87.0f), load_some(x + i, lanes) * times - minus));
    store_some(y + i, e, lanes);
    return only(e, lanes, Vec{});
  });
}

static void normalize(const float* x, float mean, float scale, const float* weight, const float* bias, float* y,
                      i64 n) {
  const Vec minus = spread(mean), times = spread(scale);
  const auto result = [=](i64 i, auto read) {
    Vec v = (read(x + i) - minus) * times;
    if (weight) v = v * read(weight + i);
    return bias ? v + read(bias + i) : v;
  };
  i64 i = 0;
  for (; i + kWidth <= n; i += kWidth) store(y + i, result(i, [](const float* p) { return load(p); }));
  if (i < n) store_some(y + i, result(i, [=](const float* p) { return load_some(p, n - i); }), n - i);
}

/// Vectors of a row that stay in registers, at most.
constexpr int kShortRow = kWidth == 16 ? 8 : 6;

[[gnu::always_inline]] inline float factor_of(const ShortRows& s, double variance) {
  const double epsilon = s.epsilon;
  return static_cast<float>(
      1 / (s.epsilon_inside ? __builtin_sqrt(variance + epsilon) : __builtin_sqrt(variance) + epsilon));
}

/// R rows of V vectors.
template <int R, int V>
static inline __attribute__((always_inline)) void normalize_short(const ShortRows& s, const float* x, float* y) {
  constexpr int kLast = V - 1;
  const i64 rest = s.n - kLast * kWidth;
  const double share = 1 / static_cast<double>(s.n);
  const auto read = [&](const float* p, int j) {
    return j < kLast || rest == kWidth ? load(p + j * kWidth) : load_some(p + j * kWidth, rest);
  };
  Vec v[R][V];
  float mean[R], times[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    Vec sum{};
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) {
      v[r][j] = read(x + r * s.n, j);
      sum = sum + v[r][j];
    }
    mean[r] = s.center ? static_cast<float>(static_cast<double>(add_lanes(sum)) * share) : 0.0f;
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    Vec sum{};
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) {
      v[r][j] = v[r][j] - spread(mean[r]);
      if (j == kLast) v[r][j] = only(v[r][j], rest, Vec{});
      sum = fma(v[r][j], v[r][j], sum);
    }
    times[r] = s.scale ? factor_of(s, static_cast<double>(add_lanes(sum)) * share) : 1.0f;
  }
#pragma GCC unroll 8
  for (int j = 0; j < V; ++j) {
    const Vec weight = s.weight ? read(s.weight, j) : spread(1.0f), bias = s.bias ? read(s.bias, j) : Vec{};
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const Vec result = v[r][j] * spread(times[r]) * weight + bias;
      float* const to = y + r * s.n + j * kWidth;
      if (j < kLast || rest == kWidth) store(to, result);
      else store_some(to, result, rest);
    }
  }
}

template <int V>
static void normalize_short_rows_of(const ShortRows& s) {
  constexpr int kRows = V <= 2 ? 4 : 2;
  if constexpr (V > 0) {
    if (s.n <= (V - 1) * kWidth) return normalize_short_rows_of<V - 1>(s);
    i64 r = 0;
    for (; r + kRows <= s.rows; r += kRows) normalize_short<kRows, V>(s, s.x + r * s.n, s.y + r * s.n);
    for (; r < s.rows; ++r) normalize_short<1, V>(s, s.x + r * s.n, s.y + r * s.n);
  }
}

static void normalize_short_rows(const ShortRows& s) { normalize_short_rows_of<kShortRow>(s); }

/// The sum of term(i, lane) over elements i of every pixel, for kWidth lanes from `lane` on.
template <class Term>
static inline __attribute__((always_inline)) void sum_lanes(i64 pixels, float* to, Term term) {
  constexpr i64 kLanes = 16;
  for (i64 lane = 0; lane < kLanes; lane += kWidth) {
    Vec sum[4] = {};
    i64 p = 0;
    for (; p + 4 <= pixels; p += 4)
      for (int j = 0; j < 4; ++j) sum[j] = sum[j] + term((p + j) * kLanes + lane, lane);
    for (; p < pixels; ++p) sum[0] = sum[0] + term(p * kLanes + lane, lane);
    store(to + lane, (sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
}

static void lane_sums(const float* x, i64 pixels, float* to) {
  sum_lanes(pixels, to, [=](i64 i, i64) { return load(x + i); });
}

static void lane_deviations(const float* x, const float* mean, i64 pixels, float* to) {
  sum_lanes(pixels, to, [=](i64 i, i64 lane) {
    const Vec d = load(x + i) - load(mean + lane);
    return d * d;
  });
}

static void lane_normalize(const float* x, const float* mean, const float* scale, const float* bias, float* y,
                           i64 pixels) {
  constexpr i64 kLanes = 16;
  for (i64 lane = 0; lane < kLanes; lane += kWidth) {
    const Vec minus = load(mean + lane), times = load(scale + lane), plus = load(bias + lane);
    for (i64 i = lane; i < pixels * kLanes; i += kLanes) store(y + i, (load(x + i) - minus) * times + plus);
  }
}

static void transpose(const float* x, i64 from, float* y, i64 to, i64 rows, i64 columns) {
  for (i64 r = 0; r < rows; r += kSquare)
    for (i64 c = 0; c < columns; c += kSquare)
      transpose_square(x + r * from + c, from, y + c * to + r, to, rows - r < kSquare ? rows - r : kSquare,
                       columns - c < kSquare ? columns - c : kSquare);
  leave();
}
