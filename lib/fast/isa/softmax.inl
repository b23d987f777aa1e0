// Rows of scores become probabilities, a row in registers where it fits.

/// Scores i … i + lanes - 1 of row r, scaled and masked.
template <class Masked>
static inline __attribute__((always_inline)) Vec masked_scores(const SoftmaxRows& s, const float* x, i64 r, i64 i,
                                                               i64 lanes, Masked masked) {
  const Vec v = lanes == kWidth ? load(x + i) : load_some(x + i, lanes);
  return masked(v * spread(s.scale), r, i, lanes);
}

constexpr int kTogether = kWidth / 4;  // rows

/// R rows of n scores in V vectors each, which all but the last are full. One row after the other would wait for its
/// maximum and its sum.
template <int R, int V, class Masked>
static inline __attribute__((always_inline)) void softmax_short_rows(const SoftmaxRows& s, i64 r, i64 n,
                                                                     Masked masked) {
  const Vec lowest = spread(-__builtin_inff());
  const i64 lanes = n - (V - 1) * kWidth;
  float* x[R];
  Vec v[R][V], best[R], sum[R];
#pragma GCC unroll 4
  for (int k = 0; k < R; ++k) {
    x[k] = s.scores + (r + k) * s.width;
#pragma GCC unroll 4
    for (int j = 0; j + 1 < V; ++j) v[k][j] = masked_scores(s, x[k], r + k, j * kWidth, kWidth, masked);
    v[k][V - 1] = only(masked_scores(s, x[k], r + k, (V - 1) * kWidth, lanes, masked), lanes, lowest);
    best[k] = lowest;
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) best[k] = max(v[k][j], best[k]);  // where v is NaN, the second stays; the sum is NaN
  }
#pragma GCC unroll 4
  for (int k = 0; k < R; ++k) best[k] = spread(across(best[k], [](Vec a, Vec b) { return max(a, b); }));
#pragma GCC unroll 4
  for (int k = 0; k < R; ++k) {
    Vec part[2] = {};  // in the order of long rows
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) part[j / 2] = part[j / 2] + (v[k][j] = exp_or_zero(v[k][j] - best[k]));
    sum[k] = part[0] + part[1];
  }
#pragma GCC unroll 4
  for (int k = 0; k < R; ++k) {
    const Vec less = spread(1 / add_lanes(sum[k]));
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) store(x[k] + j * kWidth, v[k][j] * less);
    for (i64 i = V * kWidth; i < s.width; i += kWidth) store(x[k] + i, Vec{});
  }
}

/// Rows [first, end) of n scores.
template <int V, class Masked>
static inline __attribute__((always_inline)) void softmax_short(const SoftmaxRows& s, i64 first, i64 end, i64 n,
                                                                Masked masked) {
  i64 r = first;
  for (; r + kTogether <= end; r += kTogether) softmax_short_rows<kTogether, V>(s, r, n, masked);
  for (; r < end; ++r) softmax_short_rows<1, V>(s, r, n, masked);
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
      const Vec e = exp_or_zero(load(x + i + j * kWidth) - highest);
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
    for (i64 r = 0, end = 0; r < s.rows; r = end) {
      const i64 rising = s.first + r * s.rises, n = rising < s.n ? rising : s.n;
      end = s.rises == 0 || rising >= s.n ? s.rows : r + 1;
      switch ((n + kWidth - 1) / kWidth) {
        case 1: softmax_short<1>(s, r, end, n, masked); break;
        case 2: softmax_short<2>(s, r, end, n, masked); break;
        case 3: softmax_short<3>(s, r, end, n, masked); break;
        case 4: softmax_short<4>(s, r, end, n, masked); break;
        default:
          for (i64 i = r; i < end; ++i) softmax_long_row(s, s.scores + i * s.width, i, n, masked);
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
    const Vec hidden = spread(s.hidden), there = s.hides ? hidden : v, else_there = s.hides ? v : hidden;
    if (lanes == kWidth && s.mask_column == 1) return widened(seen) != 0 ? there : else_there;
    unsigned char some[16] = {};  // as many as `widened` reads
    if (s.mask_column == 1) __builtin_memcpy(some, seen, static_cast<unsigned long>(lanes));
    else __builtin_memset(some, *seen, sizeof some);
    return widened(some) != 0 ? there : else_there;
  });
}
