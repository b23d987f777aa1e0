#include "fast/kernels/elementwise/chain.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

using Shape = std::vector<i64>;

/// The element of an input of `shape` that element `index` of `out` reads.
i64 source(const Shape& shape, const Shape& out, i64 index) {
  i64 result = 0, stride = 1;
  for (std::size_t back = 1; back <= out.size(); ++back) {
    const auto d = out[out.size() - back], i = index % d;
    index /= d;
    if (back > shape.size()) continue;
    const auto own = shape[shape.size() - back];
    if (own != 1) result += i * stride;
    stride *= own;
  }
  return result;
}

// tanh(a·b + c) - a
const ChainProgram kProgram{3,
                            {{ChainStep::binary, {}, Binary::multiply, 0, 1},
                             {ChainStep::binary, {}, Binary::add, 3, 2},
                             {ChainStep::unary, {Function::tanh}, {}, 4, 0},
                             {ChainStep::binary, {}, Binary::subtract, 5, 0}}};

TEST_CASE("elementwise chain: broadcast operands") {
  ThreadPool one(1), four(4);
  struct Case {
    Shape a, b, c, out;
  };
  const Case cases[] = {
      {{5, 7}, {5, 7}, {5, 7}, {5, 7}},
      {{4000}, {1}, {}, {4000}},
      {{2, 48, 9, 9}, {48, 1, 1}, {1, 48, 1, 1}, {2, 48, 9, 9}},
      {{2, 3, 49, 16}, {1, 3, 1, 16}, {3, 1, 16}, {2, 3, 49, 16}},
      {{6, 300}, {300}, {6, 1}, {6, 300}},
      {{3, 1, 5}, {4, 1}, {5}, {3, 4, 5}},
      {{1}, {1}, {1}, {1}},
      {{}, {}, {}, {}},
      {{2, 0, 3}, {3}, {1}, {2, 0, 3}},
      {{70, 1, 600}, {2, 600}, {1, 2, 1}, {70, 2, 600}},
      {{1, 5}, {7, 1}, {2, 7, 5}, {2, 7, 5}},
  };
  for_each_isa([&] {
    for (const auto& c : cases) {
      const auto count = [](const Shape& s) {
        i64 n = 1;
        for (const auto d : s) n *= d;
        return n;
      };
      const auto a = random_floats(count(c.a), 1), b = random_floats(count(c.b), 2), d = random_floats(count(c.c), 3);
      const std::span<const i64> shapes[] = {c.a, c.b, c.c};
      const Chain chain(kProgram, shapes, c.out);
      Floats y(at(count(c.out))), again = y;
      const void* const inputs[] = {a.data(), b.data(), d.data()};
      chain.run(inputs, y.data(), four);
      for (i64 i = 0; i < count(c.out); ++i) {
        const double x = a[at(source(c.a, c.out, i))];
        const double expected = std::tanh(x * b[at(source(c.b, c.out, i))] + d[at(source(c.c, c.out, i))]) - x;
        REQUIRE(std::abs(y[at(i)] - expected) < 1e-6);
      }
      chain.run(inputs, again.data(), one);
      CHECK(again == y);
      if (c.a == c.out && count(c.out)) {
        auto over = a;
        const void* const same[] = {over.data(), b.data(), d.data()};
        chain.run(same, over.data(), four);
        CHECK(over == y);
      }
    }
  });
}

TEST_CASE("elementwise chain: every operation of two operands, NaN included") {
  for_each_isa([] {
    const float nan = std::nanf("");
    const Floats a{1, -2, nan, 4, 5, -6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, b(17, 3.0f);
    const auto run = [&](Binary f, i64 a_step, i64 b_step) {
      Floats y(17);
      isa().binary(f, a.data(), a_step, b.data(), b_step, y.data(), 17);
      return y;
    };
    CHECK(run(Binary::maximum, 1, 1)[1] == 3);
    CHECK(run(Binary::minimum, 1, 0)[16] == 3);
    CHECK(std::isnan(run(Binary::maximum, 1, 1)[2]));
    CHECK(std::isnan(run(Binary::minimum, 1, 1)[2]));
    CHECK(run(Binary::divide, 1, 1)[5] == -2);
    CHECK(run(Binary::squared_difference, 1, 1)[1] == 25);
    CHECK(run(Binary::prelu, 1, 1)[1] == -6);
    CHECK(run(Binary::subtract, 0, 1)[7] == -2);
    CHECK(run(Binary::multiply, 0, 0)[9] == 3);
  });
}

TEST_CASE("elementwise chain: programs that need too much do not fit") {
  CHECK(kProgram.fits());
  CHECK_FALSE(ChainProgram{1, {}}.fits());
  CHECK_FALSE(ChainProgram{1, {{ChainStep::unary, {}, {}, 1, 0}}}.fits());  // its own result
  ChainProgram wide{1, {}};
  for (int i = 0; i < 20; ++i) wide.steps.push_back({ChainStep::unary, {Function::linear, 1, 1}, {}, 0, 0});
  for (int i = 0; i < 19; ++i) wide.steps.push_back({ChainStep::binary, {}, Binary::add, i ? 20 + i : 1, 2 + i});
  CHECK_FALSE(wide.fits());
  ChainProgram deep{1, {}};
  for (int i = 0; i < 100; ++i) deep.steps.push_back({ChainStep::unary, {Function::linear, 1, 1}, {}, i, 0});
  CHECK(deep.fits());
}

}  // namespace
}  // namespace ovir::fast
