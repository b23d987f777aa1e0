// Sums of a few rows, and of a few pixels of a row, as filters have them. Sums are taken in the order of the taps, each
// product rounded, so that those in double precision are the reference kernel's.

static void add_byte_rows(const double* w, const std::uint8_t* const* rows, i64 count, double* to, i64 n, bool first) {
  if (first && count == 2) {
    const auto *a = rows[0], *b = rows[1];
    for (i64 i = 0; i < n; ++i) to[i] = w[0] * a[i] + w[1] * b[i];
    return;
  }
  for (i64 t = 0; t < count; ++t) {
    if (first && t == 0)
      for (i64 i = 0; i < n; ++i) to[i] = w[t] * rows[t][i];
    else
      for (i64 i = 0; i < n; ++i) to[i] += w[t] * rows[t][i];
  }
}

/// kCount, kInner: 0 where they are not known to the compiler.
template <i64 kCount, i64 kInner, class Sum>
static void some_pixel_sums(const i64* index, const Sum* w, i64 count, i64 inner, const Sum* x, Sum* y, i64 n) {
  const i64 taps = kCount ? kCount : count, numbers = kInner ? kInner : inner;
  for (i64 k = 0; k < n; ++k, index += taps, w += taps, y += numbers)
    for (i64 i = 0; i < numbers; ++i) {
      Sum sum = 0;
      for (i64 t = 0; t < taps; ++t) sum += w[t] * x[index[t] * numbers + i];
      y[i] = sum;
    }
}
template <i64 kCount, class Sum>
static void some_pixel_sums(const i64* index, const Sum* w, i64 count, i64 inner, const Sum* x, Sum* y, i64 n) {
  if (inner == 1) some_pixel_sums<kCount, 1>(index, w, count, inner, x, y, n);
  else if (inner == 3) some_pixel_sums<kCount, 3>(index, w, count, inner, x, y, n);
  else some_pixel_sums<kCount, 0>(index, w, count, inner, x, y, n);
}
template <class Sum>
static void pixel_sums(const i64* index, const Sum* w, i64 count, i64 inner, const Sum* x, Sum* y, i64 n) {
  if (count == 2) some_pixel_sums<2>(index, w, count, inner, x, y, n);
  else if (count == 4) some_pixel_sums<4>(index, w, count, inner, x, y, n);
  else some_pixel_sums<0>(index, w, count, inner, x, y, n);
}
static void add_pixels(const i64* index, const float* w, i64 count, i64 inner, const float* x, float* y, i64 n) {
  pixel_sums(index, w, count, inner, x, y, n);
}
static void add_wide_pixels(const i64* index, const double* w, i64 count, i64 inner, const double* x, double* y,
                            i64 n) {
  pixel_sums(index, w, count, inner, x, y, n);
}

/// To the nearest, halves away from 0, as bytes.
static void to_bytes(const double* x, std::uint8_t* y, i64 n) {
  using Bytes = std::uint8_t __attribute__((vector_size(16)));
  const auto four = [](const double* from, std::uint8_t* to) __attribute__((always_inline)) {
    Fours v;
    __builtin_memcpy(&v, from, sizeof v);
    v = v > 0 ? v : 0 * v;
    v = v < 255 ? v : 0 * v + 255;
    const auto whole = __builtin_convertvector(v, FourWords);
    const auto up = __builtin_convertvector(v - __builtin_convertvector(whole, Fours) >= 0.5, FourWords);
    // The low bytes of the words; `up` is 0 or -1.
    const auto bytes = __builtin_shuffle((Bytes)(whole - up), Bytes{0, 4, 8, 12});
    __builtin_memcpy(to, &bytes, 4);
  };
  i64 i = 0;
  for (; i + 4 <= n; i += 4) four(x + i, y + i);
  if (i == n) return;
  double last[4] = {};
  std::uint8_t rounded[4];
  for (i64 j = i; j < n; ++j) last[j - i] = x[j];
  four(last, rounded);
  for (i64 j = i; j < n; ++j) y[j] = rounded[j - i];
}
