// Pixels of a few numbers: as lines of one of them each, and back; in another order.

/// As many numbers as are moved at a time, and which of those of two they become.
template <class T>
struct PixelLanes;
template <>
struct PixelLanes<float> {
  using Vector = float __attribute__((vector_size(32)));
  using Place = std::int32_t;
  using Places = Place __attribute__((vector_size(32)));
  static constexpr int kCount = 8;
};
template <>
struct PixelLanes<std::uint8_t> {
  using Vector = std::uint8_t __attribute__((vector_size(16)));
  using Place = std::uint8_t;
  using Places = Vector;
  static constexpr int kCount = 16;
};

/// Lane j becomes number place(j) of all that the vectors hold.
template <class Lanes, int kFew, class Vector, class Pick>
[[gnu::always_inline]] inline void pick(const Vector (&v)[kFew], Pick place, Vector& to) {
  constexpr int n = Lanes::kCount;
  to = v[0];
#pragma GCC unroll 4
  for (int i = 1; i < kFew; ++i) {
    typename Lanes::Places at;
    for (int j = 0; j < n; ++j) {
      const int from = place(j);
      at[j] = static_cast<typename Lanes::Place>(from / n == i ? n + from % n : i == 1 && from < n ? from : j);
    }
    to = (Vector)__builtin_shuffle(to, v[i], at);
  }
}

template <int kFew, class T>
static void split_pixels(const T* x, T* y, i64 line, i64 n) {
  constexpr int lanes = PixelLanes<T>::kCount;
  i64 p = 0;
  for (; p + lanes <= n; p += lanes) {
    typename PixelLanes<T>::Vector v[kFew], to;
#pragma GCC unroll 4
    for (int i = 0; i < kFew; ++i) __builtin_memcpy(&v[i], x + p * kFew + i * lanes, sizeof v[i]);
#pragma GCC unroll 4
    for (int c = 0; c < kFew; ++c) {
      pick<PixelLanes<T>>(
          v, [c](int j) __attribute__((always_inline)) { return j * kFew + c; }, to);
      __builtin_memcpy(y + c * line + p, &to, sizeof to);
    }
  }
  for (; p < n; ++p)
    for (int c = 0; c < kFew; ++c) y[c * line + p] = x[p * kFew + c];
}

template <int kFew, class T>
static void join_pixels(const T* x, i64 line, T* y, i64 n) {
  constexpr int lanes = PixelLanes<T>::kCount;
  i64 p = 0;
  for (; p + lanes <= n; p += lanes) {
    typename PixelLanes<T>::Vector v[kFew], to;
#pragma GCC unroll 4
    for (int c = 0; c < kFew; ++c) __builtin_memcpy(&v[c], x + c * line + p, sizeof v[c]);
#pragma GCC unroll 4
    for (int i = 0; i < kFew; ++i) {
      const auto place = [i](int j) __attribute__((always_inline)) {
        return (i * lanes + j) % kFew * lanes + (i * lanes + j) / kFew;
      };
      pick<PixelLanes<T>>(v, place, to);
      __builtin_memcpy(y + p * kFew + i * lanes, &to, sizeof to);
    }
  }
  for (; p < n; ++p)
    for (int c = 0; c < kFew; ++c) y[p * kFew + c] = x[c * line + p];
}

template <class T>
static void split(int few, const T* x, T* y, i64 line, i64 n) {
  if (few == 2) return split_pixels<2>(x, y, line, n);
  return few == 3 ? split_pixels<3>(x, y, line, n) : split_pixels<4>(x, y, line, n);
}
template <class T>
static void join(int few, const T* x, i64 line, T* y, i64 n) {
  if (few == 2) return join_pixels<2>(x, line, y, n);
  return few == 3 ? join_pixels<3>(x, line, y, n) : join_pixels<4>(x, line, y, n);
}

/// Some whole pixels at a time, and what begins the next one, which is written over. Places has as many as Vector.
template <class Vector, class Places, class Place, class T>
static void reorder_by(int few, const i64* order, const T* x, T* y, i64 n) {
  constexpr int lanes = sizeof(Vector) / sizeof(T);
  const int pixels = lanes / few;
  Places at{};
  for (int j = 0; j < lanes; ++j) {
    const i64 from = j < pixels * few ? j / few * few + order[j % few] : j;
    at[j] = static_cast<Place>(from);
  }
  i64 p = 0;
  for (; p * few + lanes <= n * few; p += pixels) {
    Vector v;
    __builtin_memcpy(&v, x + p * few, sizeof v);
    v = (Vector)__builtin_shuffle(v, at);
    __builtin_memcpy(y + p * few, &v, sizeof v);
  }
  for (; p < n; ++p)
    for (int c = 0; c < few; ++c) y[p * few + c] = x[p * few + order[c]];
}
static void reorder(int few, const i64* order, const float* x, float* y, i64 n) {
  reorder_by<FourFloats, FourWords, std::int32_t>(few, order, x, y, n);
}
static void reorder_bytes(int few, const i64* order, const std::uint8_t* x, std::uint8_t* y, i64 n) {
  using Bytes = PixelLanes<std::uint8_t>::Vector;
  reorder_by<Bytes, Bytes, std::uint8_t>(few, order, x, y, n);
}
