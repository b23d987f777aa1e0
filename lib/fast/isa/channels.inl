// Pixels normalized over their channels. Uses rows.inl.

constexpr i64 kSummedChannels = 64;  // sums of more are taken in parts, which rounds less

/// sums[p] = the sum of a vector of neighboring pixels over their channels by add(sum, what is read, p), for `count`
/// of them.
template <i64 count, class Read, class Add>
static inline __attribute__((always_inline)) void sum_channels(i64 channels, Read read, Add add, Vec (&sums)[count]) {
  for (int p = 0; p < count; ++p) sums[p] = Vec{};
  for (i64 c = 0; c < channels;) {
    const i64 end = c + kSummedChannels < channels ? c + kSummedChannels : channels;
    Vec part[count] = {};
    for (; c < end; ++c)
      for (int p = 0; p < count; ++p) part[p] = add(part[p], read(c, p), p);
    for (int p = 0; p < count; ++p) sums[p] = sums[p] + part[p];
  }
}

/// read(channel, p) and write(channel, p, value) are of vector p of `count`.
template <i64 count, class Read, class Write>
static inline __attribute__((always_inline)) void normalize_column(const NormalizedChannels& n, Read read,
                                                                   Write write) {
  const Vec all = spread(static_cast<float>(n.channels));
  Vec mean[count], scale[count];
  sum_channels<count>(
      n.channels, read, [](Vec sum, Vec v, int) { return sum + v; }, mean);
  for (int p = 0; p < count; ++p) mean[p] = mean[p] / all;
  const auto add = [&](Vec sum, Vec v, int p) {
    const Vec d = v - mean[p];
    return fma(d, d, sum);
  };
  sum_channels<count>(n.channels, read, add, scale);
  for (int p = 0; p < count; ++p) scale[p] = spread(1) / root(scale[p] / all + spread(n.epsilon));
  for (i64 c = 0; c < n.channels; ++c) {
    const Vec weight = spread(n.weight[c]), bias = spread(n.bias[c]);
    for (int p = 0; p < count; ++p) write(c, p, fma((read(c, p) - mean[p]) * scale[p], weight, bias));
  }
}

static void normalize_columns(const NormalizedChannels& n, const float* x, float* y, i64 pixels) {
  constexpr i64 kTogether = 2;
  i64 at = 0;
  for (; at + kTogether * kWidth <= pixels; at += kTogether * kWidth)
    normalize_column<kTogether>(
        n, [&](i64 c, int p) { return load(x + c * n.step + at + p * kWidth); },
        [&](i64 c, int p, Vec v) { store(y + c * n.step + at + p * kWidth, v); });
  for (; at < pixels; at += kWidth) {
    const i64 lanes = pixels - at < kWidth ? pixels - at : kWidth;
    normalize_column<1>(
        n,
        [&](i64 c, int) { return lanes == kWidth ? load(x + c * n.step + at) : load_some(x + c * n.step + at, lanes); },
        [&](i64 c, int, Vec v) { store_some(y + c * n.step + at, v, lanes); });
  }
}

/// Of `count` neighboring pixels of a block.
template <i64 count>
static void normalize_pixels(const NormalizedChannels& n, const float* x, float* y) {
  constexpr i64 kLanes = 16;
  const i64 blocks = n.channels / kLanes;
  const float all = static_cast<float>(n.channels);
  const auto sum = [&](auto add, float(&to)[count]) __attribute__((always_inline)) {
    Vec sums[count] = {};
    for (i64 b = 0; b < blocks; ++b)
      for (int p = 0; p < count; ++p)
        for (i64 lane = 0; lane < kLanes; lane += kWidth)
          sums[p] = add(sums[p], load(x + b * n.step + p * kLanes + lane), p);
    for (int p = 0; p < count; ++p) to[p] = add_lanes(sums[p]);
  };
  float mean[count], scale[count];
  sum([](Vec s, Vec v, int) { return s + v; }, mean);
  for (auto& m : mean) m /= all;
  const auto add = [&](Vec s, Vec v, int p) {
    const Vec d = v - spread(mean[p]);
    return fma(d, d, s);
  };
  sum(add, scale);
  for (auto& s : scale) s = 1 / __builtin_sqrtf(s / all + n.epsilon);
  for (i64 b = 0; b < blocks; ++b)
    for (i64 lane = 0; lane < kLanes; lane += kWidth) {
      const Vec weight = load(n.weight + b * kLanes + lane), bias = load(n.bias + b * kLanes + lane);
      for (int p = 0; p < count; ++p) {
        const i64 at = b * n.step + p * kLanes + lane;
        store(y + at, fma((load(x + at) - spread(mean[p])) * spread(scale[p]), weight, bias));
      }
    }
}

static void normalize_block_pixels(const NormalizedChannels& n, const float* x, float* y, i64 pixels) {
  constexpr i64 kTogether = 4, kLanes = 16;
  i64 p = 0;
  for (; p + kTogether <= pixels; p += kTogether) normalize_pixels<kTogether>(n, x + p * kLanes, y + p * kLanes);
  for (; p < pixels; ++p) normalize_pixels<1>(n, x + p * kLanes, y + p * kLanes);
}
