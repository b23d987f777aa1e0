// Rotary embedding: pairs of numbers turned by an angle each. Products and sums are rounded one by one.

/// Numbers i and i + n / 2 are a pair.
static void turn_halves(const float* x, const float* cosine, const float* sine, float* y, i64 n) {
  const i64 half = n / 2;
  const auto pass = [=](i64 i, auto get, auto put) {
    const Vec a = get(x + i), b = get(x + half + i);
    put(y + i, a * get(cosine + i) - b * get(sine + i));
    put(y + half + i, b * get(cosine + half + i) + a * get(sine + half + i));
  };
  i64 i = 0;
  for (; i + kWidth <= half; i += kWidth)
    pass(
        i, [](const float* p) { return load(p); }, [](float* p, Vec v) { store(p, v); });
  if (const i64 rest = half - i; rest > 0)
    pass(
        i, [=](const float* p) { return load_some(p, rest); }, [=](float* p, Vec v) { store_some(p, v, rest); });
}

/// Neighbors are a pair.
static void turn_neighbors(const float* x, const float* cosine, const float* sine, float* y, i64 n) {
  int __attribute__((vector_size(sizeof(Vec)))) other = {};
  Vec sign = {};
  for (int lane = 0; lane < kWidth; ++lane) {
    other[lane] = lane ^ 1;
    sign[lane] = lane % 2 ? 1.0f : -1.0f;
  }
  const auto turned = [=](Vec v, Vec c, Vec s) { return v * c + __builtin_shuffle(v, other) * sign * s; };
  i64 i = 0;
  for (; i + kWidth <= n; i += kWidth) store(y + i, turned(load(x + i), load(cosine + i), load(sine + i)));
  if (const i64 rest = n - i; rest > 0)
    store_some(y + i, turned(load_some(x + i, rest), load_some(cosine + i, rest), load_some(sine + i, rest)), rest);
}
