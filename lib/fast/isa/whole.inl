// Operations of integers over rows. T is the signed integer of as many bytes; where elements are unsigned, only their
// order and their quotients differ. Included behind grid.inl.

template <class T, class U>
struct Wholes {
  using Element = T;
  typedef T Signed __attribute__((vector_size(kVectorBytes)));
  typedef U Unsigned __attribute__((vector_size(kVectorBytes)));
  static constexpr i64 kLanes = static_cast<i64>(kVectorBytes / sizeof(T));
  /// Exclusive or with it makes the order of signed integers that of unsigned ones.
  static T flip(bool is_signed) { return is_signed ? T{0} : static_cast<T>(U{1} << (8 * sizeof(T) - 1)); }
};

/// f(Wholes) of elements of so many bytes.
template <class F>
static auto of_width(int bytes, F f) {
  switch (bytes) {
    case 1: return f(Wholes<std::int8_t, std::uint8_t>{});
    case 2: return f(Wholes<std::int16_t, std::uint16_t>{});
    case 4: return f(Wholes<std::int32_t, std::uint32_t>{});
    default: return f(Wholes<i64, std::uint64_t>{});
  }
}

/// The vector of the first n elements, then 0.
template <class V, class T>
[[gnu::always_inline]] inline V load_wholes(const T* p, i64 n = sizeof(V) / sizeof(T)) {
  V v{};
  if (n == sizeof(V) / sizeof(T)) __builtin_memcpy(&v, p, sizeof v);
  else __builtin_memcpy(&v, p, static_cast<unsigned long>(n) * sizeof(T));
  return v;
}

/// Calls apply(a, b) with vectors of as many bytes as V and stores what it gives; in place is allowed.
template <class V, class T, class Apply>
static inline __attribute__((always_inline)) void whole_loop(const T* a, i64 a_step, const T* b, i64 b_step, T* y,
                                                             i64 n, Apply apply) {
  constexpr i64 lanes = static_cast<i64>(sizeof(V) / sizeof(T));
  const auto read = [](const T* p, i64 step, i64 count) { return step == 0 ? V{} + *p : load_wholes<V>(p, count); };
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

using Floats = float __attribute__((vector_size(kVectorBytes)));
using Doubles = double __attribute__((vector_size(kVectorBytes)));
using FloatWords = std::int32_t __attribute__((vector_size(kVectorBytes)));
using Longs = i64 __attribute__((vector_size(kVectorBytes)));

/// |x| < 2^31, and of doubles 2^51, without what is behind the point.
[[gnu::always_inline]] inline Floats truncated(Floats x) {
  return __builtin_convertvector(__builtin_convertvector(x, FloatWords), Floats);
}
[[gnu::always_inline]] inline Doubles truncated(Doubles x) {
  const Doubles m = x < 0.0 ? -x : x, nearest = (m + kToWhole) - kToWhole, t = nearest > m ? nearest - 1.0 : nearest;
  return x < 0.0 ? -t : t;
}

/// Of integers below 2^22, of doubles 2^51. A quotient that is no integer differs from one by more than it is rounded.
template <bool floored, class V>
[[gnu::always_inline]] inline V whole_quotient(V a, V b) {
  const V q = a / b, t = truncated(q);
  return floored ? (t > q ? t - 1 : t) : t;
}

/// Of one number by another, whatever they are.
template <bool floored, class T>
static T exact_remainder(T a, T b) {
  constexpr bool is_signed = static_cast<T>(-1) < 0;
  if (b == 0 || (is_signed && b == static_cast<T>(-1))) return 0;
  const T r = a % b;
  return floored && is_signed && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <bool floored, class T>
static T exact_quotient(T a, T b) {
  constexpr bool is_signed = static_cast<T>(-1) < 0;
  if (b == 0) return 0;
  if (is_signed && b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<std::uint64_t>(a));
  return a / b - (floored && is_signed && a % b != 0 && (a < 0) != (b < 0));
}

/// A quotient or remainder: of vectors of floats or doubles that are integers, and of numbers that these can't hold.
template <bool floored>
struct WholeQuotient {
  template <class V>
  [[gnu::always_inline]] static V wide(V a, V b) {
    const V zero{};
    return b == zero ? zero : whole_quotient<floored>(a, b == zero ? zero + 1 : b);
  }
  template <class T>
  static T exact(T a, T b) {
    return exact_quotient<floored>(a, b);
  }
};
template <bool floored>
struct WholeRemainder {
  template <class V>
  [[gnu::always_inline]] static V wide(V a, V b) {
    const V zero{}, by = b == zero ? zero + 1 : b;
    return a - whole_quotient<floored>(a, by) * by;
  }
  template <class T>
  static T exact(T a, T b) {
    return exact_remainder<floored>(a, b);
  }
};

/// Whether n numbers, `step` apart, lie within ±2^bits.
template <class U, class T>
static bool whole_within(int bits, bool is_signed, const T* x, i64 step, i64 n) {
  const U shift = is_signed ? U{1} << bits : U{0};
  U all = 0;
  for (i64 i = 0; i < (step ? n : 1); ++i) all |= static_cast<U>(x[i]) + shift;
  return all >> (is_signed ? bits + 1 : bits) == 0;
}

/// Divided as floats where these hold them, else as doubles.
template <class Operation>
static void whole_division(bool is_signed, const std::int32_t* a, i64 a_step, const std::int32_t* b, i64 b_step,
                           std::int32_t* y, i64 n) {
  constexpr int kBits = 22;
  if (whole_within<std::uint32_t>(kBits, is_signed, a, a_step, n) &&
      whole_within<std::uint32_t>(kBits, is_signed, b, b_step, n))
    return whole_loop<FloatWords>(
        a, a_step, b, b_step, y, n, [](FloatWords p, FloatWords q) __attribute__((always_inline)) {
          const Floats v = Operation::wide(__builtin_convertvector(p, Floats), __builtin_convertvector(q, Floats));
          return __builtin_convertvector(v, FloatWords);
        });
  using Half = std::int32_t __attribute__((vector_size(kVectorBytes / 2)));
  const double wraps = is_signed ? 0.0 : 0x1p32;
  const auto number_of = [=](Half v) __attribute__((always_inline)) {
    const Doubles x = __builtin_convertvector(v, Doubles);
    return x < 0.0 ? x + wraps : x;
  };
  whole_loop<Half>(
      a, a_step, b, b_step, y, n, [=](Half p, Half q) __attribute__((always_inline)) {
        Doubles r = Operation::wide(number_of(p), number_of(q));
        r = r >= 0x1p31 ? r - 0x1p32 : r;  // the least integer / -1 wraps
        return __builtin_convertvector(r, Half);
      });
}
/// The same of integers that words hold.
template <class Operation, class T>
static void division_by_words(std::int32_t mask, const T* a, i64 a_step, const T* b, i64 b_step, T* y, i64 n) {
  constexpr i64 kPiece = 256;
  std::int32_t p[kPiece], q[kPiece], r[kPiece];
  const auto widen = [=](const T* from, i64 count, std::int32_t* to) {
    for (i64 i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(from[i]) & mask;
  };
  for (i64 at = 0, count = 0; at < n; at += count) {
    count = n - at < kPiece ? n - at : kPiece;
    widen(a + at * a_step, a_step ? count : 1, p);
    widen(b + at * b_step, b_step ? count : 1, q);
    whole_division<Operation>(true, p, a_step, q, b_step, r, count);
    for (i64 i = 0; i < count; ++i) y[at + i] = static_cast<T>(r[i]);
  }
}
template <class Operation, class T>
static void whole_division(bool is_signed, const T* a, i64 a_step, const T* b, i64 b_step, T* y, i64 n) {
  constexpr std::int32_t kUnsigned = (1 << (8 * sizeof(T))) - 1;
  division_by_words<Operation>(is_signed ? -1 : kUnsigned, a, a_step, b, b_step, y, n);
}
template <class Operation>
static void whole_division(bool is_signed, const i64* a, i64 a_step, const i64* b, i64 b_step, i64* y, i64 n) {
  using Unsigned = std::uint64_t;
  const auto are_within = [=](int bits) {
    return whole_within<Unsigned>(bits, is_signed, a, a_step, n) &&
           whole_within<Unsigned>(bits, is_signed, b, b_step, n);
  };
  if (are_within(30)) return division_by_words<Operation>(-1, a, a_step, b, b_step, y, n);
  if (are_within(51))
    return whole_loop<Longs>(
        a, a_step, b, b_step, y, n, [](Longs p, Longs q) __attribute__((always_inline)) {
          const Longs shift = (Longs)(Doubles{} + kToWhole);
          const Doubles r = Operation::wide((Doubles)(p + shift) - kToWhole, (Doubles)(q + shift) - kToWhole);
          return (Longs)(r + kToWhole) - shift;
        });
  for (i64 i = 0; i < n; ++i) {
    const i64 p = a[i * a_step], q = b[i * b_step];
    y[i] = is_signed ? Operation::exact(p, q)
                     : static_cast<i64>(Operation::exact(static_cast<Unsigned>(p), static_cast<Unsigned>(q)));
  }
}
/// Whether a bit is set.
template <class V>
[[gnu::always_inline]] inline bool any_bit(V v) {
  const Longs parts = (Longs)v;
  i64 all = 0;
  for (i64 i = 0; i < kVectorBytes / 8; ++i) all |= parts[i];
  return all != 0;
}

/// By repeated squaring, for all lanes until the largest exponent is used up.
template <class U, class V>
[[gnu::always_inline]] inline V whole_power(bool is_signed, V a, V b) {
  const V zero{}, one = zero + 1;
  const auto negative = is_signed ? b < zero : zero != zero;
  U result = (U)one, square = (U)a, rest = (U)(negative ? zero : b);
  for (; any_bit(rest); rest >>= 1, square *= square) result = (rest & 1) != 0 ? result * square : result;
  const V of_negative = a == one ? one : a == -one ? ((b & 1) != 0 ? -one : one) : zero;
  return negative ? of_negative : (V)result;
}

/// y[i] = whether a[i] is b[i], or, `less`, below it; the opposite where `inverse`.
template <class T>
static void whole_comparison(bool less, bool inverse, T flip, const T* a, i64 a_step, const T* b, i64 b_step,
                             unsigned char* y, i64 n) {
  const auto each = [=](auto left, auto right) __attribute__((always_inline)) {
    if (less)
      for (i64 i = 0; i < n; ++i) y[i] = ((left(i) ^ flip) < (right(i) ^ flip)) ^ inverse;
    else
      for (i64 i = 0; i < n; ++i) y[i] = (left(i) == right(i)) ^ inverse;
  };
  const auto row = [](const T* p) { return [p](i64 i) { return p[i]; }; };
  const auto one = [](const T* p) { return [v = *p](i64) { return v; }; };
  if (a_step && b_step) return each(row(a), row(b));
  if (a_step) return each(row(a), one(b));
  if (b_step) return each(one(a), row(b));
  each(one(a), one(b));
}

/// Sums and products wrap as those of unsigned numbers.
template <class W>
static void whole_of(Whole f, bool is_signed, const void* left, i64 a_step, const void* right, i64 b_step, void* to,
                     i64 n) {
  using T = typename W::Element;
  using V = typename W::Signed;
  using U = typename W::Unsigned;
  const T *a = static_cast<const T*>(left), *b = static_cast<const T*>(right);
  T* y = static_cast<T*>(to);
  const T flip = W::flip(is_signed);
  const auto go = [=](auto apply) { whole_loop<V>(a, a_step, b, b_step, y, n, apply); };
  const auto divide = [=]<class Operation>(Operation) {
    whole_division<Operation>(is_signed, a, a_step, b, b_step, y, n);
  };
  const auto compare = [=](bool less, bool inverse, bool swap = false) {
    auto* const bytes = static_cast<unsigned char*>(to);
    if (swap) whole_comparison(less, inverse, flip, b, b_step, a, a_step, bytes, n);
    else whole_comparison(less, inverse, flip, a, a_step, b, b_step, bytes, n);
  };
  switch (f) {
    case Whole::add: return go([](V p, V q) { return (V)((U)p + (U)q); });
    case Whole::subtract: return go([](V p, V q) { return (V)((U)p - (U)q); });
    case Whole::multiply: return go([](V p, V q) { return (V)((U)p * (U)q); });
    case Whole::squared_difference:
      return go([](V p, V q) {
        const U d = (U)p - (U)q;
        return (V)(d * d);
      });
    case Whole::maximum:
      if (is_signed) return go([](V p, V q) { return p > q ? p : q; });
      return go([](V p, V q) { return (V)((U)p > (U)q ? (U)p : (U)q); });
    case Whole::minimum:
      if (is_signed) return go([](V p, V q) { return p < q ? p : q; });
      return go([](V p, V q) { return (V)((U)p < (U)q ? (U)p : (U)q); });
    case Whole::bits_and: return go([](V p, V q) { return p & q; });
    case Whole::bits_or: return go([](V p, V q) { return p | q; });
    case Whole::bits_xor: return go([](V p, V q) { return p ^ q; });
    case Whole::absolute: return go([](V p, V) { return p < 0 ? (V)(U{} - (U)p) : p; });
    case Whole::sign: return go([](V p, V) { return (V)((p < 0) - (p > 0)); });
    case Whole::divide: return divide(WholeQuotient<false>{});
    case Whole::floor_divide: return divide(WholeQuotient<true>{});
    case Whole::mod: return divide(WholeRemainder<false>{});
    case Whole::floor_mod: return divide(WholeRemainder<true>{});
    case Whole::power: return go([=](V p, V q) { return whole_power<U>(is_signed, p, q); });
    case Whole::equal: return compare(false, false);
    case Whole::not_equal: return compare(false, true);
    case Whole::less: return compare(true, false);
    case Whole::less_equal: return compare(true, true, true);
    case Whole::greater: return compare(true, false, true);
    case Whole::greater_equal: return compare(true, true);
  }
}

static void whole(Whole f, WholeType type, const void* a, i64 a_step, const void* b, i64 b_step, void* y, i64 n) {
  of_width(type.bytes, [=]<class W>(W) { whole_of<W>(f, type.is_signed, a, a_step, b, b_step, y, n); });
}
