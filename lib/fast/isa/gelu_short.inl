// GELU where the result becomes bf16, for machines without AVX-512.

/// x·Φ(x) within 3.4e-5 · |x|: Φ - ½ as a quotient.
[[gnu::always_inline]] inline Vec gelu_short(Vec x) {
  const Vec limit = spread(4.2f), t = min(limit, max(-limit, x)), s = t * t;
  Vec p = spread(0.00269781f);
  p = fma(p, s, spread(0.03544798f));
  p = fma(p, s, spread(0.39884927f));
  Vec q = spread(4.34414835e-4f);
  q = fma(q, s, spread(0.0249956169f));
  q = fma(q, s, spread(0.254712329f));
  q = fma(q, s, spread(1.0f));
  const Vec y = fma(x, t * p / q, x * spread(0.5f));
  return x < -limit ? x * spread(0.0f) : y;
}
