// Elementary functions of vectors. Largest errors are measured by tests/unit/fast_math_test.cpp, and stand in
// lib/fast/README.md. Coefficients: minimax fits (Lawson's iteration) made for these ranges.

using Int = int __attribute__((vector_size(4 * kWidth)));

[[gnu::always_inline]] inline Vec number(Int bits) { return (Vec)bits; }
[[gnu::always_inline]] inline Int bits(Vec v) { return (Int)v; }
[[gnu::always_inline]] inline Vec magnitude(Vec x) { return number(bits(x) & 0x7fffffff); }
[[gnu::always_inline]] inline Vec minus_magnitude(Vec x) { return number(bits(x) | (Int{} + (-0x7fffffff - 1))); }
/// y with the sign of x; y is not negative.
[[gnu::always_inline]] inline Vec with_sign_of(Vec x, Vec y) {
  return number(bits(y) | (bits(x) & (Int{} + (-0x7fffffff - 1))));
}

/// exp(r) - 1 for what the nearest multiple, n, of log(2) leaves of x.
[[gnu::always_inline]] inline Vec expm1_of_rest(Vec x, Vec n) {
  Vec r = fma(n, spread(-0.693359375f), x);
  r = fma(n, spread(2.12194440e-4f), r);
  Vec p = spread(0.0013941113f);
  p = fma(p, r, spread(0.0083631752f));
  p = fma(p, r, spread(0.0416663736f));
  p = fma(p, r, spread(0.1666657626f));
  p = fma(p, r, spread(0.5f));
  return fma(p, r * r, r);
}
/// exp(x) for x <= 89, or NaN.
[[gnu::always_inline]] inline Vec exp_to_89(Vec x) {
  x = max(spread(-104.0f), x);
  const Vec n = near(x * spread(1.44269504f));
  return scaled(expm1_of_rest(x, n) + spread(1.0f), n);
}
/// exp(x) for |x| <= 87, or NaN. The power of two is a normal number, made by shifting where that is what takes less.
[[gnu::always_inline]] inline Vec exp_to_87(Vec x) {
  if constexpr (kWidth == 16) {
    const Vec n = near(x * spread(1.44269504f));
    return scaled(expm1_of_rest(x, n) + spread(1.0f), n);
  } else {
    const Vec shift = spread(12582912.0f), shifted = fma(x, spread(1.44269504f), shift);
    return (expm1_of_rest(x, shifted - shift) + spread(1.0f)) * number((bits(shifted) + 127) << 23);
  }
}
[[gnu::always_inline]] inline Vec exp(Vec x) { return exp_to_89(min(spread(89.0f), x)); }
/// The same, in less time where no lane is beyond 87.
[[gnu::always_inline]] inline Vec exp_of_any(Vec x) {
  return any(~(magnitude(x) <= spread(87.0f))) ? exp(x) : exp_to_87(x);
}
/// The same for x <= 87, and 0 where that is less than 2^-125.5: Intel's processors take 100 times as long for numbers
/// that are not normal, as those of masked scores would be.
[[gnu::always_inline]] inline Vec exp_or_zero(Vec x) {
  const Vec least = spread(-87.0f), e = exp_to_87(max(least, x));
  return x < least ? Vec{} : e;
}

/// exp(x) - 1 for x <= 0: of x = r + n · log(2), with p = 2^n, exactly (exp(r) - 1) · p + (p - 1).
[[gnu::always_inline]] inline Vec expm1_of_negative(Vec x) {
  x = max(spread(-30.0f), x);
  const Vec shift = spread(12582912.0f), shifted = fma(x, spread(1.44269504f), shift);
  const Vec p = number((bits(shifted) + 127) << 23);
  return fma(expm1_of_rest(x, shifted - shift), p, p - spread(1.0f));
}

/// log(1 + f) - f, plus `rest`, for 1 + f in [√½, √2).
[[gnu::always_inline]] inline Vec log_beyond(Vec f, Vec rest) {
  Vec p = spread(0.0733252913f);
  p = fma(p, f, spread(-0.1165992916f));
  p = fma(p, f, spread(0.1163466275f));
  p = fma(p, f, spread(-0.1239670068f));
  p = fma(p, f, spread(0.1425115615f));
  p = fma(p, f, spread(-0.1666915119f));
  p = fma(p, f, spread(0.2000068873f));
  p = fma(p, f, spread(-0.2499998063f));
  p = fma(p, f, spread(0.3333333135f));
  const Vec square = f * f;
  return fma(p, square * f, rest) - spread(0.5f) * square;
}

[[gnu::always_inline]] inline Vec log(Vec x) {
  const Vec tiny = spread(1.17549435e-38f), infinity = spread(__builtin_inff());
  // Numbers below the normal ones are scaled up first.
  const Vec scaled = magnitude(x < tiny ? x * spread(8388608.0f) : x);
  const Vec offset = x < tiny ? spread(-23.0f) : spread(0.0f);
  // scaled = m · 2^e with m in [√½, √2)
  const Int shifted = bits(scaled) - 0x3f3504f3;
  const Vec e = __builtin_convertvector(shifted >> 23, Vec) + offset;
  const Vec f = number((shifted & 0x7fffff) + 0x3f3504f3) - spread(1.0f);
  const Vec small = log_beyond(f, e * spread(-2.12194440e-4f));
  Vec y = fma(e, spread(0.693359375f), f + small);
  y = x == spread(0.0f) ? -infinity : y;
  y = x < spread(0.0f) ? spread(__builtin_nanf("")) : y;
  return x < infinity ? y : x;  // infinity and NaN
}

[[gnu::always_inline]] inline Vec tanh(Vec x) {
  const Vec a = magnitude(x), s = x * x;
  Vec p = spread(-0.0061132498f);
  p = fma(p, s, spread(0.0210101325f));
  p = fma(p, s, spread(-0.0538540855f));
  p = fma(p, s, spread(0.1333279461f));
  p = fma(p, s, spread(-0.3333332837f));
  const Vec small = fma(p, s * x, x);
  const Vec large = spread(1.0f) - spread(2.0f) / (exp_to_87(min(spread(30.0f), a + a)) + spread(1.0f));
  return a < spread(0.625f) ? small : with_sign_of(x, large);
}

[[gnu::always_inline]] inline Vec erf(Vec x) {
  const Vec a = magnitude(x), s = x * x;
  Vec p = spread(-5.97689534e-4f);
  p = fma(p, s, spread(0.0049909810f));
  p = fma(p, s, spread(-0.0267655682f));
  p = fma(p, s, spread(0.1128180251f));
  p = fma(p, s, spread(-0.3761249483f));
  p = fma(p, s, spread(0.1283791552f));
  const Vec small = fma(p, x, x);
  const Vec t = min(spread(4.0f), a);  // erf(4) rounds to 1
  Vec q = spread(1.1522274690e-5f);
  q = fma(q, t, spread(-3.2565257e-4f));
  q = fma(q, t, spread(0.0036537636f));
  q = fma(q, t, spread(-0.0237853453f));
  q = fma(q, t, spread(0.1062631458f));
  q = fma(q, t, spread(0.6351358891f));
  q = fma(q, t, spread(0.1286521554f));
  const Vec large = spread(1.0f) - exp_to_87(-fma(q, t, t));
  return a < spread(0.92f) ? small : with_sign_of(x, large);
}

/// By the exponential of -|x|, which stays finite.
[[gnu::always_inline]] inline Vec sigmoid(Vec x) {
  const Vec e = exp_to_89(minus_magnitude(x)), y = inverse(spread(1.0f) + e);
  return x < spread(0.0f) ? e * y : y;
}

/// x / (1 + 2^y), within 1.5e-7 · |x| where y is -log2(e) · z: x·sigmoid(z) in half of the time. From y = 125 on it
/// counts as 0 · x.
[[gnu::always_inline]] inline Vec over_one_plus_power(Vec x, Vec y) {
  y = max(spread(-126.0f), y);
  // The last bits of `shifted` are the nearest integer, which is added to the exponent of p.
  const Vec shift = spread(12582912.0f), shifted = y + shift, f = y - (shifted - shift);
  Vec p = spread(0.00132647273f);
  p = fma(p, f, spread(0.00967151299f));
  p = fma(p, f, spread(0.0555073358f));
  p = fma(p, f, spread(0.240222424f));
  p = fma(p, f, spread(0.693147004f));
  p = fma(p, f, spread(1.0f));
  // Of y beyond 125, which is none of its results, the sum may be beyond an int.
  using Word = unsigned __attribute__((vector_size(sizeof(Int))));
  const Int power = (Int)((Word)bits(p) + ((Word)bits(shifted) << 23));
  const Vec quotient = x * inverse(spread(1.0f) + number(power));
  return y > spread(125.0f) ? x - x : quotient;
}
/// x·sigmoid(x·a), for b = -log2(e) · a.
[[gnu::always_inline]] inline Vec swish(Vec x, Vec b) { return over_one_plus_power(x, x * b); }

[[gnu::always_inline]] inline Vec softplus(Vec x) {
  // 1 + e for e in (0, 1] is 1 + f, or, from √2 on, twice that.
  const Vec e = exp_to_89(minus_magnitude(x)), zero = spread(0.0f);
  const auto twice = e > spread(0.41421356f);
  const Vec f = twice ? (e - spread(1.0f)) * spread(0.5f) : e;
  const Vec small = f + log_beyond(f, twice ? spread(-2.12194440e-4f) : zero);
  return max(zero, x) + (small + (twice ? spread(0.693359375f) : zero));
}

[[gnu::always_inline]] inline Vec mish(Vec x) {
  const Vec e = exp(min(spread(20.0f), x)), n = e * (e + spread(2.0f));
  return x * (n / (n + spread(2.0f)));
}

[[gnu::always_inline]] inline Vec ceiling(Vec x) { return -floor(-x); }
/// Halves away from zero.
[[gnu::always_inline]] inline Vec round_away(Vec x) {
  const Vec a = magnitude(x), r = round_even(a);
  return with_sign_of(x, a - r == spread(0.5f) ? r + spread(1.0f) : r);
}

/// f of each lane, by the C library.
template <class F>
[[gnu::noinline]] Vec by_lanes(Vec x, F f) {
  float lanes[kWidth];
  store(lanes, x);
  for (float& lane : lanes) lane = f(lane);
  return load(lanes);
}
[[gnu::noinline]] static Vec mod_by_lanes(Vec a, Vec b) {
  float x[kWidth], y[kWidth];
  store(x, a);
  store(y, b);
  for (int i = 0; i < kWidth; ++i) x[i] = __builtin_fmodf(x[i], y[i]);
  return load(x);
}

/// The exact remainder of the truncated division, with the sign of a: of |a| and |b|, whose quotient, rounded to the
/// nearest integer, is one too large at most. What is left is a multiple of the last place of b, and exact in a fma.
[[gnu::always_inline]] inline Vec mod(Vec a, Vec b) {
  constexpr bool fused = kWidth > 4;
  const Vec x = magnitude(a), m = magnitude(b), q = x / m;
  if (!fused || any(~((q < spread(4194304.0f)) & (m < spread(__builtin_inff()))))) return mod_by_lanes(a, b);
  const Vec r = fma(-near(q), m, x);
  return with_sign_of(a, r < spread(0.0f) ? r + m : r);
}
/// The remainder of the floored division, with the sign of b.
[[gnu::always_inline]] inline Vec floor_mod(Vec a, Vec b) {
  const Vec r = mod(a, b);
  return (r != spread(0.0f)) & ((bits(r) ^ bits(b)) < 0) ? r + b : r;
}
