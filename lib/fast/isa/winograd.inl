// Winograd's transforms of tiles and of lines, on 16 channels at a time.
#include "fast/isa/winograd_lines.inl"

template <WinogradTile T>
static void winograd_input_of(const float* in, i64 row, i64 column, float* to, i64 step, i64 lanes) {
  constexpr int A = side_of(T).points;
  for (i64 lane = 0; lane < lanes; lane += kWidth) {
    Vec half[A][A];
#pragma GCC unroll 16
    for (int y = 0; y < A; ++y) {
      Vec d[A];
#pragma GCC unroll 16
      for (int x = 0; x < A; ++x) d[x] = load(in + y * row + x * column + lane);
      Winograd<T>::input(d, half[y]);
    }
#pragma GCC unroll 16
    for (int x = 0; x < A; ++x) {
      Vec d[A], o[A];
#pragma GCC unroll 16
      for (int y = 0; y < A; ++y) d[y] = half[y][x];
      Winograd<T>::input(d, o);
#pragma GCC unroll 16
      for (int y = 0; y < A; ++y) store(to + (y * A + x) * step + lane, o[y]);
    }
  }
}

template <WinogradTile T>
static void winograd_filter_of(const float* from, i64 from_step, float* to, i64 step) {
  constexpr int R = side_of(T).taps, A = side_of(T).points;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec half[A][R];
#pragma GCC unroll 16
    for (int x = 0; x < R; ++x) {
      Vec d[R], o[A];
#pragma GCC unroll 16
      for (int y = 0; y < R; ++y) d[y] = load(from + (y * R + x) * from_step + lane);
      Winograd<T>::filter(d, o);
#pragma GCC unroll 16
      for (int y = 0; y < A; ++y) half[y][x] = o[y];
    }
#pragma GCC unroll 16
    for (int y = 0; y < A; ++y) {
      Vec o[A];
      Winograd<T>::filter(half[y], o);
#pragma GCC unroll 16
      for (int x = 0; x < A; ++x) store(to + (y * A + x) * step + lane, o[x]);
    }
  }
}

template <WinogradTile T>
static void winograd_output_of(const float* from, i64 step, const WinogradPixels& to) {
  constexpr int M = side_of(T).pixels, A = side_of(T).points;
  const Vec low = spread(to.low), high = spread(to.high);
  i64 lane = 0;
  for (; lane < to.lanes; lane += kWidth) {
    const Vec bias = to.bias ? load(to.bias + lane) : Vec{};
    Vec half[M][A], result[M][M];
#pragma GCC unroll 16
    for (int x = 0; x < A; ++x) {
      Vec d[A], o[M];
#pragma GCC unroll 16
      for (int y = 0; y < A; ++y) d[y] = load(from + (y * A + x) * step + lane);
      Winograd<T>::output(d, o);
#pragma GCC unroll 16
      for (int y = 0; y < M; ++y) half[y][x] = o[y];
    }
#pragma GCC unroll 16
    for (int y = 0; y < M; ++y) Winograd<T>::output(half[y], result[y]);
    const auto put = [&](int y, int x, int first_row, int first_column) __attribute__((always_inline)) {
      const i64 place = (y - first_row) * to.row + (x - first_column) * to.column + lane;
      Vec v = result[y][x] + bias;
      if (to.residual) v = v + load(to.residual + place);
      store(to.out + place, min(high, max(low, v)));
    };
    if (to.rows == M && to.columns == M && to.first_row == 0 && to.first_column == 0) {
#pragma GCC unroll 16
      for (int y = 0; y < M; ++y)
#pragma GCC unroll 16
        for (int x = 0; x < M; ++x) put(y, x, 0, 0);
    } else {
      for (int y = to.first_row; y < to.rows; ++y)
        for (int x = to.first_column; x < to.columns; ++x) put(y, x, to.first_row, to.first_column);
    }
  }
  for (; lane < kBlock; lane += kWidth)
    for (int y = to.first_row; y < to.rows; ++y)
      for (int x = to.first_column; x < to.columns; ++x)
        store(to.out + (y - to.first_row) * to.row + (x - to.first_column) * to.column + lane, Vec{});
}

static void winograd_input(WinogradTile tile, const float* in, i64 row, i64 column, float* to, i64 step, i64 lanes) {
  using enum WinogradTile;
  if (side_of(tile).points == side_of(four).points) winograd_input_of<four>(in, row, column, to, step, lanes);
  else if (tile == strided) winograd_input_of<strided>(in, row, column, to, step, lanes);
  else winograd_input_of<two>(in, row, column, to, step, lanes);  // that of two_taps, too
}

static void winograd_filter(WinogradTile tile, const float* from, i64 from_step, float* to, i64 step) {
  using enum WinogradTile;
  if (tile == two) winograd_filter_of<two>(from, from_step, to, step);
  else if (tile == four) winograd_filter_of<four>(from, from_step, to, step);
  else if (tile == four_taps) winograd_filter_of<four_taps>(from, from_step, to, step);
  else if (tile == five_taps) winograd_filter_of<five_taps>(from, from_step, to, step);
  else if (tile == strided) winograd_filter_of<strided>(from, from_step, to, step);
  else winograd_filter_of<two_taps>(from, from_step, to, step);
}

static void winograd_output(WinogradTile tile, const float* from, i64 step, const WinogradPixels& to) {
  using enum WinogradTile;
  if (tile == two) winograd_output_of<two>(from, step, to);
  else if (tile == four) winograd_output_of<four>(from, step, to);
  else if (tile == four_taps) winograd_output_of<four_taps>(from, step, to);
  else if (tile == five_taps) winograd_output_of<five_taps>(from, step, to);
  else if (tile == strided) winograd_output_of<strided>(from, step, to);
  else winograd_output_of<two_taps>(from, step, to);
}

template <WinogradTile T>
static void line_input_of(const float* const* pixels, i64 count, i64 apart, float* to, i64 step) {
  constexpr int A = side_of(T).points;
  for (i64 line = 0; line < count; ++line)
    for (i64 lane = 0; lane < kBlock; lane += kWidth) {
      Vec d[A], o[A];
#pragma GCC unroll 16
      for (int s = 0; s < A; ++s) d[s] = pixels[s] ? load(pixels[s] + line * apart + lane) : Vec{};
      Winograd<T>::input(d, o);
#pragma GCC unroll 16
      for (int s = 0; s < A; ++s) store(to + s * step + line * kBlock + lane, o[s]);
    }
}

template <WinogradTile T>
static void line_filter_of(const float* from, i64 from_step, float* to, i64 step) {
  constexpr int R = side_of(T).taps, A = side_of(T).points;
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    Vec d[R], o[A];
#pragma GCC unroll 16
    for (int s = 0; s < R; ++s) d[s] = load(from + s * from_step + lane);
    Winograd<T>::filter(d, o);
#pragma GCC unroll 16
    for (int s = 0; s < A; ++s) store(to + s * step + lane, o[s]);
  }
}

template <WinogradTile T>
static void line_output_of(const float* from, i64 step, const WinogradPixels& to) {
  constexpr int M = side_of(T).pixels, A = side_of(T).points;
  const Vec low = spread(to.low), high = spread(to.high);
  for (i64 lane = 0; lane < kBlock; lane += kWidth) {
    const Vec bias = to.bias ? load(to.bias + lane) : Vec{};
    for (i64 line = 0; line < to.columns; ++line) {
      Vec d[A], o[M];
#pragma GCC unroll 16
      for (int s = 0; s < A; ++s) d[s] = load(from + s * step + line * kBlock + lane);
      Winograd<T>::output(d, o);
      const auto put = [&](int s) __attribute__((always_inline)) {
        const i64 place = s * to.row + line * to.column + lane;
        Vec v = o[s] + bias;
        if (to.residual) v = v + load(to.residual + place);
        store(to.out + place, min(high, max(low, v)));
      };
      if (to.rows == M) {
#pragma GCC unroll 16
        for (int s = 0; s < M; ++s) put(s);
      } else {
        for (int s = 0; s < to.rows; ++s) put(s);
      }
    }
  }
}

static void line_input(WinogradTile tile, const float* const* pixels, i64 count, i64 apart, float* to, i64 step) {
  using enum WinogradTile;
  tile == line ? line_input_of<line>(pixels, count, apart, to, step)
               : line_input_of<strided_line>(pixels, count, apart, to, step);
}

static void line_filter(WinogradTile tile, const float* from, i64 from_step, float* to, i64 step) {
  using enum WinogradTile;
  tile == line ? line_filter_of<line>(from, from_step, to, step)
               : line_filter_of<strided_line>(from, from_step, to, step);
}

static void line_output(WinogradTile tile, const float* from, i64 step, const WinogradPixels& to) {
  using enum WinogradTile;
  tile == line ? line_output_of<line>(from, step, to) : line_output_of<strided_line>(from, step, to);
}
