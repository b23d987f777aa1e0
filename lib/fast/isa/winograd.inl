// Winograd's transforms for 3×3 filters, stride 1, on 16 channels at a time: F(2×2) and F(4×4), after A. Lavin,
// S. Gray: "Fast Algorithms for Convolutional Neural Networks".

template <int M>
struct Winograd;

template <>
struct Winograd<2> {
  [[gnu::always_inline]] static void input(const Vec (&d)[4], Vec (&o)[4]) {
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
  }
  [[gnu::always_inline]] static void filter(const Vec (&d)[3], Vec (&o)[4]) {
    const Vec half = spread(0.5f), a = d[0] + d[2];
    o[0] = d[0];
    o[1] = half * (a + d[1]);
    o[2] = half * (a - d[1]);
    o[3] = d[2];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[4], Vec (&o)[2]) {
    o[0] = (d[0] + d[1]) + d[2];
    o[1] = (d[1] - d[2]) - d[3];
  }
};

template <>
struct Winograd<4> {
  [[gnu::always_inline]] static void input(const Vec (&d)[6], Vec (&o)[6]) {
    const Vec two = spread(2), four = spread(4), five = spread(5);
    const Vec a = fma(-four, d[2], d[4]), b = fma(-four, d[1], d[3]), c = d[4] - d[2], e = two * (d[3] - d[1]);
    o[0] = fma(four, d[0], fma(-five, d[2], d[4]));
    o[1] = a + b;
    o[2] = a - b;
    o[3] = c + e;
    o[4] = c - e;
    o[5] = fma(four, d[1], fma(-five, d[3], d[5]));
  }
  [[gnu::always_inline]] static void filter(const Vec (&d)[3], Vec (&o)[6]) {
    const Vec sixth = spread(1.0f / 6), a = d[0] + d[2], b = fma(spread(0.25f), d[0], d[2]), c = spread(0.5f) * d[1];
    o[0] = spread(0.25f) * d[0];
    o[1] = -sixth * (a + d[1]);
    o[2] = -sixth * (a - d[1]);
    o[3] = sixth * (b + c);
    o[4] = sixth * (b - c);
    o[5] = d[2];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[6], Vec (&o)[4]) {
    const Vec a = d[1] + d[2], b = d[1] - d[2], c = d[3] + d[4], e = d[3] - d[4];
    o[0] = (d[0] + a) + c;
    o[1] = fma(spread(2), e, b);
    o[2] = fma(spread(4), c, a);
    o[3] = fma(spread(8), e, b) + d[5];
  }
};

template <int M>
static void winograd_input_of(const float* in, i64 row, float* to, i64 step) {
  constexpr int A = M + 2;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][A];
#pragma GCC unroll 8
    for (int y = 0; y < A; ++y) {
      Vec d[A];
#pragma GCC unroll 8
      for (int x = 0; x < A; ++x) d[x] = load(in + y * row + x * kBlock + lane);
      Winograd<M>::input(d, half[y]);
    }
#pragma GCC unroll 8
    for (int x = 0; x < A; ++x) {
      Vec d[A], o[A];
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) d[y] = half[y][x];
      Winograd<M>::input(d, o);
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) store(to + (y * A + x) * step + lane, o[y]);
    }
  }
}

template <int M>
static void winograd_filter_of(const float* from, i64 from_step, float* to, i64 step) {
  constexpr int A = M + 2;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][3];
#pragma GCC unroll 8
    for (int x = 0; x < 3; ++x) {
      Vec d[3], o[A];
#pragma GCC unroll 8
      for (int y = 0; y < 3; ++y) d[y] = load(from + (y * 3 + x) * from_step + lane);
      Winograd<M>::filter(d, o);
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) half[y][x] = o[y];
    }
#pragma GCC unroll 8
    for (int y = 0; y < A; ++y) {
      Vec o[A];
      Winograd<M>::filter(half[y], o);
#pragma GCC unroll 8
      for (int x = 0; x < A; ++x) store(to + (y * A + x) * step + lane, o[x]);
    }
  }
}

template <int M>
static void winograd_output_of(const float* from, i64 step, const WinogradPixels& to) {
  constexpr int A = M + 2;
  const Vec low = spread(to.low), high = spread(to.high);
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    const Vec bias = to.bias ? load(to.bias + lane) : Vec{};
    Vec half[M][A], result[M][M];
#pragma GCC unroll 8
    for (int x = 0; x < A; ++x) {
      Vec d[A], o[M];
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) d[y] = load(from + (y * A + x) * step + lane);
      Winograd<M>::output(d, o);
#pragma GCC unroll 8
      for (int y = 0; y < M; ++y) half[y][x] = o[y];
    }
#pragma GCC unroll 8
    for (int y = 0; y < M; ++y) Winograd<M>::output(half[y], result[y]);
    const auto put = [&](int y, int x) __attribute__((always_inline)) {
      const i64 place = y * to.row + x * kBlock + lane;
      Vec v = result[y][x] + bias;
      if (to.residual) v = v + load(to.residual + place);
      store(to.out + place, min(high, max(low, v)));
    };
    if (to.rows == M && to.columns == M) {
#pragma GCC unroll 8
      for (int y = 0; y < M; ++y)
#pragma GCC unroll 8
        for (int x = 0; x < M; ++x) put(y, x);
    } else {
      for (int y = 0; y < to.rows; ++y)
        for (int x = 0; x < to.columns; ++x) put(y, x);
    }
  }
}

static void winograd_input(int m, const float* in, i64 row, float* to, i64 step) {
  m == 2 ? winograd_input_of<2>(in, row, to, step) : winograd_input_of<4>(in, row, to, step);
}

static void winograd_filter(int m, const float* from, i64 from_step, float* to, i64 step) {
  m == 2 ? winograd_filter_of<2>(from, from_step, to, step) : winograd_filter_of<4>(from, from_step, to, step);
}

static void winograd_output(int m, const float* from, i64 step, const WinogradPixels& to) {
  m == 2 ? winograd_output_of<2>(from, step, to) : winograd_output_of<4>(from, step, to);
}
