#include <cmath>
#include <limits>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/product/compressed.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

struct Case {
  i64 m, rows, groups, group;
  CodeKind kind;
  int bits;
  bool zero, one_scale;
};

/// The number of a code, by what the specification says of its type.
double number_of(int code, CodeKind kind, int bits, const Floats& levels) {
  switch (kind) {
    case CodeKind::whole: return code;
    case CodeKind::signed_whole: return code >= 1 << (bits - 1) ? code - (1 << bits) : code;
    case CodeKind::level:
    case CodeKind::f4e2m1: return levels[at(code)];
    case CodeKind::f8e4m3:
    case CodeKind::f8e5m2: break;
  }
  const int mantissa = kind == CodeKind::f8e4m3 ? 3 : 2, bias = kind == CodeKind::f8e4m3 ? 7 : 15;
  const int exponent = (code & 127) >> mantissa;
  const double fraction = (code & ((1 << mantissa) - 1)) / std::ldexp(1, mantissa);
  const auto magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return code & 128 ? -magnitude : magnitude;
}
/// Whether a code of 8 bits is no finite float.
bool is_odd(int code, CodeKind kind) {
  return (kind == CodeKind::f8e4m3 && (code & 127) == 127) || (kind == CodeKind::f8e5m2 && (code & 127) >= 124);
}

/// A matrix of codes, and what it stands for.
struct Matrix {
  std::vector<unsigned char> codes;
  Floats zero, scale, levels;
  std::vector<double> values;
  Codes b;

  explicit Matrix(const Case& c) {
    const auto columns = c.groups * c.group, bytes = columns * c.bits / 8;
    codes.resize(at(c.rows * bytes));
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<unsigned char>(i * 37 + i / 11);
      if (is_odd(codes[i], c.kind)) codes[i] = static_cast<unsigned char>(codes[i] & 0xf0);
    }
    levels = random_floats(16, 9);
    if (c.kind == CodeKind::f4e2m1) levels = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};
    zero = random_floats(c.rows * c.groups, 5, 0, 15);
    scale = random_floats(c.one_scale ? 1 : c.rows * c.groups, 6, 0.5F, 1.5F);
    b.rows = c.rows;
    b.columns = columns;
    b.first = {.codes = codes.data(),
               .row = bytes,
               .groups = c.groups,
               .group = c.group,
               .bits = c.bits,
               .kind = c.kind,
               .levels = levels.data(),
               .zero = c.zero ? zero.data() : nullptr,
               .scale = scale.data(),
               .zero_row = c.groups,
               .zero_group = 1,
               .scale_row = c.one_scale ? 0 : c.groups,
               .scale_group = c.one_scale ? 0 : 1};
    for (i64 r = 0; r < c.rows; ++r)
      for (i64 k = 0; k < columns; ++k) {
        const int code = c.bits == 8 ? codes[at(r * bytes + k)] : codes[at(r * bytes + k / 2)] >> (k % 2 * 4) & 15;
        const auto of = at(r * c.groups + k / c.group);
        const auto number = number_of(code, c.kind, c.bits, levels);
        values.push_back((number - (c.zero ? zero[of] : 0.0)) * scale[c.one_scale ? 0 : of]);
      }
  }
};

TEST_CASE("compressed product and rows: 4 and 8 bits, few rows and many") {
  ThreadPool one(1), four(4);
  constexpr auto u = CodeKind::whole, i = CodeKind::signed_whole, level = CodeKind::level;
  constexpr auto e2m1 = CodeKind::f4e2m1, e4m3 = CodeKind::f8e4m3, e5m2 = CodeKind::f8e5m2;
  const Case cases[] = {{1, 39, 3, 32, u, 4, true, false},      {2, 4, 1, 64, i, 4, false, true},
                        {3, 33, 2, 128, u, 8, true, false},     {1, 70, 1, 96, i, 8, false, false},
                        {6, 5, 4, 32, u, 4, false, false},      {1, 9, 3, 128, u, 4, true, false},
                        {2, 7, 2, 256, i, 4, true, false},      {1, 6, 1, 160, u, 4, true, false},
                        {1, 5, 5, 64, i, 8, true, false},       {1, 6, 3, 32, u, 8, true, true},
                        {1, 6, 3, 64, u, 4, true, true},        {1, 6, 3, 96, u, 8, true, false},
                        {7, 70, 3, 32, u, 4, true, false},      {40, 35, 2, 32, i, 8, true, true},
                        {1, 39, 3, 32, level, 4, false, false}, {2, 34, 1, 96, level, 4, false, true},
                        {9, 40, 2, 64, level, 4, false, false}, {1, 38, 3, 32, e4m3, 8, false, false},
                        {11, 35, 2, 64, e4m3, 8, false, true},  {3, 37, 2, 96, e5m2, 8, false, false},
                        {8, 33, 1, 32, e5m2, 8, false, false},  {1, 39, 3, 32, e2m1, 4, false, false},
                        {5, 33, 2, 128, e2m1, 4, false, true},  {1, 41, 1, 160, e2m1, 4, false, false},
                        {2, 6, 5, 64, e2m1, 4, false, false},   {7, 34, 2, 32, e2m1, 4, false, false},
                        {1, 37, 7, 32, i, 4, false, false},     {1, 37, 4, 128, i, 4, false, false},
                        {1, 38, 6, 32, u, 4, true, false},      {1, 37, 6, 16, u, 4, true, false},
                        {1, 38, 8, 16, e2m1, 4, false, false},  {2, 33, 10, 16, i, 8, true, false},
                        {1, 37, 4, 16, level, 4, false, false}, {9, 35, 6, 16, u, 4, true, true},
                        {8, 34, 4, 16, u, 8, true, false},      {1, 35, 36, 16, i, 4, false, false},
                        {16, 33, 3, 32, u, 4, true, false},     {14, 35, 2, 64, i, 8, false, false},
                        {13, 34, 3, 32, level, 4, false, true}, {6, 37, 1, 96, u, 8, true, true}};
  for_each_isa([&] {
    for (const auto& c : cases) {
      INFO(c.m << " x " << c.groups * c.group << " x " << c.rows << ", " << c.bits << " bits");
      const Matrix matrix(c);
      const auto& b = matrix.b;
      const auto a = random_floats(c.m * b.columns, 1), bias = random_floats(b.rows + 32, 2);
      std::vector<double> expected;
      double largest = 0;
      for (i64 i = 0; i < c.m; ++i)
        for (i64 r = 0; r < b.rows; ++r) {
          double sum = bias[at(r)], magnitude = 0;
          for (i64 k = 0; k < b.columns; ++k) {
            const auto term = a[at(i * b.columns + k)] * matrix.values[at(r * b.columns + k)];
            sum += term;
            magnitude += std::abs(term);
          }
          expected.push_back(sum);
          largest = std::max(largest, magnitude);
        }
      const Buffer scratch(compressed_scratch_size(b, b.by_rows(c.m), 4));
      Floats y(at(c.m * b.rows), 99.0F), again = y;
      compressed_product(b, b.by_rows(c.m), a.data(), y.data(), {.bias = bias.data()}, scratch.data(), four);
      CHECK(worst(y, expected, largest) < 1e-6);
      compressed_product(b, b.by_rows(c.m), a.data(), again.data(), {.bias = bias.data()}, scratch.data(), one);
      CHECK(again == y);

      const i64 index[] = {b.rows - 1, 0, -1, b.rows, -b.rows - 1};
      Floats rows(at(5 * b.columns), 99.0F);
      std::vector<double> picked;
      for (const auto i : index)
        for (i64 k = 0; k < b.columns; ++k)
          picked.push_back(-b.rows <= i && i < b.rows ? matrix.values[at((i + b.rows) % b.rows * b.columns + k)] : 0.0);
      compressed_rows(b, index, 5, rows.data(), four);
      CHECK(worst(rows, picked) < 1e-6);
    }
  });
}

TEST_CASE("compressed product: numbers that digits cannot hold") {
  ThreadPool one(1);
  for_each_isa([&] {
    for (const int bits : {4, 8}) {
      const Matrix matrix({1, 5, 2, 128, CodeKind::whole, bits, true, false});
      const auto& b = matrix.b;
      const Buffer scratch(compressed_scratch_size(b, b.by_rows(1), 1));
      const auto product = [&](float odd) {
        auto a = random_floats(b.columns, 1);
        a[7] = odd;
        Floats y(at(b.rows));
        compressed_product(b, b.by_rows(1), a.data(), y.data(), {}, scratch.data(), one);
        return y;
      };
      for (i64 r = 0; r < b.rows; ++r) {
        INFO(bits << " bits, row " << r);
        const auto weight = matrix.values[at(r * b.columns + 7)];
        const auto infinity = std::numeric_limits<float>::infinity();
        CHECK(std::isnan(product(std::nanf(""))[at(r)]));
        CHECK(product(infinity)[at(r)] == (weight < 0 ? -infinity : infinity));
        CHECK(std::abs(product(1e36F)[at(r)] - 1e36 * weight) < 1e31);
      }
      // Small ones beside large ones keep as many bits as their sum has.
      for (const float scale : {1e-38F, 1e-30F, 1e10F}) {
        auto a = random_floats(b.columns, 3);
        for (auto& x : a) x *= scale;
        Floats y(at(b.rows));
        compressed_product(b, b.by_rows(1), a.data(), y.data(), {}, scratch.data(), one);
        std::vector<double> expected;
        for (i64 r = 0; r < b.rows; ++r) {
          double sum = 0;
          for (i64 k = 0; k < b.columns; ++k) sum += double{a[at(k)]} * matrix.values[at(r * b.columns + k)];
          expected.push_back(sum);
        }
        CHECK(worst(y, expected) < 1e-5);
      }
    }
  });
}

}  // namespace
}  // namespace ovir::fast
