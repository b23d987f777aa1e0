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

/// Of six points: 0, ±a, ±b and infinity. Those of Lavin and Gray, ±1 and ±2, round twice as much; a² and b² are exact.
/// Products at ±a are multiplied by a, those at ±b by b², with the filters, so that their output's transform needs no
/// more multiplications than that of ±1 and ±2.
struct SixPoints {
  static constexpr double a = 0.625, b = 1.5, a2 = a * a, b2 = b * b;

  [[gnu::always_inline]] static Vec constant(double x) { return spread(static_cast<float>(x)); }
  [[gnu::always_inline]] static void input(const Vec (&d)[6], Vec (&o)[6]) {
    const Vec minus_a2 = constant(-a2), minus_b2 = constant(-b2), minus_sum = constant(-a2 - b2),
              product = constant(a2 * b2);
    const Vec even_a = fma(minus_b2, d[2], d[4]), odd_a = fma(minus_b2, d[1], d[3]);
    const Vec even_b = fma(minus_a2, d[2], d[4]), odd_b = fma(minus_a2, d[1], d[3]);
    o[0] = fma(product, d[0], fma(minus_sum, d[2], d[4]));
    o[1] = fma(constant(a), odd_a, even_a);
    o[2] = fma(constant(-a), odd_a, even_a);
    o[3] = fma(constant(b), odd_b, even_b);
    o[4] = fma(constant(-b), odd_b, even_b);
    o[5] = fma(product, d[1], fma(minus_sum, d[3], d[5]));
  }
  /// Of so many taps.
  template <int kTaps>
  [[gnu::always_inline]] static void filter(const Vec (&d)[kTaps], Vec (&o)[6]) {
    const auto pair = [&](double at, double scale, Vec& plus, Vec& minus) __attribute__((always_inline)) {
      const Vec square = constant(at * at);
      Vec even = d[(kTaps - 1) / 2 * 2], odd = d[(kTaps - 2) / 2 * 2 + 1];
#pragma GCC unroll 4
      for (int t = (kTaps - 1) / 2 * 2 - 2; t >= 0; t -= 2) even = fma(square, even, d[t]);
#pragma GCC unroll 4
      for (int t = (kTaps - 2) / 2 * 2 - 1; t >= 1; t -= 2) odd = fma(square, odd, d[t]);
      plus = constant(scale) * fma(constant(at), odd, even);
      minus = constant(scale) * fma(constant(-at), odd, even);
    };
    o[0] = constant(1 / (a2 * b2)) * d[0];
    pair(a, 1 / (2 * a * (a2 - b2)), o[1], o[2]);
    pair(b, 1 / (2 * (b2 - a2)), o[3], o[4]);
    o[5] = d[kTaps - 1];
  }
  template <int kPixels>
  [[gnu::always_inline]] static void output(const Vec (&d)[6], Vec (&o)[kPixels]) {
    const Vec even_a = d[1] + d[2], odd_a = d[1] - d[2], even_b = d[3] + d[4], odd_b = d[3] - d[4];
    o[0] = fma(constant(1 / b2), even_b, fma(constant(1 / a), even_a, d[0]));
    o[1] = fma(constant(1 / b), odd_b, odd_a);
    if constexpr (kPixels > 2) o[2] = fma(constant(a), even_a, even_b);
    if constexpr (kPixels > 3) o[3] = fma(constant(a2), odd_a, fma(constant(b), odd_b, d[5]));
    else o[kPixels - 1] = o[kPixels - 1] + d[5];
  }
};

template <>
struct Winograd<WinogradTile::four> : SixPoints {};
template <>
struct Winograd<WinogradTile::four_taps> : SixPoints {};
template <>
struct Winograd<WinogradTile::five_taps> : SixPoints {};
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
