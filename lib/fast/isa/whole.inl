// Operations of two integers over rows.

template <class T>
struct Wholes;
template <>
struct Wholes<std::int32_t> {
  using Signed = std::int32_t __attribute__((vector_size(4 * kWidth)));
  using Unsigned = std::uint32_t __attribute__((vector_size(4 * kWidth)));
};
template <>
struct Wholes<i64> {
  using Signed = i64 __attribute__((vector_size(4 * kWidth)));
  using Unsigned = std::uint64_t __attribute__((vector_size(4 * kWidth)));
};

/// Calls apply(a, b) with vectors of as many bytes as V and stores what it gives; in place is allowed.
template <class V, class T, class Apply>
static inline __attribute__((always_inline)) void whole_loop(const T* a, i64 a_step, const T* b, i64 b_step, T* y,
                                                             i64 n, Apply apply) {
  constexpr i64 lanes = static_cast<i64>(sizeof(V) / sizeof(T));
  const auto read = [](const T* p, i64 step, i64 count) {
    V v{};
    if (step == 0) return v + *p;
    if (count == lanes) __builtin_memcpy(&v, p, sizeof v);
    else __builtin_memcpy(&v, p, static_cast<unsigned long>(count) * sizeof(T));
    return v;
  };
  const auto loop = [=](i64 left, i64 right) __attribute__((always_inline)) {
    i64 i = 0;
    for (; i + lanes <= n; i += lanes) {
      const V v = apply(read(a + i * left, left, lanes), read(b + i * right, right, lanes));
      __builtin_memcpy(y + i, &v, sizeof v);
    }
    if (i == n) return;
    const V v = apply(read(a + i * left, left, n - i), read(b + i * right, right, n - i));
    __builtin_memcpy(y + i, &v, static_cast<unsigned long>(n - i) * sizeof(T));
  };
  if (a_step && b_step) return loop(1, 1);
  if (a_step) return loop(1, 0);
  loop(0, b_step);
}

/// The remainder of numbers below 2^51, by the quotient rounded to the nearest: r is in [-|b|/2, |b|/2], and exact.
template <bool floored>
[[gnu::always_inline]] inline Doubles whole_remainder(Doubles a, Doubles b) {
  b = b == 0.0 ? doubles(1) : b;
  const Doubles r = a - ((a / b + kShift) - kShift) * b;
  const auto negative = r < 0.0;
  if (floored) return (r != 0.0) & (negative ^ (b < 0.0)) ? r + b : r;
  const Doubles m = magnitude(b);
  return (r != 0.0) & (negative ^ (a < 0.0)) ? r + (negative ? m : -m) : r;
}

/// The quotient of such numbers.
template <bool floored>
[[gnu::always_inline]] inline Doubles whole_quotient(Doubles a, Doubles b) {
  const Doubles by = b == 0.0 ? doubles(1) : b;
  const Doubles nearest = (a / by + kShift) - kShift, r = a - nearest * by;
  const auto negative = r < 0.0, below = (a < 0.0) ^ (b < 0.0);
  const Doubles quotient =
      floored ? ((r != 0.0) & (negative ^ (b < 0.0)) ? nearest - 1.0 : nearest)
              : ((r != 0.0) & (negative ^ (a < 0.0)) ? nearest + (below ? doubles(1) : doubles(-1)) : nearest);
  return b == 0.0 ? Doubles{} : quotient;
}

/// Of one number by another, whatever they are.
template <bool floored>
static i64 exact_remainder(i64 a, i64 b) {
  const i64 r = b == 0 || b == -1 ? 0 : a % b;
  return floored && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <bool floored>
static i64 exact_quotient(i64 a, i64 b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<i64>(0 - static_cast<std::uint64_t>(a));
  return a / b - (floored && a % b != 0 && (a < 0) != (b < 0));
}

/// wide(a, b) of vectors of doubles, which gives whole numbers.
template <class Wide, class Exact>
static void whole_division(const std::int32_t* a, i64 a_step, const std::int32_t* b, i64 b_step, std::int32_t* y, i64 n,
                           Wide wide, Exact) {
  using Half = std::int32_t __attribute__((vector_size(2 * kWidth)));
  whole_loop<Half>(a, a_step, b, b_step, y, n, [=](Half p, Half q) {
    Doubles r = wide(__builtin_convertvector(p, Doubles), __builtin_convertvector(q, Doubles));
    r = r >= 0x1p31 ? r - 0x1p32 : r;  // the least integer / -1 wraps
    return __builtin_convertvector(r, Half);
  });
}
/// exact(a, b) of numbers that are too large for that.
template <class Wide, class Exact>
static void whole_division(const i64* a, i64 a_step, const i64* b, i64 b_step, i64* y, i64 n, Wide wide, Exact exact) {
  constexpr std::uint64_t kHalf = 1ull << 51;
  std::uint64_t large = 0;  // has bits from 2^52 on where a number is not within ±2^51
  for (i64 i = 0; i < (a_step ? n : 1); ++i) large |= static_cast<std::uint64_t>(a[i]) + kHalf;
  for (i64 i = 0; i < (b_step ? n : 1); ++i) large |= static_cast<std::uint64_t>(b[i]) + kHalf;
  if (large >> 52 == 0) {
    const Longs shift = bits(doubles(kShift));
    return whole_loop<Longs>(a, a_step, b, b_step, y, n, [=](Longs p, Longs q) {
      const Doubles r = wide(number(p + shift) - kShift, number(q + shift) - kShift);
      return bits(r + kShift) - shift;
    });
  }
  for (i64 i = 0; i < n; ++i) y[i] = exact(a[i * a_step], b[i * b_step]);
}

/// Sums and products wrap as those of unsigned numbers.
template <class T>
static void whole(Whole f, const T* a, i64 a_step, const T* b, i64 b_step, void* y, i64 n) {
  using V = typename Wholes<T>::Signed;
  using U = typename Wholes<T>::Unsigned;
  const auto go = [=](auto apply) { whole_loop<V>(a, a_step, b, b_step, static_cast<T*>(y), n, apply); };
  const auto quotients = [=]<bool floored>() {
    const auto wide = [](Doubles p, Doubles q) __attribute__((always_inline)) { return whole_quotient<floored>(p, q); };
    whole_division(a, a_step, b, b_step, static_cast<T*>(y), n, wide, exact_quotient<floored>);
  };
  const auto remainders = [=]<bool floored>() {
    const auto wide = [](Doubles p, Doubles q) __attribute__((always_inline)) {
      return whole_remainder<floored>(p, q);
    };
    whole_division(a, a_step, b, b_step, static_cast<T*>(y), n, wide, exact_remainder<floored>);
  };
  const auto compare = [=](auto apply) {
    auto* const to = static_cast<unsigned char*>(y);
    const auto loop = [=](auto left, auto right) {
      for (i64 i = 0; i < n; ++i) to[i] = apply(left(i), right(i));
    };
    const auto row = [](const T* p) { return [p](i64 i) { return p[i]; }; };
    const auto one = [](const T* p) { return [v = *p](i64) { return v; }; };
    if (a_step && b_step) return loop(row(a), row(b));
    if (a_step) return loop(row(a), one(b));
    if (b_step) return loop(one(a), row(b));
    loop(one(a), one(b));
  };
  switch (f) {
    case Whole::add: return go([](V p, V q) { return (V)((U)p + (U)q); });
    case Whole::subtract: return go([](V p, V q) { return (V)((U)p - (U)q); });
    case Whole::multiply: return go([](V p, V q) { return (V)((U)p * (U)q); });
    case Whole::maximum: return go([](V p, V q) { return p > q ? p : q; });
    case Whole::minimum: return go([](V p, V q) { return p < q ? p : q; });
    case Whole::divide: return quotients.template operator()<false>();
    case Whole::floor_divide: return quotients.template operator()<true>();
    case Whole::mod: return remainders.template operator()<false>();
    case Whole::floor_mod: return remainders.template operator()<true>();
    case Whole::equal: return compare([](T p, T q) { return p == q; });
    case Whole::not_equal: return compare([](T p, T q) { return p != q; });
    case Whole::less: return compare([](T p, T q) { return p < q; });
    case Whole::less_equal: return compare([](T p, T q) { return p <= q; });
    case Whole::greater: return compare([](T p, T q) { return p > q; });
    case Whole::greater_equal: return compare([](T p, T q) { return p >= q; });
  }
}
