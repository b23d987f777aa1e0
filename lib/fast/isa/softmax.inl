// Rows of scores become probabilities, a row in registers where it fits.

/// Scores i … i + lanes - 1 of row r, scaled and masked.
template <class Masked>
static inline __attribute__((always_inline)) Vec masked_scores(const SoftmaxRows& s, const float* x, i64 r, i64 i,
                                                               i64 lanes, Masked masked) {
  const Vec v = lanes == kWidth ? load(x + i) : load_some(x + i, lanes);
  return masked(v * spread(s.scale), r, i, lanes);
}

/// A row of n scores in V vectors, which all but the last are full.
template <int V, class Masked>
static inline __attribute__((always_inline)) void softmax_short_row(const SoftmaxRows& s, float* x, i64 r, i64 n,
                                                                    Masked masked) {
  const Vec lowest = spread(-__builtin_inff());
  const i64 lanes = n - (V - 1) * kWidth;
  Vec v[V];
#pragma GCC unroll 4
  for (int j = 0; j + 1 < V; ++j) v[j] = masked_scores(s, x, r, j * kWidth, kWidth, masked);
  v[V - 1] = only(masked_scores(s, x, r, (V - 1) * kWidth, lanes, masked), lanes, lowest);
  Vec best = lowest;
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) best = max(v[j], best);  // where v is NaN, the second operand stays; the sum is NaN then
  const Vec highest = spread(across(best, [](Vec a, Vec b) { return max(a, b); }));
  Vec sum{};
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) sum = sum + (v[j] = exp_to_89(v[j] - highest));
  const Vec less = spread(1 / add_lanes(sum));
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) store(x + j * kWidth, v[j] * less);
  for (i64 i = V * kWidth; i < s.width; i += kWidth) store(x + i, Vec{});
}

template <class Masked>
static void softmax_long_row(const SoftmaxRows& s, float* x, i64 r, i64 n, Masked masked) {
  Vec best = spread(-__builtin_inff());
  for (i64 i = 0; i < n; i += kWidth) {
    const i64 lanes = n - i < kWidth ? n - i : kWidth;
    const Vec v = only(masked_scores(s, x, r, i, lanes, masked), lanes, spread(-__builtin_inff()));
    store(x + i, v);
    best = max(v, best);
  }
  const Vec highest = spread(across(best, [](Vec a, Vec b) { return max(a, b); }));
  Vec sum[4] = {};
  for (i64 i = 0; i < n; i += 4 * kWidth)
    for (i64 j = 0; j < 4 && i + j * kWidth < n; ++j) {
      const Vec e = exp_to_89(load(x + i + j * kWidth) - highest);
      store(x + i + j * kWidth, e);
      sum[j] = sum[j] + e;
    }
  const Vec less = spread(1 / add_lanes((sum[0] + sum[1]) + (sum[2] + sum[3])));
  i64 i = 0;
  for (; i < n; i += kWidth) store(x + i, load(x + i) * less);
  for (; i < s.width; i += kWidth) store(x + i, Vec{});
}

static void softmax_rows(const SoftmaxRows& s) {
  const auto go = [&](auto masked) {
    for (i64 r = 0; r < s.rows; ++r) {
      float* x = s.scores + r * s.width;
      const i64 rising = s.first + r * s.rises, n = rising < s.n ? rising : s.n;
      switch ((n + kWidth - 1) / kWidth) {
        case 1: softmax_short_row<1>(s, x, r, n, masked); break;
        case 2: softmax_short_row<2>(s, x, r, n, masked); break;
        case 3: softmax_short_row<3>(s, x, r, n, masked); break;
        case 4: softmax_short_row<4>(s, x, r, n, masked); break;
        default: softmax_long_row(s, x, r, n, masked);
      }
    }
  };
  if (s.added)
    return go([&](Vec v, i64 r, i64 i, i64 lanes) __attribute__((always_inline)) {
      const float* plus = s.added + r * s.mask_row + i * s.mask_column;
      return v + (s.mask_column == 0 ? spread(*plus) : (lanes == kWidth ? load(plus) : load_some(plus, lanes)));
    });
  if (!s.seen) return go([](Vec v, i64, i64, i64) __attribute__((always_inline)) { return v; });
  go([&](Vec v, i64 r, i64 i, i64 lanes) __attribute__((always_inline)) {
    const unsigned char* seen = s.seen + r * s.mask_row + i * s.mask_column;
    const Vec hidden = spread(-__builtin_inff());
    if (lanes == kWidth && s.mask_column == 1) return widened(seen) != 0 ? v : hidden;
    unsigned char some[16] = {};  // as many as `widened` reads
    for (i64 j = 0; j < lanes; ++j) some[j] = seen[j * s.mask_column];
    return widened(some) != 0 ? v : hidden;
  });
}
