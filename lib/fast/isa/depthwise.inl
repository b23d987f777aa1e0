// Depthwise convolutions on 16 channels.

// A depthwise row: a few pixels' sums in registers, each tap's weights loaded once for all of them.
template <int P>
static inline __attribute__((always_inline)) void depthwise_block(const DepthwiseRow& r, i64 x) {
  constexpr int kParts = kBlock / kWidth;
  const Vec low = spread(r.low), high = spread(r.high);
  for (int part = 0; part < kParts; ++part) {
    Vec sum[P];
    const Vec bias = r.bias ? load(r.bias + part * kWidth) : Vec{};
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) sum[p] = bias;
    for (i64 tap = 0; tap < r.tap_count; ++tap) {
      const Vec w = load(r.weights + r.tap_weights[tap] + part * kWidth);
      const float* in = r.in + r.taps[tap] + x * r.step + part * kWidth;
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) sum[p] = fma(load(in + p * r.step), w, sum[p]);
    }
    const i64 place = x * kBlock + part * kWidth;
    if (r.residual) {
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) sum[p] = sum[p] + load(r.residual + place + p * kBlock);
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) store(r.out + place + p * kBlock, min(high, max(low, sum[p])));
  }
}

static void depthwise(const DepthwiseRow& r) {
  i64 x = 0;
  for (; x + 8 <= r.pixels; x += 8) depthwise_block<8>(r, x);
  for (; x + 4 <= r.pixels; x += 4) depthwise_block<4>(r, x);
  for (; x < r.pixels; ++x) depthwise_block<1>(r, x);
}

// Rows of a kernel whose columns lie side by side: each pixel that is read is used for all the outputs that it reaches.

/// Column c of what a row reads.
static inline const float* depthwise_pixel(const DepthwiseBand& b, const float* in, i64 c) {
  alignas(64) static constexpr float kZeros[kBlock] = {};
  return static_cast<unsigned long>(c) < static_cast<unsigned long>(b.width) ? in + c * kBlock : kZeros;
}

/// Columns that P outputs read.
template <int K, int S, int P>
constexpr int kReads = (P - 1) * S + K;

/// Adds a row of the kernel to the sums of P outputs, the first of which reads from column `first` on. `kInside`: none
/// lies beside the plane.
template <int K, int S, int P, bool kInside>
static inline __attribute__((always_inline)) void depthwise_add(const DepthwiseBand& b, const float* in, i64 first,
                                                                i64 row, i64 part, Vec (&sum)[P]) {
  Vec w[K];
#pragma GCC unroll 8
  for (int j = 0; j < K; ++j) w[j] = load(b.weights + (row * K + j) * kBlock + part);
#pragma GCC unroll 32
  for (int c = 0; c < kReads<K, S, P>; ++c) {
    const float* pixel = kInside ? in + (first + c) * kBlock : depthwise_pixel(b, in, first + c);
    const Vec v = load(pixel + part);
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j)
      if ((c - j) % S == 0 && c >= j && (c - j) / S < P) sum[(c - j) / S] = fma(v, w[j], sum[(c - j) / S]);
  }
}

/// The same of groups: as depthwise for the first channel of each, brought into the lanes of all its outputs, the
/// second, and so on. A group that fills a vector has the same channel in all lanes.
template <int K, int S, int P, bool kInside>
static inline __attribute__((always_inline)) void grouped_add(const DepthwiseBand& b, const float* in, i64 first,
                                                              i64 row, i64 part, Vec (&sum)[P]) {
  const float* pixels[kReads<K, S, P>];
  if constexpr (!kInside) {
#pragma GCC unroll 32
    for (int c = 0; c < kReads<K, S, P>; ++c) pixels[c] = depthwise_pixel(b, in, first + c);
  }
  const auto pixel = [&](int c) { return kInside ? in + (first + c) * kBlock : pixels[c]; };
  const auto add = [&](i64 i, auto channel) {
    const float* weights = b.weights + i * b.channel_weights + row * K * kBlock + part;
    Vec w[K];
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) w[j] = load(weights + j * kBlock);
#pragma GCC unroll 32
    for (int c = 0; c < kReads<K, S, P>; ++c) {
      const Vec v = channel(pixel(c));
#pragma GCC unroll 8
      for (int j = 0; j < K; ++j)
        if ((c - j) % S == 0 && c >= j && (c - j) / S < P) sum[(c - j) / S] = fma(v, w[j], sum[(c - j) / S]);
    }
  };
  if (b.group == kWidth) {
    for (i64 i = 0; i < kWidth; ++i) add(i, [&](const float* p) { return spread(p[part + i]); });
    return;
  }
  Ints lane{};
#pragma GCC unroll 16
  for (int l = 0; l < kWidth; ++l) lane[l] = l;
  const Ints group = lane & -static_cast<int>(b.group);
  for (i64 i = 0; i < b.group; ++i) {
    const Ints at = group + static_cast<int>(i & (kWidth - 1));
    const i64 from = (part & -b.group) + (i & -kWidth);
    add(i, [&](const float* p) { return in_groups(p + from, at); });
  }
}

template <int K, int S, int P, bool kGroups, bool kInside>
static inline __attribute__((always_inline)) void depthwise_outputs(const DepthwiseBand& b, i64 line, i64 x) {
  const Vec low = spread(b.low), high = spread(b.high);
  const i64 first = b.first + x * S;
  for (i64 part = 0; part < kBlock; part += kWidth) {
    Vec sum[P];
    const Vec bias = b.bias ? load(b.bias + part) : Vec{};
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) sum[p] = bias;
    for (i64 row = 0; row < b.rows; ++row) {
      const float* in = b.in + line * b.in_line + row * b.row;
      if (b.end && in >= b.end) in -= b.ring;
      if constexpr (kGroups) grouped_add<K, S, P, kInside>(b, in, first, row, part, sum);
      else depthwise_add<K, S, P, kInside>(b, in, first, row, part, sum);
    }
    const i64 place = line * b.out_line + x * kBlock + part;
    if (b.residual) {
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) sum[p] = sum[p] + load(b.residual + place + p * kBlock);
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) store(b.out + place + p * kBlock, min(high, max(low, sum[p])));
  }
}

template <int K, int S, bool kGroups, int P>
static void depthwise_columns(const DepthwiseBand& b, i64 x) {
  if constexpr (P >= 7) {
    // Most parts of wide planes: to ask of each pixel whether it lies beside takes longer than to load it.
    if (const i64 first = b.first + x * S; first >= 0 && first + kReads<K, S, P> <= b.width) {
      for (i64 line = 0; line < b.lines; ++line) depthwise_outputs<K, S, P, kGroups, true>(b, line, x);
      return;
    }
  }
  for (i64 line = 0; line < b.lines; ++line) depthwise_outputs<K, S, P, kGroups, false>(b, line, x);
}

template <int K, int S, bool kGroups, int P>
static void depthwise_part(const DepthwiseBand& b, i64 x, i64 pixels) {
  if constexpr (P > 0) {
    if (pixels == P) return depthwise_columns<K, S, kGroups, P>(b, x);
    depthwise_part<K, S, kGroups, P - 1>(b, x, pixels);
  }
}

/// Columns of outputs in parts of at most eight that differ by one.
template <int K, int S, bool kGroups>
static void depthwise_band_of(const DepthwiseBand& b) {
  const i64 parts = (b.pixels + 7) / 8;
  for (i64 i = 0, x = 0; i < parts; ++i) {
    const i64 n = b.pixels / parts + (i < b.pixels % parts);
    depthwise_part<K, S, kGroups, 8>(b, x, n);
    x += n;
  }
}

template <bool kGroups>
static void depthwise_band_3_5(const DepthwiseBand& b) {
  if (b.columns == 3) b.stride == 1 ? depthwise_band_of<3, 1, kGroups>(b) : depthwise_band_of<3, 2, kGroups>(b);
  else b.stride == 1 ? depthwise_band_of<5, 1, kGroups>(b) : depthwise_band_of<5, 2, kGroups>(b);
}

static void depthwise_band(const DepthwiseBand& b) {
  if (b.columns == 7) depthwise_band_of<7, 1, false>(b);
  else b.group > 1 ? depthwise_band_3_5<true>(b) : depthwise_band_3_5<false>(b);
}
