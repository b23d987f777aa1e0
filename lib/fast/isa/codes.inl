// Compressed weights: small integers that stand for floats. These need, beside Vec:
//   Ints, kWidth integers;  widened(p) of kWidth bytes, unsigned or signed;  floats(Ints);  Sixteen, a table of 16
//   floats, made by sixteen(p) and read by pick(table, ints), of whose integers only the lowest 4 bits count.

alignas(64) static constexpr float kCodes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
alignas(64) static constexpr float kSignedCodes[16] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};

/// What the 16 codes of a group of a row stand for.
static inline __attribute__((always_inline)) Sixteen meanings(const CodeRows& w, i64 row, i64 group) {
  const Vec zero = spread(w.zero ? w.zero[row * w.zero_row + group * w.zero_group] : 0.0f);
  const Vec scale = spread(w.scale[row * w.scale_row + group * w.scale_group]);
  const float* codes = w.is_signed ? kSignedCodes : kCodes;
  alignas(64) float values[16];
  for (i64 i = 0; i < 16; i += kWidth) store(values + i, (load(codes + i) - zero) * scale);
  return sixteen(values);
}

static inline __attribute__((always_inline)) Vec code_values(const CodeRows& w, const unsigned char* from) {
  return floats(w.is_signed ? widened(reinterpret_cast<const signed char*>(from)) : widened(from));
}

template <int R>
static void dot_nibbles(const CodeRows& w, const float* x, float* y) {
  const i64 half = w.group / 2, odd = w.groups * half;
  Vec sum[R][2];
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = Vec{};
  for (i64 g = 0; g < w.groups; ++g) {
    Sixteen values[R];
    for (int r = 0; r < R; ++r) values[r] = meanings(w, r, g);
    const float* at = x + g * half;
    const unsigned char* codes = w.codes + g * half;
    for (i64 i = 0; i < half; i += kWidth) {
      const Vec first = load(at + i), second = load(at + odd + i);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Ints both = widened(codes + r * w.row + i);
        sum[r][0] = fma(pick(values[r], both), first, sum[r][0]);
        sum[r][1] = fma(pick(values[r], both >> 4), second, sum[r][1]);
      }
    }
  }
  for (int r = 0; r < R; ++r) y[r] = add_lanes(sum[r][0] + sum[r][1]);
}

template <int R>
static void dot_bytes(const CodeRows& w, const float* x, float* y) {
  Vec total[R];
  for (int r = 0; r < R; ++r) total[r] = Vec{};
  for (i64 g = 0; g < w.groups; ++g) {
    Vec sum[R][2], zero[R];
    for (int r = 0; r < R; ++r) {
      sum[r][0] = sum[r][1] = Vec{};
      zero[r] = spread(w.zero ? w.zero[r * w.zero_row + g * w.zero_group] : 0.0f);
    }
    const float* at = x + g * w.group;
    const unsigned char* codes = w.codes + g * w.group;
    for (i64 i = 0; i < w.group; i += 2 * kWidth) {
      const Vec first = load(at + i), second = load(at + i + kWidth);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const unsigned char* from = codes + r * w.row + i;
        sum[r][0] = fma(code_values(w, from) - zero[r], first, sum[r][0]);
        sum[r][1] = fma(code_values(w, from + kWidth) - zero[r], second, sum[r][1]);
      }
    }
    for (int r = 0; r < R; ++r)
      total[r] = fma(spread(w.scale[r * w.scale_row + g * w.scale_group]), sum[r][0] + sum[r][1], total[r]);
  }
  for (int r = 0; r < R; ++r) y[r] = add_lanes(total[r]);
}

static void dot_codes(const CodeRows& w, int rows, const float* x, float* y) {
  const bool nibbles = w.bits == 4;
  switch (rows) {
    case 1: return nibbles ? dot_nibbles<1>(w, x, y) : dot_bytes<1>(w, x, y);
    case 2: return nibbles ? dot_nibbles<2>(w, x, y) : dot_bytes<2>(w, x, y);
    case 3: return nibbles ? dot_nibbles<3>(w, x, y) : dot_bytes<3>(w, x, y);
    default: return nibbles ? dot_nibbles<4>(w, x, y) : dot_bytes<4>(w, x, y);
  }
}

static void decode(const CodeRows& w, float* to) {
  for (i64 g = 0; g < w.groups; ++g, to += w.group) {
    if (w.bits == 4) {
      const Sixteen values = meanings(w, 0, g);
      const unsigned char* codes = w.codes + g * w.group / 2;
      for (i64 i = 0; i < w.group / 2; i += kWidth) {
        const Ints both = widened(codes + i);
        float first[kWidth], second[kWidth];
        store(first, pick(values, both));
        store(second, pick(values, both >> 4));
        for (i64 j = 0; j < kWidth; ++j) {
          to[2 * (i + j)] = first[j];
          to[2 * (i + j) + 1] = second[j];
        }
      }
    } else {
      const Vec zero = spread(w.zero ? w.zero[g * w.zero_group] : 0.0f), scale = spread(w.scale[g * w.scale_group]);
      for (i64 i = 0; i < w.group; i += kWidth)
        store(to + i, (code_values(w, w.codes + g * w.group + i) - zero) * scale);
    }
  }
}
