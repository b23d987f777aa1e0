// Loops that the compiler makes vectors of.

static void multiply(const float* x, i64 step, i64 rows, double* to, i64 columns) {
  i64 r = 0;
  constexpr i64 kTogether = 8;  // whose product cannot leave double precision: `to` is read and written less often
  for (; r + kTogether <= rows; r += kTogether) {
    const float* from = x + r * step;
    for (i64 i = 0; i < columns; ++i) {
      const float* v = from + i;
      const double a = double{v[0]} * double{v[step]}, b = double{v[2 * step]} * double{v[3 * step]},
                   c = double{v[4 * step]} * double{v[5 * step]}, d = double{v[6 * step]} * double{v[7 * step]};
      to[i] *= (a * b) * (c * d);
    }
  }
  for (; r < rows; ++r)
    for (i64 i = 0; i < columns; ++i) to[i] *= double{x[r * step + i]};
}

static void respond(const float* x, const float* sum, float scale, float bias, float* y, i64 n) {
  for (i64 i = 0; i < n; ++i) {
    const float root = __builtin_sqrtf(sum[i] * scale + bias);
    y[i] = x[i] / (root * __builtin_sqrtf(root));
  }
}

static bool overlaps(const float* box, const float* others, i64 step, i64 n, float most) {
  const float y1 = box[0], x1 = box[1], y2 = box[2], x2 = box[3], area = box[4];
  constexpr i64 kTogether = 16;
  for (i64 first = 0; first < n; first += kTogether) {
    const float* at = others + first;
    int any = 0;
    const auto look = [&](i64 i) __attribute__((always_inline)) {
      const float top = y1 < at[i] ? at[i] : y1, left = x1 < at[step + i] ? at[step + i] : x1,
                  bottom = at[2 * step + i] < y2 ? at[2 * step + i] : y2,
                  right = at[3 * step + i] < x2 ? at[3 * step + i] : x2, other = at[4 * step + i];
      const float height = bottom - top, width = right - left;
      const float common = (height < 0 ? 0 : height) * (width < 0 ? 0 : width);
      const float part = common / (area + other - common);
      any |= int{area > 0} & int{other > 0} & int{!(part <= most)};
    };
    if (n - first >= kTogether)
      for (i64 i = 0; i < kTogether; ++i) look(i);
    else
      for (i64 i = 0; i < n - first; ++i) look(i);
    if (any) return true;
  }
  return false;
}

static void sample(const float* const* pixels, const float* weights, bool largest, float* __restrict to, i64 n) {
  const float *a = pixels[0], *b = pixels[1], *c = pixels[2], *d = pixels[3];
  const float wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
  const auto at = [&](i64 i) __attribute__((always_inline)) { return wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i]; };
  if (largest) {
    for (i64 i = 0; i < n; ++i) {
      const float value = at(i);
      to[i] = to[i] < value ? value : to[i];
    }
  } else {
    for (i64 i = 0; i < n; ++i) to[i] += at(i);
  }
}
