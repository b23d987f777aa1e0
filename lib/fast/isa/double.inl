// Functions whose steps are computed in double precision, half a vector of floats at a time: within 0.51 ulp of the
// exact result. Coefficients: Chebyshev fits made for these ranges, of errors below 2^-38.

using HalfVec = float __attribute__((vector_size(2 * kWidth)));
using Doubles = double __attribute__((vector_size(4 * kWidth)));
using Longs = i64 __attribute__((vector_size(4 * kWidth)));

/// Added to |x| < 2^51 it rounds to the nearest integer, which is then in the last bits.
static constexpr double kShift = 0x1.8p52;

[[gnu::always_inline]] inline Doubles doubles(double x) { return Doubles{} + x; }
[[gnu::always_inline]] inline Longs bits(Doubles x) { return (Longs)x; }
[[gnu::always_inline]] inline Doubles number(Longs bits) { return (Doubles)bits; }
[[gnu::always_inline]] inline Longs sign_bit() { return Longs{} + (-0x7fffffffffffffff - 1); }
[[gnu::always_inline]] inline Doubles magnitude(Doubles x) { return number(bits(x) & ~sign_bit()); }
[[gnu::always_inline]] inline Doubles with_sign_of(Doubles x, Doubles y) {
  return number(bits(y) | (bits(x) & sign_bit()));
}

/// f(x) of lanes that are widened, and rounded once.
template <class F>
[[gnu::always_inline]] inline Vec in_doubles(F f, Vec x, Vec y) {
  Vec result;
  for (int half = 0; half < 2; ++half) {
    HalfVec a, b;
    __builtin_memcpy(&a, reinterpret_cast<const HalfVec*>(&x) + half, sizeof a);
    __builtin_memcpy(&b, reinterpret_cast<const HalfVec*>(&y) + half, sizeof b);
    a = __builtin_convertvector(f(__builtin_convertvector(a, Doubles), __builtin_convertvector(b, Doubles)), HalfVec);
    __builtin_memcpy(reinterpret_cast<HalfVec*>(&result) + half, &a, sizeof a);
  }
  return result;
}

template <class F>
[[gnu::always_inline]] inline Vec in_doubles(F f, Vec x) {
  return in_doubles([f](Doubles v, Doubles) { return f(v); }, x, x);
}

template <int N>
[[gnu::always_inline]] inline Doubles polynomial(Doubles x, const double (&coefficients)[N]) {
  Doubles p = doubles(coefficients[0]);
  for (int i = 1; i < N; ++i) p = fma(p, x, doubles(coefficients[i]));
  return p;
}

/// exp(x) for |x| < 700, or NaN.
[[gnu::always_inline]] inline Doubles exp_near(Doubles x) {
  constexpr double kTerms[] = {2.7617576848354133e-6, 2.4867883453521804e-5, 1.9841224581544105e-4,
                               0.0013888839090641379, 0.0083333333442095066, 0.041666666786337555,
                               0.16666666666662583,   0.49999999999955071};
  const Doubles shifted = fma(x, doubles(1.4426950408889634), doubles(kShift));
  const Doubles r = fma(shifted - kShift, doubles(-0.69314718055994531), x);
  const Doubles p = 1 + fma(r * r, polynomial(r, kTerms), r);
  return p * number((bits(shifted) + 1023) << 52);
}

/// Of finite numbers above 0.
[[gnu::always_inline]] inline Doubles log_of_positive(Doubles x) {
  constexpr double kTerms[] = {0.19362653714202008, 0.22191400830308504, 0.28571754535914489, 0.39999998797337586,
                               0.6666666666737509};
  // x = m · 2^e with m in [√½, √2); e + 1023 is the exponent of a number that is not negative.
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000, kWhole = 0x4330000000000000;
  using Unsigned = std::uint64_t __attribute__((vector_size(4 * kWidth)));  // lanes of other numbers wrap
  const Unsigned from_root = (Unsigned)bits(x) - kRootHalf;
  const Doubles e = number((Longs)((from_root + kOne) >> 52 | kWhole)) - (0x1p52 + 1023);
  const Doubles m = number((Longs)((from_root & 0xfffffffffffff) + kRootHalf)), s = (m - 1) / (m + 1), u = s * s;
  return fma(e, doubles(0.69314718055994531), fma(s * u, polynomial(u, kTerms), 2 * s));
}
[[gnu::always_inline]] inline Doubles natural_log(Doubles x) {
  const Doubles none = x == 0.0 ? doubles(-__builtin_inf()) : doubles(__builtin_nan(""));
  return x > 0.0 ? (x < __builtin_inf() ? log_of_positive(x) : x) : none;
}

/// Of numbers that are not negative, or NaN.
[[gnu::always_inline]] inline Doubles arc_tangent(Doubles x) {
  constexpr double kTerms[] = {-0.040428425583640865, 0.071351441597153827, -0.090289516200012781, 0.11107492570710824,
                               -0.14285612419143023,  0.19999998916092217,  -0.33333333331438261};
  const auto beyond = x > 2.414213562373095, between = x > 0.41421356237309503;
  const Doubles one = doubles(1),
                v = (beyond ? -one : (between ? x - one : x)) / (beyond ? x : (between ? x + one : one));
  const Doubles u = v * v,
                base = beyond ? doubles(1.5707963267948966) : (between ? doubles(0.78539816339744831) : Doubles{});
  return fma(v, fma(u, polynomial(u, kTerms), one), base);
}

/// Sine and cosine of what x is beyond the nearest multiple, `quadrant`, of π/2. |x| <= 2^20, so that the multiple of
/// the first 33 bits of π/2 is exact.
struct Turn {
  Doubles sine, cosine;
  Longs quadrant;
};
[[gnu::always_inline]] inline Turn turn(Doubles x) {
  constexpr double kSine[] = {-2.4805587179980645e-8, 2.7555990399839906e-6, -0.00019841266915235039,
                              0.0083333333310774224, -0.16666666666663883};
  constexpr double kCosine[] = {-2.7300908167996539e-7, 2.4800599983531709e-5, -0.0013888887671288109,
                                0.041666666664319329};
  const Doubles shifted = fma(x, doubles(0.63661977236758138), doubles(kShift)), n = shifted - kShift;
  const Doubles r = (x - n * 0x1.921fb544p0) - n * 0x1.0b4611a626331p-34, u = r * r, one = doubles(1);
  return {r * fma(u, polynomial(u, kSine), one), fma(u * u, polynomial(u, kCosine), fma(u, doubles(-0.5), one)),
          bits(shifted)};
}
[[gnu::always_inline]] inline Doubles sine_of(const Turn& t, Longs quadrant) {
  const Doubles y = (quadrant & 1) != 0 ? t.cosine : t.sine;
  return number(bits(y) ^ (quadrant >> 1 << 63));
}
/// Angles that `turn` does not take are for the C library.
[[gnu::always_inline]] inline bool is_far(Vec x) {
  const Vec a = magnitude(x);
  return any((a > spread(0x1p20f)) & (a < spread(__builtin_inff())));
}
[[gnu::always_inline]] inline Vec sin(Vec x) {
  if (is_far(x)) return by_lanes(x, [](float v) { return __builtin_sinf(v); });
  return in_doubles(
      [](Doubles v) {
        const Turn t = turn(v);
        return sine_of(t, t.quadrant);
      },
      x);
}
[[gnu::always_inline]] inline Vec cos(Vec x) {
  if (is_far(x)) return by_lanes(x, [](float v) { return __builtin_cosf(v); });
  return in_doubles(
      [](Doubles v) {
        const Turn t = turn(v);
        return sine_of(t, t.quadrant + 1);
      },
      x);
}
[[gnu::always_inline]] inline Vec tan(Vec x) {
  if (is_far(x)) return by_lanes(x, [](float v) { return __builtin_tanf(v); });
  return in_doubles(
      [](Doubles v) {
        const Turn t = turn(v);
        const auto odd = (t.quadrant & 1) != 0;
        return (odd ? -t.cosine : t.sine) / (odd ? t.sine : t.cosine);
      },
      x);
}

/// exp(|x|); beyond 100 as of 100, which is infinite in f32.
[[gnu::always_inline]] inline Doubles exp_of_magnitude(Doubles x) {
  const Doubles a = magnitude(x);
  return exp_near(a > 100.0 ? doubles(100) : a);
}
[[gnu::always_inline]] inline Vec sinh(Vec x) {
  return in_doubles(
      [](Doubles v) {
        constexpr double kTerms[] = {2.7682856169452261e-6, 0.00019841073556216573, 0.0083333334315023864,
                                     0.16666666666589968};
        const Doubles e = exp_of_magnitude(v), u = v * v, small = v * (1 + u * polynomial(u, kTerms));
        return magnitude(v) < 0.5 ? small : with_sign_of(v, 0.5 * (e - 1 / e));
      },
      x);
}
[[gnu::always_inline]] inline Vec cosh(Vec x) {
  return in_doubles(
      [](Doubles v) {
        const Doubles e = exp_of_magnitude(v);
        return 0.5 * (e + 1 / e);
      },
      x);
}

[[gnu::always_inline]] inline Vec atan(Vec x) {
  return in_doubles([](Doubles v) { return with_sign_of(v, arc_tangent(magnitude(v))); }, x);
}
[[gnu::always_inline]] inline Vec asin(Vec x) {
  return in_doubles(
      [](Doubles v) {
        const Doubles a = magnitude(v);
        return with_sign_of(v, arc_tangent(a / root((1 - a) * (1 + a))));
      },
      x);
}
[[gnu::always_inline]] inline Vec acos(Vec x) {
  return in_doubles([](Doubles v) { return 2 * arc_tangent(root((1 - v) / (1 + v))); }, x);
}

// Below 2^-12 two terms of their series do.
[[gnu::always_inline]] inline Vec asinh(Vec x) {
  return in_doubles(
      [](Doubles v) {
        const Doubles a = magnitude(v), u = v * v, large = with_sign_of(v, natural_log(a + root(u + 1)));
        return a < 0x1p-12 ? v * (1 - u * (1.0 / 6)) : large;
      },
      x);
}
[[gnu::always_inline]] inline Vec acosh(Vec x) {
  return in_doubles([](Doubles v) { return natural_log(v < 1.0 ? doubles(-1) : v + root(v * v - 1)); }, x);
}
[[gnu::always_inline]] inline Vec atanh(Vec x) {
  return in_doubles(
      [](Doubles v) {
        const Doubles large = 0.5 * natural_log((1 + v) / (1 - v));
        return magnitude(v) < 0x1p-12 ? v * (1 + v * v * (1.0 / 3)) : large;
      },
      x);
}

/// exp(x); beyond ±150 as of that, which is infinite or 0 in f32.
[[gnu::always_inline]] inline Doubles exp_within_floats(Doubles x) {
  x = x > 150.0 ? doubles(150) : x;
  return exp_near(x < -150.0 ? doubles(-150) : x);
}
/// As the C library has it: 1 where y is 0 or x is 1, whatever the other is; of negative numbers by integers only.
[[gnu::always_inline]] inline Vec power(Vec x, Vec y) {
  const Vec infinity = spread(__builtin_inff());
  if (!any(~((x > spread(0.0f)) & (x < infinity) & (magnitude(y) < infinity))))
    return in_doubles([](Doubles a, Doubles b) { return exp_within_floats(b * log_of_positive(a)); }, x, y);
  return in_doubles(
      [](Doubles a, Doubles b) {
        const Doubles one = doubles(1), m = magnitude(a), t = b * natural_log(m);
        const Doubles p = (b == 0.0) | (a == 1.0) | ((a == -1.0) & (b == b)) ? one : exp_within_floats(t);
        // From 2^24 on every float is an even integer, also what is infinite.
        const Doubles shifted = b + kShift;
        const auto large = magnitude(b) >= 0x1p24;
        const auto whole = large | (shifted - kShift == b), odd = ~large & ((bits(shifted) & 1) != 0) & whole;
        const Doubles signed_ = odd ? with_sign_of(a, p) : p;
        const auto undefined = (a < 0.0) & (m < __builtin_inf()) & ~whole;
        return undefined ? doubles(__builtin_nan("")) : signed_;
      },
      x, y);
}
