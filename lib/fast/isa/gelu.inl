// GELU where the result stays f32, for machines without AVX-512.

/// x · Φ(x), Φ the normal distribution: Φ - ½ as a quotient of polynomials in x², which beyond 5.3 has reached ½.
[[gnu::always_inline]] inline Vec gelu(Vec x) {
  const Vec limit = spread(5.3f), t = min(limit, max(-limit, x)), s = t * t;
  Vec p = spread(1.21102184e-10f);
  p = fma(p, s, spread(-2.25219363e-8f));
  p = fma(p, s, spread(3.03802972e-6f));
  p = fma(p, s, spread(1.48168343e-4f));
  p = fma(p, s, spread(0.00436489098f));
  p = fma(p, s, spread(0.0336965546f));
  p = fma(p, s, spread(0.398942202f));
  Vec q = spread(5.52784331e-5f);
  q = fma(q, s, spread(0.00170005381f));
  q = fma(q, s, spread(0.027798878f));
  q = fma(q, s, spread(0.251130015f));
  q = fma(q, s, spread(1.0f));
  const Vec y = fma(x, t * p * inverse(q), x * spread(0.5f));
  return x < -limit ? x * spread(0.0f) : y;
}
