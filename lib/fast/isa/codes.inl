// Compressed weights: codes of 4 or 8 bits that stand for floats. These need, beside Vec:
//   Ints, kWidth integers;  widened(p) of kWidth bytes, unsigned or signed;  floats(Ints);
//   from_f8e4m3(p, to), from_f8e5m2(p, to): two vectors of floats of 8 bits;
//   Levels, 16 floats, of which levels.of(Ints) are those that the lowest four bits of integers are numbers of.

/// What a loop over rows will read after them, asked for as it goes: rows are too short for processors to foresee it.
/// Of short ones what comes after the next ones: from memory it takes longer than these.
struct NextRows {
  std::uintptr_t place;
  NextRows(const CodeRows& w, int rows)
      : place(reinterpret_cast<std::uintptr_t>(w.codes) +
              static_cast<std::uintptr_t>(rows * w.row < kCodesAhead ? kCodesAhead : rows * w.row)) {}
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

/// Of the groups that the codes of one step belong to, by lane: of numbers[0], then of numbers[1].
template <class Of>
[[gnu::always_inline]] inline void by_lane(const CodeRows& w, i64 byte, Vec (&to)[2], Of of) {
  float values[2][kWidth];
  for (i64 j = 0; j < 2; ++j)
    for (i64 l = 0; l < kWidth; ++l) {
      const i64 code = w.bits == 4 ? 2 * (byte + l) + j : byte + j * kWidth + l;
      values[j][l] = of(code / w.group);
    }
  for (int j = 0; j < 2; ++j) to[j] = load(values[j]);
}

/// The values of the codes of one step, of groups that may be less than it.
template <class Codes>
[[gnu::always_inline]] inline void read_short_groups(const Codes& codes, const CodeRows& w, i64 row, i64 byte,
                                                     Vec (&to)[2]) {
  Vec zeros[2], scales[2];
  by_lane(w, byte, zeros, [&](i64 group) { return zero_of(w, row, group); });
  by_lane(w, byte, scales, [&](i64 group) { return scale_of(w, row, group); });
  codes.read(w.codes + row * w.row + byte, to);
  for (int j = 0; j < 2; ++j) to[j] = (to[j] - zeros[j]) * scales[j];
}

/// From what the first vector of a step is multiplied by to what the second one is.
static inline i64 second_of(const CodeRows& w) { return w.bits == 4 ? w.groups * w.group / 2 : kWidth; }

/// Whether groups are less than what loops read at a time.
template <class Codes>
static bool has_short_groups(const CodeRows& w) {
  return w.group * w.bits / 8 < Codes::kBytes;
}

template <class Codes>
static void dot_short_groups(const Codes& codes, const CodeRows& w, i64 rows, const float* x, float* y) {
  const i64 bytes = w.groups * w.group * w.bits / 8, second = second_of(w);
  for (i64 r = 0; r < rows; ++r) {
    Vec sum{};
    for (i64 i = 0; i < bytes; i += Codes::kBytes) {
      Vec values[2];
      read_short_groups(codes, w, r, i, values);
      sum = fma(values[0], load(x + i), fma(values[1], load(x + second + i), sum));
    }
    y[r] = add_lanes(sum);
  }
}

/// The sum of products by a row of codes, zero points being taken off where there are sums of the other operand.
static inline float without_zeros(const CodeRows& w, i64 row, float sum, const float* sums) {
  for (i64 g = 0; w.zero && sums && g < w.groups; ++g) sum -= zero_of(w, row, g) * scale_of(w, row, g) * sums[g];
  return sum;
}

/// `kSubtract`: zero points are taken off each code, not off the sum.
template <int R, bool kSubtract, class Codes>
static void dot_rows(const Codes& codes, const CodeRows& w, const float* x, const float* sums, float* y) {
  const i64 group = w.group * w.bits / 8, second = second_of(w);
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
  for (int r = 0; r < R; ++r) y[r] = without_zeros(w, r, add_lanes(total[r]), sums);
}

static void dot_codes(const CodeRows& w, i64 rows, const LeftRows& left, float* y) {
  with_codes(w, [&]<class Codes>(const Codes& codes) {
    if (has_short_groups<Codes>(w)) return dot_short_groups(codes, w, rows, left.x, y);
    by_fours(rows, [&](i64 row, auto count) {
      const auto some = w.from(row);
      if (w.zero && !left.sums) dot_rows<count, true>(codes, some, left.x, nullptr, y + row);
      else dot_rows<count, false>(codes, some, left.x, left.sums, y + row);
    });
  });
}

/// Codes are decompressed once for M rows of the left operand.
template <int R, int M, class Codes>
static void dot_rows_by_rows(const Codes& codes, const CodeRows& w, const LeftRows& left, float* y, i64 y_row) {
  const i64 group = w.group * w.bits / 8, second = second_of(w);
  Vec total[R][M];
  for (auto& row : total)
    for (auto& t : row) t = Vec{};
  NextRows next(w, R);
  for (i64 g = 0; g < w.groups; ++g) {
    Vec sum[R][M];
    for (auto& row : sum)
      for (auto& s : row) s = Vec{};
    for (i64 i = g * group; i < (g + 1) * group; i += Codes::kBytes) {
      next.ask(R * static_cast<int>(Codes::kBytes));
#pragma GCC unroll 2
      for (int r = 0; r < R; ++r) {
        Vec numbers[2];
        codes.read(w.codes + r * w.row + i, numbers);
        for (int m = 0; m < M; ++m) sum[r][m] = fma(numbers[0], load(left.x + m * left.row + i), sum[r][m]);
        for (int m = 0; m < M; ++m) sum[r][m] = fma(numbers[1], load(left.x + m * left.row + second + i), sum[r][m]);
      }
    }
    for (int r = 0; r < R; ++r) {
      const Vec scale = spread(scale_of(w, r, g));
      for (int m = 0; m < M; ++m) total[r][m] = fma(scale, sum[r][m], total[r][m]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int m = 0; m < M; ++m) y[m * y_row + r] = without_zeros(w, r, add_lanes(total[r][m]), left.from(m, 1).sums);
}

static void dot_codes_by_rows(const CodeRows& w, i64 rows, const LeftRows& left, float* y, i64 y_row) {
  with_codes(w, [&]<class Codes>(const Codes& codes) {
    if (has_short_groups<Codes>(w)) {
      for (i64 i = 0; i < left.count; ++i) dot_short_groups(codes, w, rows, left.x + i * left.row, y + i * y_row);
      return;
    }
    const auto by = [&](i64 first, auto count) {
      const auto some = left.from(first, count);
      float* to = y + first * y_row;
      i64 row = 0;
      for (; row + 2 <= rows; row += 2) dot_rows_by_rows<2, count>(codes, w.from(row), some, to + row, y_row);
      if (row < rows) dot_rows_by_rows<1, count>(codes, w.from(row), some, to + row, y_row);
    };
    i64 done = 0;
    for (; left.count - done >= 6 && left.count - done != 8; done += 6) by(done, std::integral_constant<int, 6>());
    by_fours(left.count - done, [&](i64 first, auto count) { by(done + first, count); });
  });
}

/// In the order of the codes.
static void store_in_order(const CodeRows& w, const Vec (&numbers)[2], float* to) {
  if (w.bits == 8) {
    for (i64 j = 0; j < 2; ++j) store(to + j * kWidth, numbers[j]);
    return;
  }
  float values[2][kWidth];
  for (int j = 0; j < 2; ++j) store(values[j], numbers[j]);
  for (i64 l = 0; l < kWidth; ++l) {
    to[2 * l] = values[0][l];
    to[2 * l + 1] = values[1][l];
  }
}

static void decode(const CodeRows& w, float* to) {
  with_codes(w, [&]<class Codes>(const Codes& codes) {
    const i64 group = w.group * w.bits / 8;
    Vec numbers[2];
    if (has_short_groups<Codes>(w)) {
      for (i64 i = 0; i < w.groups * group; i += Codes::kBytes, to += 2 * kWidth) {
        read_short_groups(codes, w, 0, i, numbers);
        store_in_order(w, numbers, to);
      }
      return;
    }
    for (i64 g = 0; g < w.groups; ++g) {
      const Vec zero = spread(zero_of(w, 0, g)), scale = spread(scale_of(w, 0, g));
      for (i64 i = 0; i < group; i += Codes::kBytes, to += 2 * kWidth) {
        codes.read(w.codes + g * group + i, numbers);
        for (auto& n : numbers) n = (n - zero) * scale;
        store_in_order(w, numbers, to);
      }
    }
  });
}
