// What instruction sets without instructions for it compute so.

inline Vec near(Vec x) { return (x + spread(12582912.0f)) - spread(12582912.0f); }

/// By two halves of the power, so that results below the normal numbers round once and large ones become infinite.
inline Vec scaled(Vec x, Vec n) {
  using Int = int __attribute__((vector_size(4 * kWidth)));
  const Int whole = __builtin_convertvector(n, Int), half = whole >> 1;
  return x * (Vec)((half + 127) << 23) * (Vec)((whole - half + 127) << 23);
}

inline Vec inverse(Vec x) { return spread(1.0f) / x; }
