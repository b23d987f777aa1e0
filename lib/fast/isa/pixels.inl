// Pixels of a few numbers, as lines of one of them each, and back.

using Eight = float __attribute__((vector_size(32)));
using EightPlaces = std::int32_t __attribute__((vector_size(32)));

/// Lane j becomes number place(j) of all that the vectors hold.
template <int kFew, class Place>
[[gnu::always_inline]] inline void pick(const Eight (&v)[kFew], Place place, Eight& to) {
  to = v[0];
#pragma GCC unroll 4
  for (int i = 1; i < kFew; ++i) {
    EightPlaces at;
    for (int j = 0; j < 8; ++j) {
      const int from = place(j);
      at[j] = from / 8 == i ? 8 + from % 8 : i == 1 && from < 8 ? from : j;
    }
    to = (Eight)__builtin_shuffle(to, v[i], at);
  }
}

template <int kFew>
static void split_pixels(const float* x, float* y, i64 line, i64 n) {
  i64 p = 0;
  for (; p + 8 <= n; p += 8) {
    Eight v[kFew], to;
#pragma GCC unroll 4
    for (int i = 0; i < kFew; ++i) __builtin_memcpy(&v[i], x + p * kFew + i * 8, sizeof v[i]);
#pragma GCC unroll 4
    for (int c = 0; c < kFew; ++c) {
      pick(
          v, [c](int j) __attribute__((always_inline)) { return j * kFew + c; }, to);
      __builtin_memcpy(y + c * line + p, &to, sizeof to);
    }
  }
  for (; p < n; ++p)
    for (int c = 0; c < kFew; ++c) y[c * line + p] = x[p * kFew + c];
}

template <int kFew>
static void join_pixels(const float* x, i64 line, float* y, i64 n) {
  i64 p = 0;
  for (; p + 8 <= n; p += 8) {
    Eight v[kFew], to;
#pragma GCC unroll 4
    for (int c = 0; c < kFew; ++c) __builtin_memcpy(&v[c], x + c * line + p, sizeof v[c]);
#pragma GCC unroll 4
    for (int i = 0; i < kFew; ++i) {
      const auto place = [i](int j) __attribute__((always_inline)) {
        return (i * 8 + j) % kFew * 8 + (i * 8 + j) / kFew;
      };
      pick(v, place, to);
      __builtin_memcpy(y + p * kFew + i * 8, &to, sizeof to);
    }
  }
  for (; p < n; ++p)
    for (int c = 0; c < kFew; ++c) y[p * kFew + c] = x[c * line + p];
}

static void split(int few, const float* x, float* y, i64 line, i64 n) {
  if (few == 2) return split_pixels<2>(x, y, line, n);
  return few == 3 ? split_pixels<3>(x, y, line, n) : split_pixels<4>(x, y, line, n);
}
static void join(int few, const float* x, i64 line, float* y, i64 n) {
  if (few == 2) return join_pixels<2>(x, line, y, n);
  return few == 3 ? join_pixels<3>(x, line, y, n) : join_pixels<4>(x, line, y, n);
}
