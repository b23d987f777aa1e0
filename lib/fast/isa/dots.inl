// Dot products. Sums are taken in some vectors and then in a fixed order.

/// Bytes ahead for which caches are asked while rows are read that do not stay there.
constexpr std::uintptr_t kRowsAhead = 8 << 10;
/// Processors with vectors of eight foresee rows: a Zen 3 takes 10 to 15 % longer where it is asked.
constexpr bool kAsksForRows = kWidth > 8;

/// `ask`: for what lies behind y, too.
template <bool ask>
static float dot_of(const float* x, const float* y, i64 n) {
  Vec sum[4] = {};
  i64 i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
    for (i64 j = 0; ask && kAsksForRows && j < 4 * kWidth; j += 16)
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(y + i + j) + kRowsAhead), 0, 2);
    for (int j = 0; j < 4; ++j) sum[j] = fma(load(x + i + j * kWidth), load(y + i + j * kWidth), sum[j]);
  }
  for (; i + kWidth <= n; i += kWidth) sum[0] = fma(load(x + i), load(y + i), sum[0]);
  if (i < n) sum[1] = fma(load_some(x + i, n - i), load_some(y + i, n - i), sum[1]);
  return add_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static float dot(const float* x, const float* y, i64 n) { return dot_of<false>(x, y, n); }
static float dot_ahead(const float* x, const float* y, i64 n) { return dot_of<true>(x, y, n); }

/// read(y) gives the first kWidth elements of y as floats.
template <class Read>
static float narrow_dot(const float* x, const std::uint16_t* y, i64 n, Read read) {
  Vec sum[4] = {};
  i64 i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
    for (i64 j = 0; kAsksForRows && j < 4 * kWidth; j += 32)
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(y + i + j) + kRowsAhead), 0, 2);
    for (int j = 0; j < 4; ++j) sum[j] = fma(load(x + i + j * kWidth), read(y + i + j * kWidth), sum[j]);
  }
  for (; i + kWidth <= n; i += kWidth) sum[0] = fma(load(x + i), read(y + i), sum[0]);
  if (i < n) {
    std::uint16_t last[kWidth] = {};
    __builtin_memcpy(last, y + i, static_cast<unsigned long>(n - i) * sizeof *last);
    sum[1] = fma(load_some(x + i, n - i), read(last), sum[1]);
  }
  return add_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static float dot_f16(const float* x, const std::uint16_t* y, i64 n) {
  return narrow_dot(
      x, y, n, [](const std::uint16_t* p) __attribute__((always_inline)) { return from_f16(p); });
}
static float dot_bf16(const float* x, const std::uint16_t* y, i64 n) {
  return narrow_dot(
      x, y, n, [](const std::uint16_t* p) __attribute__((always_inline)) { return from_bf16(p); });
}

/// The sums of the lanes of four vectors. Every sum is taken in the same order.
[[gnu::always_inline]] inline void add_lanes_of_four(const Vec (&v)[4], float* to) {
  // Of each four lanes: those of `first` of two vectors in turn, and those of two vectors one after the other.
  const auto in_turn = [](Vec a, Vec b, int first) __attribute__((always_inline)) {
    Int at;
    for (int i = 0; i < kWidth; ++i) at[i] = i / 4 * 4 + first + i % 4 / 2 + i % 2 * static_cast<int>(kWidth);
    return (Vec)__builtin_shuffle(a, b, at);
  };
  const auto in_order = [](Vec a, Vec b, int first) __attribute__((always_inline)) {
    Int at;
    for (int i = 0; i < kWidth; ++i) at[i] = i / 4 * 4 + first + i % 2 + i % 4 / 2 * static_cast<int>(kWidth);
    return (Vec)__builtin_shuffle(a, b, at);
  };
  const Vec low = in_turn(v[0], v[1], 0) + in_turn(v[0], v[1], 2),
            high = in_turn(v[2], v[3], 0) + in_turn(v[2], v[3], 2);
  Vec sum = in_order(low, high, 0) + in_order(low, high, 2);
  for (int half = kWidth / 2; half >= 4; half /= 2)
    sum = sum + (Vec)__builtin_shuffle(sum, (places() + half) & (static_cast<int>(kWidth) - 1));
  __builtin_memcpy(to, &sum, 4 * sizeof *to);
}

/// Of R rows, each in the same order whatever R is.
template <int R>
static inline __attribute__((always_inline)) void some_dots(const float* x, const float* rows, i64 stride, i64 n,
                                                            float* y) {
  Vec sum[R][2] = {};
  i64 i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth)
    for (int j = 0; j < 2; ++j) {
      const Vec by = load(x + i + j * kWidth);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r][j] = fma(by, load(rows + r * stride + i + j * kWidth), sum[r][j]);
    }
  for (; i < n; i += kWidth) {
    const auto lanes = n - i < kWidth ? n - i : kWidth;
    const Vec by = lanes < kWidth ? load_some(x + i, lanes) : load(x + i);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const auto* const at = rows + r * stride + i;
      sum[r][0] = fma(by, lanes < kWidth ? load_some(at, lanes) : load(at), sum[r][0]);
    }
  }
  Vec all[4] = {};
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) all[r] = sum[r][0] + sum[r][1];
  float sums[4];
  add_lanes_of_four(all, R == 4 ? y : sums);
  if (R < 4) __builtin_memcpy(y, sums, R * sizeof *y);
}

static void dots(const float* x, const float* rows, i64 stride, i64 count, i64 n, float* y) {
  i64 r = 0;
  for (; r + 4 <= count; r += 4) some_dots<4>(x, rows + r * stride, stride, n, y + r);
  for (; r < count; ++r) some_dots<1>(x, rows + r * stride, stride, n, y + r);
}
