// FakeQuantize.

/// `lanes`: whether a vector of limits belongs to 16 neighboring elements, or the first limit to all.
static void quantize(const QuantizeLimits& q, bool lanes, const float* x, float* y, i64 n) {
  const Vec steps = spread(q.steps);
  const i64 block = 16, pass = lanes ? block : kWidth;
  for (i64 first = 0; first < pass; first += kWidth) {
    const auto limit = [&](const float* p) { return lanes ? load(p + first) : spread(*p); };
    const Vec in_min = limit(q.in_min), in_max = limit(q.in_max), in_low = limit(q.in_low),
              in_range = limit(q.in_range), out_low = limit(q.out_low), out_range = limit(q.out_range),
              out_high = limit(q.out_high);
    const auto level = [=](Vec v) {
      const Vec r = round_even((v - in_low) / in_range * steps) / steps * out_range + out_low;
      return v <= in_min ? out_low : (v > in_max ? out_high : r);
    };
    i64 i = first;
    for (; i + kWidth <= n; i += pass) store(y + i, level(load(x + i)));
    if (!lanes && i < n) store_some(y + i, level(load_some(x + i, n - i)), n - i);
  }
}
