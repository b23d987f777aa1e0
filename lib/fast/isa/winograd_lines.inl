// Winograd's transforms for 3×3 filters, stride 1, of one line of vectors: F(2×2) and F(4×4), after A. Lavin, S. Gray:
// "Fast Algorithms for Convolutional Neural Networks".

template <int M>
struct Winograd;

template <>
struct Winograd<2> {
  [[gnu::always_inline]] static void input(const Vec (&d)[4], Vec (&o)[4]) {
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[1] - d[3];
  }
  [[gnu::always_inline]] static void filter(const Vec (&d)[3], Vec (&o)[4]) {
    const Vec half = spread(0.5f), a = d[0] + d[2];
    o[0] = d[0];
    o[1] = half * (a + d[1]);
    o[2] = half * (a - d[1]);
    o[3] = d[2];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[4], Vec (&o)[2]) {
    o[0] = (d[0] + d[1]) + d[2];
    o[1] = (d[1] - d[2]) - d[3];
  }
};

/// Of 2 taps: what it reads is transformed as for 2 pixels of 3 taps.
template <>
struct Winograd<3> {
  [[gnu::always_inline]] static void filter(const Vec (&d)[2], Vec (&o)[4]) {
    const Vec half = spread(0.5f);
    o[0] = d[0];
    o[1] = half * (d[0] + d[1]);
    o[2] = half * (d[0] - d[1]);
    o[3] = d[1];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[4], Vec (&o)[3]) {
    const Vec sum = d[1] + d[2];
    o[0] = d[0] + sum;
    o[1] = d[1] - d[2];
    o[2] = sum - d[3];
  }
};

template <>
struct Winograd<4> {
  [[gnu::always_inline]] static void input(const Vec (&d)[6], Vec (&o)[6]) {
    const Vec two = spread(2), four = spread(4), five = spread(5);
    const Vec a = fma(-four, d[2], d[4]), b = fma(-four, d[1], d[3]), c = d[4] - d[2], e = two * (d[3] - d[1]);
    o[0] = fma(four, d[0], fma(-five, d[2], d[4]));
    o[1] = a + b;
    o[2] = a - b;
    o[3] = c + e;
    o[4] = c - e;
    o[5] = fma(four, d[1], fma(-five, d[3], d[5]));
  }
  [[gnu::always_inline]] static void filter(const Vec (&d)[3], Vec (&o)[6]) {
    const Vec sixth = spread(1.0f / 6), a = d[0] + d[2], b = fma(spread(0.25f), d[0], d[2]), c = spread(0.5f) * d[1];
    o[0] = spread(0.25f) * d[0];
    o[1] = -sixth * (a + d[1]);
    o[2] = -sixth * (a - d[1]);
    o[3] = sixth * (b + c);
    o[4] = sixth * (b - c);
    o[5] = d[2];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[6], Vec (&o)[4]) {
    const Vec a = d[1] + d[2], b = d[1] - d[2], c = d[3] + d[4], e = d[3] - d[4];
    o[0] = (d[0] + a) + c;
    o[1] = fma(spread(2), e, b);
    o[2] = fma(spread(4), c, a);
    o[3] = fma(spread(8), e, b) + d[5];
  }
};
