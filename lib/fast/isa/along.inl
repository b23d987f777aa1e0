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

// Four points of a grid at a time.
using Fours = double __attribute__((vector_size(32)));
using FourWords = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));

/// The two pixels along an axis, and how much the second one counts.
struct PixelPair {
  FourWords first, second, has_first, has_second;
  Fours weight;
};
[[gnu::always_inline]] inline PixelPair pixel_pair(const SampledAxis& axis, FourFloats coordinates, bool border) {
  constexpr Fours kBefore = {-2, -2, -2, -2}, kMost = {__DBL_MAX__, __DBL_MAX__, __DBL_MAX__, __DBL_MAX__};
  const Fours behind = Fours{} + (axis.length + 1.0);
  Fours v = (__builtin_convertvector(coordinates, Fours) + 1.0) * axis.scale + axis.shift;
  v = v <= kMost ? v : kBefore;
  v = v < kBefore ? kBefore : v;  // farther away makes no difference
  v = v > behind ? behind : v;
  const FourWords first = __builtin_convertvector(v + 2.0, FourWords) - 2, second = first + 1;
  const auto inside = [&](FourWords i) __attribute__((always_inline)) {
    const FourWords last = FourWords{} + (axis.length - 1), from_zero = i < 0 ? FourWords{} : i;
    return from_zero > last ? last : from_zero;
  };
  const auto has = [&](FourWords i) __attribute__((always_inline)) { return border ? ~FourWords{} : inside(i) == i; };
  return {inside(first), inside(second), has(first), has(second), v - __builtin_convertvector(first, Fours)};
}

static void bilinear(const SampledAxis& x, const SampledAxis& y, bool border, const float* grid, i64 n,
                     const BilinearPixels& to) {
  for (i64 p = 0; p < n; p += 4) {
    FourFloats columns{}, rows{};
    const i64 count = n - p < 4 ? n - p : 4;
    for (i64 i = 0; i < count; ++i) {
      columns[i] = grid[2 * (p + i)];
      rows[i] = grid[2 * (p + i) + 1];
    }
    const auto across = pixel_pair(x, columns, border), down = pixel_pair(y, rows, border);
    const Fours left = 1.0 - across.weight, top = 1.0 - down.weight;
    const auto put = [&](i64 which, FourWords row, FourWords column, FourWords mask, Fours weight)
        __attribute__((always_inline)) {
      const FourWords number = row * x.length + column;
      const FourFloats narrow = __builtin_convertvector(weight, FourFloats);
      const i64 at = which * to.step + p;
      __builtin_memcpy(to.number + at, &number, sizeof number);
      __builtin_memcpy(to.weight + at, &narrow, sizeof narrow);
      __builtin_memcpy(to.mask + at, &mask, sizeof mask);
    };
    put(0, down.first, across.first, down.has_first & across.has_first, top * left);
    put(1, down.first, across.second, down.has_first & across.has_second, top * across.weight);
    put(2, down.second, across.first, down.has_second & across.has_first, down.weight * left);
    put(3, down.second, across.second, down.has_second & across.has_second, down.weight * across.weight);
  }
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
