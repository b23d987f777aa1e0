// Depthwise convolution of 3 × 3 taps column by column of the input: each is read once, for all pixels that want it.

/// Calls sum(x, left, middle, right) for all pixels of a row of 3 × 3 taps, which are kStep pixels apart, with the
/// columns that read(x, column) gives; each is read once.
template <int kStep, class Column, class Read, class Sum>
static inline __attribute__((always_inline)) void columns(i64 pixels, Read read, Sum sum) {
  Column a{}, b{}, c{};
  const auto next = [&](i64 x, const Column& left, Column& middle, Column& right) __attribute__((always_inline)) {
    if (kStep == 2) read(2 * x + 1, middle);
    read(kStep * x + 2, right);
    sum(x, left, middle, right);
  };
  read(0, a);
  if (kStep == 1) read(1, b);
  i64 x = 0;
  if constexpr (kStep == 1) {
    for (; x + 3 <= pixels; x += 3) {
      next(x, a, b, c);
      next(x + 1, b, c, a);
      next(x + 2, c, a, b);
    }
    if (x < pixels) next(x, a, b, c);
    if (x + 1 < pixels) next(x + 1, b, c, a);
  } else {
    for (; x + 2 <= pixels; x += 2) {
      next(x, a, b, c);
      next(x + 1, c, b, a);
    }
    if (x < pixels) next(x, a, b, c);
  }
}

/// The pixels between those of a row, 1 or 2, where taps are 3 × 3 neighbors; else 0.
template <class Rows>
static i64 step_of_columns(const Rows& r) {
  if (r.tap_count != 9 || r.pixels == 0) return 0;
  for (i64 t = 0; t < 9; ++t)
    if (r.taps[t] != r.taps[t / 3 * 3] + t % 3 * kBlock) return 0;
  return r.step == kBlock || r.step == 2 * kBlock ? r.step / kBlock : 0;
}
