// Reductions of integers over columns and rows. Included behind whole.inl.

/// run(start, term, join) of a fold; term and join take vectors as well as single elements. Sums and products wrap.
template <class W, class Run>
static auto whole_fold(Fold f, bool is_signed, Run run) {
  using T = typename W::Element;
  using V = typename W::Signed;
  using U = typename W::Unsigned;
  struct Wrapping {
    static U of(V v) { return (U)v; }
    static std::uint64_t of(T v) { return static_cast<std::uint64_t>(v); }
    static V back(U v) { return (V)v; }
    static T back(std::uint64_t v) { return static_cast<T>(v); }
  };
  const T flip = W::flip(is_signed), least = W::flip(!is_signed);
  const auto itself = [](auto v) { return v; };
  const auto add = []<class A>(A a, A b) -> A { return Wrapping::back(Wrapping::of(a) + Wrapping::of(b)); };
  switch (f) {
    case Fold::absolute:
      if (!is_signed) break;
      return run(
          T{0}, []<class A>(A v) -> A { return v < 0 ? Wrapping::back(Wrapping::of(A{}) - Wrapping::of(v)) : v; }, add);
    case Fold::product:
      return run(T{1}, itself,
                 []<class A>(A a, A b) -> A { return Wrapping::back(Wrapping::of(a) * Wrapping::of(b)); });
    case Fold::maximum:
      return run(least, itself, [=]<class A>(A a, A b) -> A { return (a ^ flip) > (b ^ flip) ? a : b; });
    case Fold::minimum:
      return run(static_cast<T>(~least), itself,
                 [=]<class A>(A a, A b) -> A { return (a ^ flip) < (b ^ flip) ? a : b; });
    default: break;
  }
  return run(T{0}, itself, add);
}

/// The vectors of a row, or of some columns, whose results are computed together.
constexpr int kFolded = 4;

template <class W, class T, class Term, class Join>
static void fold_columns(const T* x, i64 step, i64 rows, T* y, i64 columns, Term term, Join join) {
  using V = typename W::Signed;
  i64 c = 0;
  const auto vectors = [&]<int N>() __attribute__((always_inline)) {
    V all[N];
    for (int i = 0; i < N; ++i) all[i] = load_wholes<V>(y + c + i * W::kLanes);
    for (i64 r = 0; r < rows; ++r)
      for (int i = 0; i < N; ++i) all[i] = join(all[i], term(load_wholes<V>(x + r * step + c + i * W::kLanes)));
    __builtin_memcpy(y + c, all, sizeof all);
    c += N * W::kLanes;
  };
  while (c + kFolded * W::kLanes <= columns) vectors.template operator()<kFolded>();
  while (c + W::kLanes <= columns) vectors.template operator()<1>();
  for (; c < columns; ++c) {
    T all = y[c];
    for (i64 r = 0; r < rows; ++r) all = join(all, term(x[r * step + c]));
    y[c] = all;
  }
}

template <class W, class T, class Term, class Join>
static T fold_row(const T* x, i64 n, T start, Term term, Join join) {
  using V = typename W::Signed;
  if (n < W::kLanes) {
    for (i64 i = 0; i < n; ++i) start = join(start, term(x[i]));
    return start;
  }
  V all[kFolded];
  for (int i = 0; i < kFolded; ++i) all[i] = V{} + start;
  i64 at = 0;
  for (; at + kFolded * W::kLanes <= n; at += kFolded * W::kLanes)
    for (int i = 0; i < kFolded; ++i) all[i] = join(all[i], term(load_wholes<V>(x + at + i * W::kLanes)));
  for (; at + W::kLanes <= n; at += W::kLanes) all[0] = join(all[0], term(load_wholes<V>(x + at)));
  if (at < n) {
    V last = V{} + start;
    __builtin_memcpy(&last, x + at, static_cast<unsigned long>(n - at) * sizeof(T));
    all[1] = join(all[1], term(last));
  }
  constexpr int kLongs = kVectorBytes / 8;
  V v = join(join(all[0], all[1]), join(all[2], all[3]));
  Longs places;
  for (int i = 0; i < kLongs; ++i) places[i] = i;
  for (int by = kLongs / 2; by > 0; by /= 2) v = join(v, (V)__builtin_shuffle((Longs)v, places ^ by));
  T rest[8 / sizeof(T)];
  __builtin_memcpy(rest, &v, sizeof rest);
  for (unsigned i = 1; i < 8 / sizeof(T); ++i) rest[0] = join(rest[0], rest[i]);
  return rest[0];
}

static void whole_columns(Fold f, WholeType type, const void* x, i64 step, i64 rows, void* y, i64 columns) {
  of_width(type.bytes, [=]<class W>(W) {
    using T = typename W::Element;
    whole_fold<W>(f, type.is_signed, [=](T, auto term, auto join) {
      fold_columns<W>(static_cast<const T*>(x), step, rows, static_cast<T*>(y), columns, term, join);
    });
  });
}

static void whole_row(Fold f, WholeType type, const void* x, i64 n, void* y) {
  of_width(type.bytes, [=]<class W>(W) {
    using T = typename W::Element;
    *static_cast<T*>(y) = whole_fold<W>(f, type.is_signed, [=](T start, auto term, auto join) {
      return fold_row<W>(static_cast<const T*>(x), n, start, term, join);
    });
  });
}

/// In 64 bits.
template <class T>
struct WideSums {
  static constexpr i64 kLanes = kVectorBytes / 8;
  typedef T Narrow __attribute__((vector_size(kLanes * sizeof(T))));
  /// Adds N vectors.
  template <int N>
  [[gnu::always_inline]] static void add(const T* x, Pairs (&sum)[N]) {
    for (int i = 0; i < N; ++i) sum[i] += (Pairs) __builtin_convertvector(load_wholes<Narrow>(x + i * kLanes), Longs);
  }
  static std::uint64_t single(const T* x, i64 step, i64 n) {
    std::uint64_t sum = 0;
    for (i64 i = 0; i < n; ++i) sum += static_cast<std::uint64_t>(x[i * step]);
    return sum;
  }

  static void columns(const T* x, i64 step, i64 rows, i64* to, i64 columns) {
    i64 c = 0;
    const auto vectors = [&]<int N>() __attribute__((always_inline)) {
      Pairs sum[N]{};
      for (i64 r = 0; r < rows; ++r) add<N>(x + r * step + c, sum);
      __builtin_memcpy(to + c, sum, sizeof sum);
      c += N * kLanes;
    };
    while (c + kFolded * kLanes <= columns) vectors.template operator()<kFolded>();
    while (c + kLanes <= columns) vectors.template operator()<1>();
    for (; c < columns; ++c) to[c] = static_cast<i64>(single(x + c, step, rows));
  }
  static i64 row(const T* x, i64 n) {
    Pairs sum[kFolded]{};
    i64 at = 0;
    for (; at + kFolded * kLanes <= n; at += kFolded * kLanes) add<kFolded>(x + at, sum);
    auto total = single(x + at, 1, n - at);
    for (const Pairs& v : sum)
      for (int i = 0; i < kLanes; ++i) total += v[i];
    return static_cast<i64>(total);
  }
};

/// f(WideSums, x)
template <class F>
static auto wide_sums(WholeType type, const void* x, F f) {
  const auto of = [=]<class T>(const T* typed) { return f(WideSums<T>{}, typed); };
  switch (type.bytes) {
    case 1: return type.is_signed ? of(static_cast<const std::int8_t*>(x)) : of(static_cast<const std::uint8_t*>(x));
    case 2: return type.is_signed ? of(static_cast<const std::int16_t*>(x)) : of(static_cast<const std::uint16_t*>(x));
    case 4: return type.is_signed ? of(static_cast<const std::int32_t*>(x)) : of(static_cast<const std::uint32_t*>(x));
    default: return of(static_cast<const i64*>(x));
  }
}
static void whole_sums(WholeType type, const void* x, i64 step, i64 rows, i64* to, i64 columns) {
  wide_sums(type, x, [=](auto sums, const auto* typed) { sums.columns(typed, step, rows, to, columns); });
}
static i64 whole_sum(WholeType type, const void* x, i64 n) {
  return wide_sums(type, x, [=](auto sums, const auto* typed) { return sums.row(typed, n); });
}
