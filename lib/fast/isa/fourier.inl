// The steps of Fourier transforms, in vectors of eight by the compiler's own types.

using Reals = float __attribute__((vector_size(32)));
using RealsAt = float __attribute__((vector_size(32), aligned(4), may_alias));
struct Complexes {
  Reals re, im;
};
static inline __attribute__((always_inline)) void read(const float* p, Complexes& v) {
  v.re = *reinterpret_cast<const RealsAt*>(p);
  v.im = *reinterpret_cast<const RealsAt*>(p + kFourierLines);
}
/// Times w, if there is one.
static inline __attribute__((always_inline)) void write(const Complexes& v, const float* w, float* p) {
  *reinterpret_cast<RealsAt*>(p) = w ? v.re * w[0] - v.im * w[1] : v.re;
  *reinterpret_cast<RealsAt*>(p + kFourierLines) = w ? v.re * w[1] + v.im * w[0] : v.im;
}

/// work(x, y, w) for all numbers, eight lines at a time; w is null where it is 1.
template <class Work>
static inline __attribute__((always_inline)) void each_number(const FourierStep& s, const float* x, float* y,
                                                              Work work) {
  constexpr i64 kNumber = 2 * kFourierLines;
  for (i64 p = 0; p < s.p; ++p) {
    const float* w = p == 0 ? nullptr : s.w + p * (s.radix - 1) * 2;
    for (i64 q = 0; q < s.q; ++q)
      for (i64 l = 0; l < kFourierLines; l += 8)
        work(x + (p * s.q + q) * kNumber + l, y + (p * s.radix * s.q + q) * kNumber + l, w);
  }
}

static void fourier(const FourierStep& s, const float* x, float* y) {
  constexpr i64 kNumber = 2 * kFourierLines;
  const i64 from = s.p * s.q * kNumber, to = s.q * kNumber;  // from term to term
  const auto factor = [](const float* w, i64 j) { return w ? w + (j - 1) * 2 : w; };
  if (s.radix == 2)
    return each_number(
        s, x, y, [=](const float* at, float* put, const float* w) __attribute__((always_inline)) {
          Complexes a, b;
          read(at, a);
          read(at + from, b);
          write({a.re + b.re, a.im + b.im}, nullptr, put);
          write({a.re - b.re, a.im - b.im}, w, put + to);
        });
  if (s.radix == 4)
    return each_number(
        s, x, y, [=](const float* at, float* put, const float* w) __attribute__((always_inline)) {
          Complexes a, b, c, d;
          read(at, a);
          read(at + from, b);
          read(at + 2 * from, c);
          read(at + 3 * from, d);
          const Complexes e{a.re + c.re, a.im + c.im}, f{a.re - c.re, a.im - c.im}, g{b.re + d.re, b.im + d.im},
              h{b.im - d.im, d.re - b.re};  // times -i
          write({e.re + g.re, e.im + g.im}, nullptr, put);
          write({f.re + h.re, f.im + h.im}, factor(w, 1), put + to);
          write({e.re - g.re, e.im - g.im}, factor(w, 2), put + 2 * to);
          write({f.re - h.re, f.im - h.im}, factor(w, 3), put + 3 * to);
        });
  each_number(
      s, x, y, [=](const float* at, float* put, const float* w) __attribute__((always_inline)) {
        for (i64 j = 0; j < s.radix; ++j) {
          Complexes sum;
          read(at, sum);
          for (i64 t = 1, power = j; t < s.radix; ++t, power = power + j < s.radix ? power + j : power + j - s.radix) {
            Complexes v;
            read(at + t * from, v);
            const float c = s.root[2 * power], d = s.root[2 * power + 1];
            sum.re += v.re * c - v.im * d;
            sum.im += v.re * d + v.im * c;
          }
          write(sum, j == 0 ? nullptr : factor(w, j), put + j * to);
        }
      });
}
