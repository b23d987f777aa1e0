// Chains of elementwise operations on bf16, in registers. Included by narrow.inl.

template <int P>
static inline __attribute__((always_inline)) void bf16_elements_block(const std::uint16_t* x, std::uint16_t* y, i64 at,
                                                                      const Bf16ElementStep* steps, int count) {
  constexpr int kEach = 2 * kBlock / kWidth, kCount = P * kEach;
  Vec v[kCount];
#pragma GCC unroll 8
  for (int j = 0; j < kCount; ++j) v[j] = load_bf16(x + at + j * kWidth);
  for (int i = 0; i < count; ++i) {
    const auto& step = steps[i];
    const auto each = [&](auto f) __attribute__((always_inline)) {
      if (step.full) {
#pragma GCC unroll 8
        for (int j = 0; j < kCount; ++j) v[j] = f(v[j], load_bf16(step.full + at + j * kWidth));
        return;
      }
      Vec other[kEach];
#pragma GCC unroll 8
      for (int j = 0; j < kEach; ++j) other[j] = load(step.lanes + j * kWidth);
#pragma GCC unroll 8
      for (int j = 0; j < kCount; ++j) v[j] = f(v[j], other[j % kEach]);
    };
    switch (step.element) {
      case Bf16Element::add: each([](Vec a, Vec b) { return a + b; }); break;
      case Bf16Element::subtract: each([](Vec a, Vec b) { return a - b; }); break;
      case Bf16Element::multiply: each([](Vec a, Vec b) { return a * b; }); break;
      case Bf16Element::clamp: {
        const Vec low = spread(step.low), high = spread(step.high);
#pragma GCC unroll 8
        for (int j = 0; j < kCount; ++j) v[j] = min(high, max(low, v[j]));
        break;
      }
      case Bf16Element::hswish:
#pragma GCC unroll 8
        for (int j = 0; j < kCount; ++j) v[j] = hswish(v[j]);
        break;
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < kCount; j += 2) store_bf16(y + at + j * kWidth, v[j], v[j + 1]);
}

static void bf16_elements(const std::uint16_t* x, std::uint16_t* y, i64 pixels, const Bf16ElementStep* steps,
                          int count) {
  constexpr i64 kPixelsAtOnce = kWidth == kBlock ? 4 : 1;
  i64 p = 0;
  for (; p + kPixelsAtOnce <= pixels; p += kPixelsAtOnce)
    bf16_elements_block<kPixelsAtOnce>(x, y, p * 2 * kBlock, steps, count);
  for (; p < pixels; ++p) bf16_elements_block<1>(x, y, p * 2 * kBlock, steps, count);
}
