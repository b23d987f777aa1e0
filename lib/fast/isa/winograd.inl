// Winograd's transforms for 3×3 filters, and for lines of 3 taps, stride 1, on 16 channels at a time. An axis that is not
// transformed has tiles of 1.
#include "fast/isa/winograd_lines.inl"

/// Pixels of a window along an axis whose tiles have M, and taps of a filter.
template <int M>
constexpr int kWinogradWindow = M == 1 ? 1 : M + 2;
template <int M>
constexpr int kWinogradTaps = M == 1 ? 1 : 3;

template <int Y, int X>
static void winograd_input_of(const float* in, i64 row, i64 column, float* to, i64 step) {
  constexpr int A = kWinogradWindow<Y>, B = kWinogradWindow<X>;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][B];
#pragma GCC unroll 8
    for (int y = 0; y < A; ++y) {
      Vec d[B];
#pragma GCC unroll 8
      for (int x = 0; x < B; ++x) d[x] = load(in + y * row + x * column + lane);
      Winograd<X>::input(d, half[y]);
    }
#pragma GCC unroll 8
    for (int x = 0; x < B; ++x) {
      Vec d[A], o[A];
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) d[y] = half[y][x];
      Winograd<Y>::input(d, o);
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) store(to + (y * B + x) * step + lane, o[y]);
    }
  }
}

template <int Y, int X>
static void winograd_filter_of(const float* from, i64 from_step, float* to, i64 step) {
  constexpr int A = kWinogradWindow<Y>, B = kWinogradWindow<X>, R = kWinogradTaps<Y>, S = kWinogradTaps<X>;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][S];
#pragma GCC unroll 8
    for (int x = 0; x < S; ++x) {
      Vec d[R], o[A];
#pragma GCC unroll 8
      for (int y = 0; y < R; ++y) d[y] = load(from + (y * S + x) * from_step + lane);
      Winograd<Y>::filter(d, o);
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) half[y][x] = o[y];
    }
#pragma GCC unroll 8
    for (int y = 0; y < A; ++y) {
      Vec o[B];
      Winograd<X>::filter(half[y], o);
#pragma GCC unroll 8
      for (int x = 0; x < B; ++x) store(to + (y * B + x) * step + lane, o[x]);
    }
  }
}

template <int Y, int X>
static void winograd_output_of(const float* from, i64 step, const WinogradPixels& to) {
  constexpr int A = kWinogradWindow<Y>, B = kWinogradWindow<X>;
  const Vec low = spread(to.low), high = spread(to.high);
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    const Vec bias = to.bias ? load(to.bias + lane) : Vec{};
    Vec half[Y][B], result[Y][X];
#pragma GCC unroll 8
    for (int x = 0; x < B; ++x) {
      Vec d[A], o[Y];
#pragma GCC unroll 8
      for (int y = 0; y < A; ++y) d[y] = load(from + (y * B + x) * step + lane);
      Winograd<Y>::output(d, o);
#pragma GCC unroll 8
      for (int y = 0; y < Y; ++y) half[y][x] = o[y];
    }
#pragma GCC unroll 8
    for (int y = 0; y < Y; ++y) Winograd<X>::output(half[y], result[y]);
    const auto put = [&](int y, int x) __attribute__((always_inline)) {
      const i64 place = y * to.row + x * to.column + lane;
      Vec v = result[y][x] + bias;
      if (to.residual) v = v + load(to.residual + place);
      store(to.out + place, min(high, max(low, v)));
    };
    if (to.rows == Y && to.columns == X) {
#pragma GCC unroll 8
      for (int y = 0; y < Y; ++y)
#pragma GCC unroll 8
        for (int x = 0; x < X; ++x) put(y, x);
    } else {
      for (int y = 0; y < to.rows; ++y)
        for (int x = 0; x < to.columns; ++x) put(y, x);
    }
  }
}

static void winograd_input(int m, const float* in, i64 row, i64 column, float* to, i64 step) {
  if (m == 2) winograd_input_of<2, 2>(in, row, column, to, step);
  else if (m == 4) winograd_input_of<4, 4>(in, row, column, to, step);
  else winograd_input_of<1, 4>(in, row, column, to, step);
}

static void winograd_filter(int m, const float* from, i64 from_step, float* to, i64 step) {
  if (m == 2) winograd_filter_of<2, 2>(from, from_step, to, step);
  else if (m == 4) winograd_filter_of<4, 4>(from, from_step, to, step);
  else winograd_filter_of<1, 4>(from, from_step, to, step);
}

static void winograd_output(int m, const float* from, i64 step, const WinogradPixels& to) {
  if (m == 2) winograd_output_of<2, 2>(from, step, to);
  else if (m == 4) winograd_output_of<4, 4>(from, step, to);
  else winograd_output_of<1, 4>(from, step, to);
}
