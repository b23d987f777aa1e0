// The loops, in terms of Vec (a vector of kWidth floats) and fma(). Included by one file an instruction set.

static constexpr i64 kVectors = kPanel / kWidth;  // of a panel's row

template <i64 M, i64 N>
static inline __attribute__((always_inline)) void block(const float* a, i64 lda, const float* panel, i64 k, float* c,
                                                        bool first) {
  Vec sum[M][N];
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) sum[i][j] = first ? Vec{} : load(c + i * kPanel + j * kWidth);
  for (i64 p = 0; p < k; ++p) {
    Vec b[N];
    for (int j = 0; j < N; ++j) b[j] = load(panel + p * kPanel + j * kWidth);
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      const Vec s = spread(a[i * lda + p]);
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) sum[i][j] = fma(s, b[j], sum[i][j]);
    }
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) store(c + i * kPanel + j * kWidth, sum[i][j]);
}

// As many vectors side by side as the registers hold beside M rows of sums.
template <i64 M>
static void strip(const float* a, i64 lda, const float* panel, i64 k, float* c, bool first) {
  constexpr i64 side = kVectors < kSide ? kVectors : kSide;
  for (int j = 0; j < kVectors; j += side) block<M, side>(a, lda, panel + j * kWidth, k, c + j * kWidth, first);
}

static void tile(const float* a, i64 lda, const float* panel, i64 k, float* c, int m, bool first) {
  switch (m) {
    case 1: return strip<1>(a, lda, panel, k, c, first);
    case 2: return strip<2>(a, lda, panel, k, c, first);
    case 3: return strip<3>(a, lda, panel, k, c, first);
    case 4: return strip<4>(a, lda, panel, k, c, first);
    case 5: return strip<5>(a, lda, panel, k, c, first);
    default: return strip<6>(a, lda, panel, k, c, first);
  }
}

static void axpy(float w, const float* x, i64 step, float* y, i64 n) {
  if (step == 1)
    for (i64 i = 0; i < n; ++i) y[i] += w * x[i];
  else if (step == 2)
    for (i64 i = 0; i < n; ++i) y[i] += w * x[2 * i];
  else
    for (i64 i = 0; i < n; ++i) y[i] += w * x[step * i];
}

static void weighted_sum(const float* w, const float* const* x, i64 rows, float* y, i64 n, bool first) {
  i64 i = 0;
  const auto sums = [&]<int kSums>() __attribute__((always_inline)) {
    for (; i + kSums * kWidth <= n; i += kSums * kWidth) {
      Vec sum[kSums];
#pragma GCC unroll 8
      for (i64 j = 0; j < kSums; ++j) sum[j] = first ? Vec{} : load(y + i + j * kWidth);
      for (i64 r = 0; r < rows; ++r) {
        const Vec by = spread(w[r]);
#pragma GCC unroll 8
        for (i64 j = 0; j < kSums; ++j) sum[j] = fma(by, load(x[r] + i + j * kWidth), sum[j]);
      }
#pragma GCC unroll 8
      for (i64 j = 0; j < kSums; ++j) store(y + i + j * kWidth, sum[j]);
    }
  };
  sums.template operator()<8>();
  sums.template operator()<4>();
  sums.template operator()<1>();
  if (i < n) {
    Vec sum = first ? Vec{} : load_some(y + i, n - i);
    for (i64 r = 0; r < rows; ++r) sum = fma(spread(w[r]), load_some(x[r] + i, n - i), sum);
    store_some(y + i, sum, n - i);
  }
}
