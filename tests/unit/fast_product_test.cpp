#include "fast/kernels/product/dots.hpp"
#include "fast/kernels/product/once.hpp"
#include "fast/kernels/product/packed.hpp"
#include "kernels.hpp"
#include "tensor/tensor.hpp"

namespace ovir::fast {
namespace {

struct Case {
  i64 m, k, n;
  Unary activation;
  bool bias, residual, residual_last, transposed;
};

std::vector<double> naive(const Case& c, const Floats& a, const Floats& b, const Floats& bias, const Floats& residual) {
  std::vector<double> out(at(c.m * c.n));
  for (i64 i = 0; i < c.m; ++i)
    for (i64 j = 0; j < c.n; ++j) {
      double sum = c.bias ? bias[at(j)] : 0.0;
      for (i64 p = 0; p < c.k; ++p)
        sum += static_cast<double>(a[at(i * c.k + p)]) * b[at(c.transposed ? j * c.k + p : p * c.n + j)];
      const double r = c.residual ? residual[at(i * c.n + j)] : 0.0;
      if (!c.residual_last) sum += r;
      if (c.activation.f == Function::clamp) sum = std::clamp<double>(sum, c.activation.a, c.activation.b);
      if (c.activation.f == Function::tanh) sum = std::tanh(sum);
      if (c.activation.f == Function::prelu && sum < 0) sum *= bias[at(j)];
      if (c.residual_last) sum += r;
      out[at(i * c.n + j)] = sum;
    }
  return out;
}

TEST_CASE("packed product: odd sizes, epilogues, any number of threads") {
  ThreadPool one(1), four(4);
  const Unary none{}, relu{Function::clamp, 0, 1e30f}, tanh{Function::tanh}, prelu{Function::prelu};
  const Case cases[] = {
      {1, 1, 1, none, false, false, false, false},    {1, 768, 1000, none, true, false, false, true},
      {7, 33, 50, relu, true, true, false, false},    {13, 17, 16, relu, true, true, true, true},
      {29, 64, 48, tanh, true, true, false, false},   {100, 100, 100, tanh, false, true, true, true},
      {15, 3000, 40, relu, true, true, false, true},  {15, 3000, 40, tanh, true, true, true, false},
      {33, 2000, 70, relu, true, true, true, false},  {300, 5, 130, prelu, true, true, false, false},
      {200, 300, 64, none, true, false, false, true}, {9, 40, 530, tanh, true, true, true, true},
      {8, 9000, 20, relu, true, true, false, true},   {3, 0, 20, none, true, false, false, false},
      {20, 1024, 520, relu, true, true, false, true}, {9, 2048, 513, tanh, true, true, true, false},
  };
  for_each_isa([&] {
    for (const auto& c : cases) {
      INFO(c.m << " x " << c.k << " x " << c.n);
      const auto a = random_floats(c.m * c.k, 1), b = random_floats(c.k * c.n, 2), bias = random_floats(c.n + 32, 3),
                 residual = random_floats(c.m * c.n, 4);
      const Buffer packed(panels_size(c.k, c.n));
      pack_panels(b.data(), c.transposed ? 1 : c.n, c.transposed ? c.k : 1, c.k, c.n, packed.data(), four);
      const Epilogue epilogue{.bias = c.bias ? bias.data() : nullptr,
                              .activation = c.activation,
                              .slopes = c.activation.f == Function::prelu ? bias.data() : nullptr,
                              .residual = c.residual ? residual.data() : nullptr,
                              .residual_last = c.residual_last};
      Floats y(at(c.m * c.n), 99.0f), again = y;
      const Buffer spread(spread_rows_size(c.m, c.n, c.k));
      const auto rows = spread_rows(a.data(), c.m, c.n, c.k, spread.data(), four);
      product({packed.data(), c.k, c.n}, rows.data, rows.apart, y.data(), c.n, c.m, epilogue, four);
      // Rounding errors of a sum of k products of numbers below 1.
      CHECK(worst(y, naive(c, a, b, bias, residual), 1) < 2e-7 * static_cast<double>(c.k + 10));
      product({packed.data(), c.k, c.n}, a.data(), c.k, again.data(), c.n, c.m, epilogue, one);
      CHECK(again == y);
      if (!c.transposed) continue;
      const auto once = [&](ThreadPool& pool, Floats& to) {
        const Buffer scratch(product_once_scratch_size(c.m, c.n, c.k, pool.threads()));
        product_once(b.data(), a.data(), to.data(), c.m, c.n, c.k, epilogue, scratch.data(), pool);
      };
      std::fill(y.begin(), y.end(), 99.0f);
      once(four, y);
      CHECK(worst(y, naive(c, a, b, bias, residual), 1) < 2e-7 * static_cast<double>(c.k + 10));
      once(one, again);
      CHECK(again == y);
    }
  });
}

TEST_CASE("product of few rows: large matrices, which the first product copies") {
  ThreadPool one(1), two(2), four(4);
  for (const auto& [m, k, n] : {std::array<i64, 3>{1, 1040, 300}, {4, 515, 700}, {3, 7, 2}}) {
    const auto a = random_floats(m * k, 1), b = random_floats(n * k, 2), bias = random_floats(round_up(n, kColumns), 3);
    const auto expected = naive({m, k, n, {}, true, false, false, true}, a, b, bias, {});
    const Epilogue epilogue{.bias = bias.data()};
    for_each_isa([&] {
      Floats c(at(m * n)), again(at(m * n)), copy(at(n * k));
      product_of_dots(a.data(), b.data(), c.data(), m, n, k, epilogue, one);
      CHECK(worst(c, expected) <= 2e-6);
      for (auto* pool : {&one, &two, &four}) {
        product_of_dots(a.data(), b.data(), again.data(), m, n, k, epilogue, *pool);
        CHECK(again == c);
        std::fill(copy.begin(), copy.end(), 0.0f);
        product_and_copy(a.data(), b.data(), copy.data(), again.data(), m, n, k, epilogue, *pool);
        CHECK(again == c);
        CHECK(copy == b);
      }
    });
  }
}

TEST_CASE("product of few rows by a matrix of f16 or bf16") {
  ThreadPool one(1), two(2);
  for (const auto& [m, k, n] : {std::array<i64, 3>{1, 1040, 300}, {4, 515, 70}, {3, 7, 2}, {9, 131, 66}}) {
    const auto a = random_floats(m * k, 1), bias = random_floats(round_up(n, kColumns), 3);
    const auto given = Tensor::of<float>(ElementType::f32, {n, k}, random_floats(n * k, 2));
    const Epilogue epilogue{.bias = bias.data()};
    for (const auto type : {ElementType::f16, ElementType::bf16}) {
      const auto b = convert(given, type), wide = convert(b, ElementType::f32);
      const Floats rounded(wide.values<float>().begin(), wide.values<float>().end());
      const auto expected = naive({m, k, n, {}, true, false, false, true}, a, rounded, bias, {});
      for_each_isa([&] {
        Floats c(at(m * n)), again(at(m * n));
        product_of_dots(a.data(), NarrowWeights{type, b.bytes()}, c.data(), m, n, k, epilogue, one);
        CHECK(worst(c, expected) <= 2e-6);
        product_of_dots(a.data(), NarrowWeights{type, b.bytes()}, again.data(), m, n, k, epilogue, two);
        CHECK(again == c);
      });
    }
  }
}

TEST_CASE("packed product: rows apart, and over its own residual") {
  ThreadPool pool(2);
  const i64 m = 31, k = 40, n = 45, a_row = 50, c_row = 64;
  const auto a = random_floats(m * a_row, 1), b = random_floats(k * n, 2), start = random_floats(m * c_row, 3);
  const Buffer packed(panels_size(k, n));
  pack_panels(b.data(), n, 1, k, n, packed.data(), pool);
  for_each_isa([&] {
    auto c = start;
    product({packed.data(), k, n}, a.data(), a_row, c.data(), c_row, m, {.residual = c.data()}, pool);
    for (i64 i = 0; i < m; ++i)
      for (i64 j = 0; j < c_row; ++j) {
        double sum = start[at(i * c_row + j)];
        if (j < n)
          for (i64 p = 0; p < k; ++p) sum += static_cast<double>(a[at(i * a_row + p)]) * b[at(p * n + j)];
        REQUIRE(std::abs(c[at(i * c_row + j)] - sum) < 1e-5);
      }
  });
}

}  // namespace
}  // namespace ovir::fast
