// Winograd's transforms for 3×3 filters, for 2×2 filters (tiles of 3), and for lines of 3 taps, stride 1, on 16
// channels at a time.
#include "fast/isa/winograd_lines.inl"

/// Taps of a side of a filter whose tiles have a side of M pixels.
template <int M>
constexpr int kWinogradTaps = M == 3 ? 2 : 3;

template <int M>
static void winograd_input_of(const float* in, i64 row, i64 column, float* to, i64 step) {
  constexpr int A = M + 2;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][A];
#pragma GCC unroll 8
    for (int y = 0; y < A; ++y) {
      Vec d[A];
#pragma GCC unroll 8
      for (int x = 0; x < A; ++x) d[x] = load(in + y * row + x * column + lane);
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
  constexpr int R = kWinogradTaps<M>, A = M + R - 1;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][R];
#pragma GCC unroll 8
    for (int x = 0; x < R; ++x) {
      Vec d[R], o[A];
#pragma GCC unroll 8
      for (int y = 0; y < R; ++y) d[y] = load(from + (y * R + x) * from_step + lane);
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
  constexpr int A = M + kWinogradTaps<M> - 1;
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
    const auto put = [&](int y, int x, int first_row, int first_column) __attribute__((always_inline)) {
      const i64 place = (y - first_row) * to.row + (x - first_column) * to.column + lane;
      Vec v = result[y][x] + bias;
      if (to.residual) v = v + load(to.residual + place);
      store(to.out + place, min(high, max(low, v)));
    };
    if (to.rows == M && to.columns == M && to.first_row == 0 && to.first_column == 0) {
#pragma GCC unroll 8
      for (int y = 0; y < M; ++y)
#pragma GCC unroll 8
        for (int x = 0; x < M; ++x) put(y, x, 0, 0);
    } else {
      for (int y = to.first_row; y < to.rows; ++y)
        for (int x = to.first_column; x < to.columns; ++x) put(y, x, to.first_row, to.first_column);
    }
  }
}

static void winograd_input(int m, const float* in, i64 row, i64 column, float* to, i64 step) {
  m == 4 ? winograd_input_of<4>(in, row, column, to, step) : winograd_input_of<2>(in, row, column, to, step);
}

static void winograd_filter(int m, const float* from, i64 from_step, float* to, i64 step) {
  if (m == 2) winograd_filter_of<2>(from, from_step, to, step);
  else if (m == 3) winograd_filter_of<3>(from, from_step, to, step);
  else winograd_filter_of<4>(from, from_step, to, step);
}

static void winograd_output(int m, const float* from, i64 step, const WinogradPixels& to) {
  if (m == 2) winograd_output_of<2>(from, step, to);
  else if (m == 3) winograd_output_of<3>(from, step, to);
  else winograd_output_of<4>(from, step, to);
}

static void line_input(const float* const* taps, i64 pixels, float* to, i64 step) {
  for (i64 i = 0; i < pixels * kBlock; i += kWidth) {
    Vec d[6], o[6];
#pragma GCC unroll 8
    for (int s = 0; s < 6; ++s) d[s] = taps[s] ? load(taps[s] + i) : Vec{};
    Winograd<4>::input(d, o);
#pragma GCC unroll 8
    for (int s = 0; s < 6; ++s) store(to + s * step + i, o[s]);
  }
}

static void line_filter(const float* from, i64 from_step, float* to, i64 step) {
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec d[3], o[6];
#pragma GCC unroll 8
    for (int s = 0; s < 3; ++s) d[s] = load(from + s * from_step + lane);
    Winograd<4>::filter(d, o);
#pragma GCC unroll 8
    for (int s = 0; s < 6; ++s) store(to + s * step + lane, o[s]);
  }
}

static void line_output(const float* from, i64 step, const WinogradPixels& to) {
  const Vec low = spread(to.low), high = spread(to.high);
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    const Vec bias = to.bias ? load(to.bias + lane) : Vec{};
    for (i64 i = lane; i < to.columns * kBlock; i += kBlock) {
      Vec d[6], o[4];
#pragma GCC unroll 8
      for (int s = 0; s < 6; ++s) d[s] = load(from + s * step + i);
      Winograd<4>::output(d, o);
      const auto put = [&](int s) __attribute__((always_inline)) {
        Vec v = o[s] + bias;
        if (to.residual) v = v + load(to.residual + s * to.row + i);
        store(to.out + s * to.row + i, min(high, max(low, v)));
      };
      if (to.rows == 4) {
#pragma GCC unroll 4
        for (int s = 0; s < 4; ++s) put(s);
      } else {
        for (int s = 0; s < to.rows; ++s) put(s);
      }
    }
  }
}
