// Compressed weights: small integers that stand for floats. These need, beside Vec:
//   Ints, kWidth integers;  widened(p) of kWidth bytes, unsigned or signed;  floats(Ints).

/// What a loop over rows will read after them, asked for as it goes: rows are too short for processors to foresee it.
struct NextRows {
  std::uintptr_t place;
  NextRows(const CodeRows& w, int rows)
      : place(reinterpret_cast<std::uintptr_t>(w.codes) + static_cast<std::uintptr_t>(rows * w.row)) {}
  [[gnu::always_inline]] void ask(int bytes) {
    for (int i = 0; i < bytes; i += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(place + static_cast<unsigned>(i)), 0, 2);
    place += static_cast<unsigned>(bytes);
  }
};

/// Codes of a byte each.
template <bool kSigned>
struct ByteCodes {
  static constexpr i64 kBytes = 2 * kWidth;  // that are read at a time
  [[gnu::always_inline]] static void read(const unsigned char* from, Vec (&to)[2]) {
    for (i64 j = 0; j < 2; ++j) to[j] = floats(bytes(from + j * kWidth));
  }
  [[gnu::always_inline]] static Ints bytes(const unsigned char* from) {
    if constexpr (kSigned) return widened(reinterpret_cast<const signed char*>(from));
    else return widened(from);
  }
};
/// Two in a byte: the first ones, then the second ones.
template <bool kSigned>
struct NibbleCodes {
  static constexpr i64 kBytes = kWidth;
  [[gnu::always_inline]] static void read(const unsigned char* from, Vec (&to)[2]) {
    const Ints both = widened(from);
    if constexpr (kSigned) {
      to[0] = floats(both << 28 >> 28);
      to[1] = floats(both << 24 >> 28);
    } else {
      to[0] = floats(both & 15);
      to[1] = floats(both >> 4);
    }
  }
};

/// Calls f.operator()<Codes>() for those of `w`.
template <class F>
static inline void with_codes(const CodeRows& w, F f) {
  if (w.bits == 4)
    w.is_signed ? f.template operator()<NibbleCodes<true>>() : f.template operator()<NibbleCodes<false>>();
  else w.is_signed ? f.template operator()<ByteCodes<true>>() : f.template operator()<ByteCodes<false>>();
}

static inline float zero_of(const CodeRows& w, i64 row, i64 group) {
  return w.zero ? w.zero[row * w.zero_row + group * w.zero_group] : 0.0f;
}
static inline float scale_of(const CodeRows& w, i64 row, i64 group) {
  return w.scale[row * w.scale_row + group * w.scale_group];
}

template <int R, class Codes>
static void dot_rows(const CodeRows& w, const float* x, float* y) {
  const i64 group = w.group * w.bits / 8;  // bytes
  // Of what the second vector that is read belongs to, and from one step to the next.
  const i64 second = w.bits == 4 ? w.groups * group : kWidth;
  Vec total[R];
  for (int r = 0; r < R; ++r) total[r] = Vec{};
  NextRows next(w, R);
  for (i64 g = 0; g < w.groups; ++g) {
    Vec sum[R][2], zero[R];
    for (int r = 0; r < R; ++r) {
      sum[r][0] = sum[r][1] = Vec{};
      zero[r] = spread(zero_of(w, r, g));
    }
    for (i64 i = g * group; i < (g + 1) * group; i += Codes::kBytes) {
      const Vec a = load(x + i), b = load(x + second + i);
      next.ask(R * static_cast<int>(Codes::kBytes));
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        Vec codes[2];
        Codes::read(w.codes + r * w.row + i, codes);
        sum[r][0] = fma(codes[0] - zero[r], a, sum[r][0]);
        sum[r][1] = fma(codes[1] - zero[r], b, sum[r][1]);
      }
    }
    for (int r = 0; r < R; ++r) total[r] = fma(spread(scale_of(w, r, g)), sum[r][0] + sum[r][1], total[r]);
  }
  for (int r = 0; r < R; ++r) y[r] = add_lanes(total[r]);
}

static void dot_codes(const CodeRows& w, int rows, const float* x, float* y) {
  with_codes(w, [&]<class Codes>() {
    switch (rows) {
      case 1: return dot_rows<1, Codes>(w, x, y);
      case 2: return dot_rows<2, Codes>(w, x, y);
      case 3: return dot_rows<3, Codes>(w, x, y);
      default: return dot_rows<4, Codes>(w, x, y);
    }
  });
}

static void decode(const CodeRows& w, float* to) {
  with_codes(w, [&]<class Codes>() {
    const i64 group = w.group * w.bits / 8;
    for (i64 g = 0; g < w.groups; ++g) {
      const Vec zero = spread(zero_of(w, 0, g)), scale = spread(scale_of(w, 0, g));
      for (i64 i = 0; i < group; i += Codes::kBytes, to += 2 * kWidth) {
        Vec codes[2];
        Codes::read(w.codes + g * group + i, codes);
        float values[2][kWidth];
        for (int j = 0; j < 2; ++j) store(values[j], (codes[j] - zero) * scale);
        if (w.bits == 8) {
          for (i64 j = 0; j < 2; ++j) store(to + j * kWidth, load(values[j]));
        } else {
          for (i64 j = 0; j < kWidth; ++j) {
            to[2 * j] = values[0][j];
            to[2 * j + 1] = values[1][j];
          }
        }
      }
    }
  });
}
