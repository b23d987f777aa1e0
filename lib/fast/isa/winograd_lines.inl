// Winograd's transforms of one line of vectors, after A. Lavin, S. Gray: "Fast Algorithms for Convolutional Neural
// Networks".

template <WinogradTile>
struct Winograd;

template <>
struct Winograd<WinogradTile::two> {
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

/// Its input's transform is that of F(2, 3), whose points it has.
template <>
struct Winograd<WinogradTile::two_taps> {
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
struct Winograd<WinogradTile::four> {
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

/// Of four taps, and of five, the points are those of F(4, 3): 0, 1, -1, 2, -2 and infinity; so is their inputs'
/// transform.
template <>
struct Winograd<WinogradTile::four_taps> {
  [[gnu::always_inline]] static void filter(const Vec (&d)[4], Vec (&o)[6]) {
    const Vec sixth = spread(1.0f / 6), two = spread(2), quarter = spread(0.25f);
    const Vec a = d[0] + d[2], b = d[1] + d[3], c = fma(quarter, d[0], d[2]), e = two * fma(quarter, d[1], d[3]);
    o[0] = quarter * d[0];
    o[1] = -sixth * (a + b);
    o[2] = -sixth * (a - b);
    o[3] = sixth * (c + e);
    o[4] = sixth * (c - e);
    o[5] = d[3];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[6], Vec (&o)[3]) {
    const Vec a = d[1] + d[2], b = d[1] - d[2], c = d[3] + d[4], e = d[3] - d[4];
    o[0] = (d[0] + a) + c;
    o[1] = fma(spread(2), e, b);
    o[2] = fma(spread(4), c, a) + d[5];
  }
};

template <>
struct Winograd<WinogradTile::five_taps> {
  [[gnu::always_inline]] static void filter(const Vec (&d)[5], Vec (&o)[6]) {
    const Vec sixth = spread(1.0f / 6), two = spread(2), four = spread(4), quarter = spread(0.25f);
    const Vec a = (d[0] + d[2]) + d[4], b = d[1] + d[3], c = fma(quarter, d[0], fma(four, d[4], d[2])),
              e = two * fma(quarter, d[1], d[3]);
    o[0] = quarter * d[0];
    o[1] = -sixth * (a + b);
    o[2] = -sixth * (a - b);
    o[3] = sixth * (c + e);
    o[4] = sixth * (c - e);
    o[5] = d[4];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[6], Vec (&o)[2]) {
    o[0] = (d[0] + (d[1] + d[2])) + (d[3] + d[4]);
    o[1] = fma(spread(2), d[3] - d[4], d[1] - d[2]) + d[5];
  }
};

template <>
struct Winograd<WinogradTile::line> : Winograd<WinogradTile::four> {};

/// Of stride 2: the first and the last tap read every other pixel, as F(4, 2), whose points are 0, 1, -1, 2 and
/// infinity; the tap between them reads the others, which are multiplied by it as they are.
template <>
struct Winograd<WinogradTile::strided> {
  [[gnu::always_inline]] static void input(const Vec (&d)[9], Vec (&o)[9]) {
    const Vec two = spread(2), a = d[2], b = d[4], c = d[6];
    o[0] = fma(two, d[0] - b, c - a);
    o[1] = fma(-two, a, c - b);
    o[2] = fma(two, a - b, c - b);
    o[3] = c - a;
    o[4] = fma(two, a - c, d[8] - b);
    o[5] = d[1];
    o[6] = d[3];
    o[7] = d[5];
    o[8] = d[7];
  }
  [[gnu::always_inline]] static void filter(const Vec (&d)[3], Vec (&o)[9]) {
    const Vec half = spread(0.5f), sixth = spread(1.0f / 6);
    o[0] = half * d[0];
    o[1] = -half * (d[0] + d[2]);
    o[2] = -sixth * (d[0] - d[2]);
    o[3] = sixth * (d[0] + (d[2] + d[2]));
    o[4] = d[2];
    o[5] = o[6] = o[7] = o[8] = d[1];
  }
  [[gnu::always_inline]] static void output(const Vec (&d)[9], Vec (&o)[4]) {
    const Vec a = d[1] + d[2], b = d[1] - d[2];
    o[0] = (d[0] + d[5]) + (a + d[3]);
    o[1] = fma(spread(2), d[3], b) + d[6];
    o[2] = fma(spread(4), d[3], a) + d[7];
    o[3] = fma(spread(8), d[3], b) + (d[4] + d[8]);
  }
};

template <>
struct Winograd<WinogradTile::strided_line> : Winograd<WinogradTile::strided> {};
