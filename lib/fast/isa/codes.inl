// Compressed weights: codes of 4 or 8 bits that stand for floats. These need, beside Vec:
//   Ints, kWidth integers;  widened(p) of kWidth bytes, unsigned or signed;  floats(Ints);
//   from_f8e4m3(p, to), from_f8e5m2(p, to): two vectors of floats of 8 bits;
//   Levels, 16 floats, of which levels.of(Ints) are those that the lowest four bits of integers are numbers of.

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
struct ByteCodes {
  static constexpr i64 kBytes = 2 * kWidth;  // that are read at a time
};
template <bool kSigned>
struct WholeBytes : ByteCodes {
  explicit WholeBytes(const CodeRows&) {}
  [[gnu::always_inline]] void read(const unsigned char* from, Vec (&to)[2]) const {
    for (i64 j = 0; j < 2; ++j) to[j] = floats(bytes(from + j * kWidth));
  }
  [[gnu::always_inline]] static Ints bytes(const unsigned char* from) {
    if constexpr (kSigned) return widened(reinterpret_cast<const signed char*>(from));
    else return widened(from);
  }
};
template <bool kMoreExponent>
struct FloatBytes : ByteCodes {
  explicit FloatBytes(const CodeRows&) {}
  [[gnu::always_inline]] void read(const unsigned char* from, Vec (&to)[2]) const {
    if constexpr (kMoreExponent) from_f8e5m2(from, to);
    else from_f8e4m3(from, to);
  }
};
/// Two in a byte: the first ones, then the second ones.
struct NibbleCodes {
  static constexpr i64 kBytes = kWidth;
};
template <bool kSigned>
struct WholeNibbles : NibbleCodes {
  explicit WholeNibbles(const CodeRows&) {}
  [[gnu::always_inline]] void read(const unsigned char* from, Vec (&to)[2]) const {
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
struct LevelNibbles : NibbleCodes {
  Levels levels;
  explicit LevelNibbles(const CodeRows& w) : levels(w.levels) {}
  [[gnu::always_inline]] void read(const unsigned char* from, Vec (&to)[2]) const {
    const Ints both = widened(from);
    to[0] = levels.of(both);
    to[1] = levels.of(both >> 4);
  }
};

/// f(codes) for those of `w`.
template <class F>
static inline void with_codes(const CodeRows& w, F f) {
  switch (w.kind) {
    case CodeKind::whole: return w.bits == 4 ? f(WholeNibbles<false>(w)) : f(WholeBytes<false>(w));
    case CodeKind::signed_whole: return w.bits == 4 ? f(WholeNibbles<true>(w)) : f(WholeBytes<true>(w));
    case CodeKind::level:
    case CodeKind::f4e2m1: return f(LevelNibbles(w));
    case CodeKind::f8e4m3: return f(FloatBytes<false>(w));
    case CodeKind::f8e5m2: return f(FloatBytes<true>(w));
  }
}

static inline float zero_of(const CodeRows& w, i64 row, i64 group) {
  return w.zero ? w.zero[row * w.zero_row + group * w.zero_group] : 0.0f;
}
static inline float scale_of(const CodeRows& w, i64 row, i64 group) {
  return w.scale[row * w.scale_row + group * w.scale_group];
}

/// `kSubtract`: zero points are taken off each code, not off the sum.
template <int R, bool kSubtract, class Codes>
static void dot_rows(const Codes& codes, const CodeRows& w, const float* x, const float* sums, float* y) {
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
      if (kSubtract) zero[r] = spread(zero_of(w, r, g));
    }
    for (i64 i = g * group; i < (g + 1) * group; i += Codes::kBytes) {
      const Vec a = load(x + i), b = load(x + second + i);
      next.ask(R * static_cast<int>(Codes::kBytes));
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        Vec numbers[2];
        codes.read(w.codes + r * w.row + i, numbers);
        if (kSubtract)
          for (auto& n : numbers) n -= zero[r];
        sum[r][0] = fma(numbers[0], a, sum[r][0]);
        sum[r][1] = fma(numbers[1], b, sum[r][1]);
      }
    }
    for (int r = 0; r < R; ++r) total[r] = fma(spread(scale_of(w, r, g)), sum[r][0] + sum[r][1], total[r]);
  }
  for (int r = 0; r < R; ++r) {
    y[r] = add_lanes(total[r]);
    for (i64 g = 0; sums && g < w.groups; ++g) y[r] -= zero_of(w, r, g) * scale_of(w, r, g) * sums[g];
  }
}

static void dot_codes(const CodeRows& w, i64 rows, const float* x, const float* sums, float* y) {
  with_codes(w, [&](const auto& codes) {
    by_fours(rows, [&](i64 row, auto count) {
      const auto some = w.from(row);
      if (w.zero && !sums) dot_rows<count, true>(codes, some, x, nullptr, y + row);
      else dot_rows<count, false>(codes, some, x, sums, y + row);
    });
  });
}

static void decode(const CodeRows& w, float* to) {
  with_codes(w, [&]<class Codes>(const Codes& codes) {
    const i64 group = w.group * w.bits / 8;
    for (i64 g = 0; g < w.groups; ++g) {
      const Vec zero = spread(zero_of(w, 0, g)), scale = spread(scale_of(w, 0, g));
      for (i64 i = 0; i < group; i += Codes::kBytes, to += 2 * kWidth) {
        Vec numbers[2];
        codes.read(w.codes + g * group + i, numbers);
        float values[2][kWidth];
        for (int j = 0; j < 2; ++j) store(values[j], (numbers[j] - zero) * scale);
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
