// Products, convolutions and pooling in bf16, on operands that bf16 has: sums differ from those in double precision by
// the rounding of f32, results by half a unit of bf16.
#include "convolutions.hpp"
#include "fast/kernels/convolution/winograd_bf16.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "fast/kernels/product/bf16.hpp"

namespace ovir::fast {
namespace {

using Halves = std::vector<std::uint16_t>;

Halves halves(const Floats& x) {
  Halves to(x.size());
  narrow_isa().to_bf16(x.data(), to.data(), static_cast<i64>(x.size()));
  return to;
}
Floats floats(const Halves& x) {
  Floats to(x.size());
  narrow_isa().from_bf16(x.data(), to.data(), static_cast<i64>(x.size()));
  return to;
}
Floats random_bf16(i64 n, unsigned seed) { return floats(halves(random_floats(n, seed))); }

/// 2^-9 of a result up to 8, and some rounding in f32.
constexpr double kHalfUnit = 8.0 / 512 * 1.01;

TEST_CASE("bf16: rounds to nearest, halves to even, keeps NaN and infinities") {
  const float inf = std::numeric_limits<float>::infinity();
  const Floats given{1.0f, 1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f, inf, -inf, 0.0f, 1.003907f};
  const Floats expected{1.0f, 1.0f, 1.015625f, -1.0f, inf, inf, -inf, 0.0f, 1.0078125f};
  for_each_isa([&] {
    CHECK(floats(halves(given)) == expected);
    CHECK(std::isnan(floats(halves({std::numeric_limits<float>::quiet_NaN()}))[0]));
    Floats many(33, 1.01171875f);
    CHECK(floats(halves(many)) == Floats(33, 1.015625f));
  });
}

TEST_CASE("bf16 product: odd sizes, epilogues, any number of threads") {
  ThreadPool one(1), four(4);
  struct Case {
    i64 m, k, n;
    Unary activation;
    bool bias, residual, residual_last;
  };
  const Unary none{}, relu{Function::clamp, 0, 1e30f}, tanh{Function::tanh};
  const Case cases[] = {{1, 1, 1, none, false, false, false},     {1, 768, 1000, none, true, false, false},
                        {7, 33, 50, relu, true, true, false},     {13, 17, 32, relu, true, true, true},
                        {29, 64, 48, tanh, true, true, false},    {100, 99, 100, tanh, true, true, true},
                        {300, 300, 64, none, true, false, false}, {3, 0, 20, none, false, false, false}};
  for_each_isa([&] {
    for (const auto& c : cases) {
      INFO(c.m << " x " << c.k << " x " << c.n);
      const auto a = random_bf16(c.m * c.k, 1), b = random_bf16(c.k * c.n, 2), bias = random_floats(c.n + 64, 3),
                 residual = random_bf16(c.m * c.n, 4);
      const Buffer panels(bf16_panels_size(c.k, c.n)), rows(c.m * bf16_words(c.k));
      pack_bf16_panels(b.data(), c.n, 1, c.k, c.n, words(panels));
      rows_to_bf16(a.data(), c.k, c.k, c.m, words(rows), four);
      const Epilogue e{
          .bias = c.bias ? bias.data() : nullptr, .activation = c.activation, .residual_last = c.residual_last};
      std::vector<double> expected(at(c.m * c.n));
      for (i64 i = 0; i < c.m; ++i)
        for (i64 j = 0; j < c.n; ++j) {
          double sum = c.bias ? bias[at(j)] : 0.0;
          for (i64 p = 0; p < c.k; ++p) sum += static_cast<double>(a[at(i * c.k + p)]) * b[at(p * c.n + j)];
          const double r = c.residual ? residual[at(i * c.n + j)] : 0.0;
          if (!c.residual_last) sum += r;
          if (c.activation.f == Function::clamp) sum = std::max(sum, 0.0);
          if (c.activation.f == Function::tanh) sum = std::tanh(sum);
          expected[at(i * c.n + j)] = c.residual_last ? sum + r : sum;
        }
      const auto narrow_residual = halves(residual);
      auto wide_residual = residual;
      const auto run = [&](bool narrow, Floats& to, ThreadPool& pool) {
        Halves half(to.size(), 0x7777);
        Bf16Place out, plus;
        if (narrow) out = {.narrow = half.data(), .pixel = c.n};
        else out = {.wide = to.data(), .pixel = c.n};
        if (c.residual && narrow) plus = {.narrow = const_cast<std::uint16_t*>(narrow_residual.data()), .pixel = c.n};
        if (c.residual && !narrow) plus = {.wide = wide_residual.data(), .pixel = c.n};
        product({words(panels), c.k, c.n}, words(rows), out, c.m, e, plus, pool);
        if (narrow) to = floats(half);
      };
      for (const bool narrow : {false, true}) {
        Floats y(at(c.m * c.n), 99.0f), again = y;
        run(narrow, y, four);
        run(narrow, again, one);
        CHECK(y == again);
        CHECK(worst(y, expected, 1) < 2e-7 * static_cast<double>(c.k + 10) + (narrow ? 8 * kHalfUnit : 0));
      }
    }
  });
}

TEST_CASE("bf16 product of few rows: odd sizes, any number of threads") {
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const auto& [k, n] : {std::pair<i64, i64>{1, 1}, {33, 50}, {14, 64}, {0, 20}, {515, 1000}, {768, 2080}})
      for (i64 m = 1; m <= Bf16FewRows::kMost; ++m)
        for (const bool biased : {false, true}) {
          INFO(m << " x " << k << " x " << n);
          const auto a = random_bf16(m * k, 1), b = random_bf16(k * n, 2), bias = random_floats(n + 64, 3);
          const Buffer panels(bf16_panels_size(k, n)), rows(m * bf16_words(k));
          pack_bf16_panels(b.data(), n, 1, k, n, words(panels));
          rows_to_bf16(a.data(), k, k, m, words(rows), one);
          std::vector<double> expected(at(m * n));
          for (i64 i = 0; i < m; ++i)
            for (i64 j = 0; j < n; ++j) {
              auto& sum = expected[at(i * n + j)] = biased ? bias[at(j)] : 0.0;
              for (i64 p = 0; p < k; ++p) sum += static_cast<double>(a[at(i * k + p)]) * b[at(p * n + j)];
            }
          const auto run = [&](ThreadPool& pool) {
            Floats y(at(m * n), 99.0f);
            product_of_few({words(panels), k, n}, words(rows), biased ? bias.data() : nullptr, y.data(), m, pool);
            return y;
          };
          const auto y = run(four);
          CHECK(y == run(one));
          CHECK(worst(y, expected, 1) < 2e-7 * static_cast<double>(k + 10));
        }
  });
}

TEST_CASE("bf16 convolution: pointwise, direct, of images, strides, dilations, groups, residuals") {
  ThreadPool one(1), four(4);
  const Unary relu{Function::clamp, 0, 1e30f}, sigmoid{Function::sigmoid}, gelu{Function::gelu_erf};
  const ConvolutionShape shapes[] = {shape(1, 1, 64, 64, 7, 7, 1, 1, 0),      shape(2, 1, 40, 70, 9, 9, 1, 1, 0),
                                     shape(1, 1, 24, 16, 15, 15, 1, 1, 0),    shape(1, 1, 64, 33, 8, 4, 1, 2, 0),
                                     shape(2, 1, 33, 48, 9, 9, 3, 1, 1),      shape(1, 1, 96, 32, 14, 7, 3, 2, 1),
                                     shape(1, 1, 16, 20, 11, 11, 3, 1, 2, 2), shape(2, 1, 3, 40, 30, 15, 7, 2, 3),
                                     shape(1, 1, 1, 6, 12, 8, 5, 1, 0),       shape(1, 1, 64, 32, 80, 80, 3, 1, 1),
                                     shape(1, 1, 5, 8, 6, 6, 3, 1, 1),        shape(2, 1, 1, 40, 30, 15, 7, 2, 3),
                                     shape(1, 1, 1, 33, 9, 170, 3, 2, 1),     shape(2, 1, 70, 33, 4, 4, 3, 1, 1),
                                     shape(2, 1, 64, 40, 7, 7, 3, 1, 1),      shape(1, 1, 64, 32, 2, 2, 3, 1, 1),
                                     shape(2, 1, 64, 64, 28, 28, 3, 1, 1),    shape(1, 3, 48, 48, 9, 9, 3, 1, 1),
                                     shape(2, 8, 64, 64, 8, 4, 3, 2, 1),      shape(1, 2, 80, 48, 7, 7, 3, 1, 1),
                                     shape(2, 5, 200, 200, 14, 14, 3, 1, 1),  shape(1, 3, 96, 96, 60, 30, 3, 2, 1),
                                     shape(1, 5, 120, 120, 7, 7, 3, 1, 1),    shape(1, 8, 64, 64, 40, 40, 3, 1, 1),
                                     shape(1, 5, 80, 160, 6, 6, 1, 1, 0),     shape(1, 2, 16, 64, 9, 9, 5, 1, 2),
                                     row(2, 64, 70, 801, 400, 3, 2, 0),       row(1, 40, 33, 300, 300, 3, 1, 1),
                                     row(1, 70, 48, 900, 300, 5, 3, 2),       row(1, 32, 32, 600, 298, 3, 2, 0, 2)};
  for_each_isa([&] {
    for (const auto& s : shapes) {
      INFO(s.channels << " of " << s.width << " to " << s.outputs << " kernel " << s.kernel_width);
      const NarrowGeometry g(s, 2);
      const auto in = random_bf16(s.batch * s.channels * s.plane(), 1),
                 filters = random_bf16(s.outputs * s.group_channels() * s.taps(), 2);
      auto bias = random_floats(round_up(s.outputs, 32) + 32, 3);
      std::fill(bias.begin() + s.outputs, bias.end(), 0.0f);
      const Buffer packed(g.filters_size()), blocked(s.batch * bf16_blocks(s.channels) * s.plane() * kBlock),
          scratch(g.scratch_size(4));
      bf16_pack(g, filters.data(), words(packed), four);
      to_bf16_blocked(in.data(), false, words(blocked), s.batch, s.channels, s.plane(), four);
      const auto sums = naive(s, in, filters);
      const auto size = s.batch * bf16_blocks(s.outputs) * s.out_plane() * kBlock;
      const auto residual = random_bf16(s.batch * s.outputs * s.out_plane(), 5);
      const Buffer plus(size);
      to_bf16_blocked(residual.data(), false, words(plus), s.batch, s.outputs, s.out_plane(), four);
      for (const auto& activation : {Unary{}, relu, sigmoid, gelu})
        for (const bool adds : {false, true}) {
          auto expected = sums;
          for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] += bias[i / at(s.out_plane()) % at(s.outputs)] + (adds ? residual[i] : 0.0);
            if (activation.f == Function::clamp) expected[i] = std::max(expected[i], 0.0);
            if (activation.f == Function::sigmoid) expected[i] = 1 / (1 + std::exp(-expected[i]));
            if (activation.f == Function::gelu_erf) expected[i] *= 0.5 * (1 + std::erf(expected[i] / std::sqrt(2.0)));
          }
          const Epilogue e{.bias = bias.data(), .activation = activation};
          const Bf16Blocked second =
              adds ? Bf16Blocked{.narrow = reinterpret_cast<std::uint16_t*>(plus.data())} : Bf16Blocked{};
          const void* from = g.image ? static_cast<const void*>(in.data()) : blocked.data();
          const auto run = [&](ThreadPool& pool) {
            const Buffer out(size);
            bf16_convolution(g, words(packed), from, {.narrow = reinterpret_cast<std::uint16_t*>(out.data())}, second,
                             e, words(scratch), pool);
            Floats plain(expected.size());
            from_bf16_blocked(words(out), plain.data(), false, s.batch, s.outputs, s.out_plane(), pool);
            return plain;
          };
          const auto got = run(four);
          CHECK(got == run(one));
          // Half a unit of the result itself.
          for (std::size_t i = 0; i < got.size(); ++i)
            REQUIRE(std::abs(got[i] - expected[i]) <= std::abs(expected[i]) / 255 + 1e-4);
          const Buffer wide(s.batch * round_up(blocks_of(s.outputs), 2) * s.out_plane() * kBlock);
          bf16_convolution(g, words(packed), from, {.wide = wide.data()}, second, e, words(scratch), four);
          for (i64 n = 0; n < s.batch; ++n)
            for (i64 o = 0; o < s.outputs; ++o)
              for (i64 p = 0; p < s.out_plane(); ++p) {
                const auto got_wide =
                    wide.data()[((n * blocks_of(s.outputs) + o / kBlock) * s.out_plane() + p) * kBlock + o % kBlock];
                REQUIRE(std::abs(got_wide - expected[at((n * s.outputs + o) * s.out_plane() + p)]) < 2e-4);
              }
          if (s.outputs > kBlock || !adds) continue;
          // As many bytes: written over the residual.
          const Buffer over(size);
          std::copy_n(plus.data(), size, over.data());
          bf16_convolution(g, words(packed), from, {.wide = over.data()},
                           {.narrow = reinterpret_cast<std::uint16_t*>(over.data())}, e, words(scratch), four);
          CHECK(std::equal(over.data(), over.data() + size, wide.data()));
        }
    }
  });
}

/// Integers from -most to most.
Floats random_integers(i64 n, unsigned seed, float most) {
  auto v = random_floats(n, seed, -most - 0.5f, most + 0.5f);
  for (auto& x : v) x = std::nearbyint(x);
  return v;
}

TEST_CASE("bf16 Winograd: exact where transformed values are, else within its rounding") {
  ThreadPool one(1), four(4);
  const Unary relu{Function::clamp, 0, 1e30f}, tanh{Function::tanh};
  const ConvolutionShape shapes[] = {shape(1, 1, 64, 64, 14, 14, 3, 1, 1),  shape(2, 1, 40, 70, 9, 9, 3, 1, 1),
                                     shape(1, 1, 32, 33, 7, 7, 3, 1, 1),    shape(1, 1, 64, 32, 70, 70, 3, 1, 1),
                                     shape(1, 1, 33, 40, 11, 9, 3, 1, 0),   shape(1, 1, 256, 96, 8, 8, 3, 1, 1),
                                     shape(1, 1, 130, 160, 24, 26, 3, 1, 1)};
  for_each_isa([&] {
    for (const auto& s : shapes) {
      INFO(s.channels << " of " << s.width << " to " << s.outputs);
      const Buffer packed(bf16_winograd_filters_size(s)),
          blocked(s.batch * bf16_blocks(s.channels) * s.plane() * kBlock), scratch(bf16_winograd_scratch_size(s, 4)),
          residual(s.batch * bf16_blocks(s.outputs) * s.out_plane() * kBlock);
      auto bias = random_integers(round_up(s.outputs, 32) + 32, 3, 100);
      std::fill(bias.begin() + s.outputs, bias.end(), 0.0f);
      const auto plus = random_integers(s.batch * s.outputs * s.out_plane(), 5, 100);
      to_bf16_blocked(plus.data(), false, words(residual), s.batch, s.outputs, s.out_plane(), four);
      const Bf16Blocked second{.narrow = reinterpret_cast<std::uint16_t*>(residual.data())};
      const auto run = [&](const Epilogue& e, bool wide, ThreadPool& pool) {
        Floats plain(at(s.batch * s.outputs * s.out_plane()));
        if (wide) {
          const Buffer out(s.batch * blocks_of(s.outputs) * s.out_plane() * kBlock);
          bf16_winograd_convolution(s, words(packed), words(blocked), {.wide = out.data()}, second, e, words(scratch),
                                    pool);
          for (std::size_t i = 0; i < plain.size(); ++i) {
            const auto pixel = static_cast<i64>(i) % s.out_plane(), o = static_cast<i64>(i) / s.out_plane() % s.outputs,
                       n = static_cast<i64>(i) / s.out_plane() / s.outputs;
            plain[i] =
                out.data()[((n * blocks_of(s.outputs) + o / kBlock) * s.out_plane() + pixel) * kBlock + o % kBlock];
          }
        } else {
          const Buffer out(s.batch * bf16_blocks(s.outputs) * s.out_plane() * kBlock);
          bf16_winograd_convolution(s, words(packed), words(blocked),
                                    {.narrow = reinterpret_cast<std::uint16_t*>(out.data())}, second, e, words(scratch),
                                    pool);
          from_bf16_blocked(words(out), plain.data(), false, s.batch, s.outputs, s.out_plane(), pool);
        }
        return plain;
      };
      const auto set = [&](const Floats& in, const Floats& filters) {
        to_bf16_blocked(in.data(), false, words(blocked), s.batch, s.channels, s.plane(), four);
        bf16_winograd_pack(s, filters.data(), words(packed), four);
        auto sums = naive(s, in, filters);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i / at(s.out_plane()) % at(s.outputs)] + plus[i];
        return sums;
      };
      // Sums of four inputs, and a quarter of the sums of nine filters, are integers that bf16 has.
      auto filters = random_integers(s.outputs * s.channels * 9, 2, 2);
      for (auto& f : filters) f *= 4;
      const auto exact = set(random_integers(s.batch * s.channels * s.plane(), 1, 15), filters);
      for (const auto& activation : {Unary{}, relu}) {
        Floats expected;
        for (const auto v : exact)
          expected.push_back(static_cast<float>(activation.f == Function::clamp ? std::max(v, 0.0) : v));
        const Epilogue e{.bias = bias.data(), .activation = activation};
        CHECK(run(e, true, four) == expected);
        CHECK(run(e, false, four) == floats(halves(expected)));
        CHECK(run(e, false, one) == floats(halves(expected)));
      }
      // An activation that is computed aside.
      const Epilogue e{.bias = bias.data(), .activation = tanh, .residual_last = true};
      const auto curved = run(e, true, four);
      for (std::size_t i = 0; i < exact.size(); ++i)
        REQUIRE(std::abs(curved[i] - (std::tanh(exact[i] - plus[i]) + plus[i])) < 1e-4);
      const auto sums =
          set(random_bf16(s.batch * s.channels * s.plane(), 6), random_bf16(s.outputs * s.channels * 9, 7));
      const auto got = run({.bias = bias.data()}, true, four);
      double error = 0, size = 0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto convolved = sums[i] - plus[i] - bias[i / at(s.out_plane()) % at(s.outputs)];
        error += (got[i] - sums[i]) * (got[i] - sums[i]);
        size += convolved * convolved;
      }
      // Both transformed operands are rounded to 2^-9, and the sums of four inputs are larger than those of products.
      CHECK(std::sqrt(error / size) < 5e-3);
    }
  });
}

TEST_CASE("bf16 depthwise convolution and pooling") {
  ThreadPool one(1), four(4);
  const ConvolutionShape shapes[] = {shape(1, 32, 32, 32, 14, 14, 3, 1, 1), shape(2, 40, 40, 40, 9, 5, 3, 2, 1),
                                     shape(1, 70, 70, 70, 7, 7, 5, 1, 2),   shape(1, 33, 33, 33, 100, 50, 3, 2, 1),
                                     shape(2, 33, 33, 33, 17, 17, 7, 1, 3), shape(1, 64, 64, 64, 29, 15, 5, 2, 2),
                                     shape(1, 20, 20, 20, 16, 8, 7, 2, 3),  shape(1, 40, 40, 40, 6, 6, 5, 1, 2),
                                     shape(1, 32, 32, 32, 56, 56, 7, 1, 3)};
  for_each_isa([&] {
    for (const auto& s : shapes) {
      INFO(s.channels << " of " << s.width << " kernel " << s.kernel_width);
      const auto in = random_bf16(s.batch * s.channels * s.plane(), 1), filters = random_bf16(s.outputs * s.taps(), 2);
      const auto bias = random_floats(s.outputs, 3);
      const Buffer packed(bf16_depthwise_filters_size(s)),
          blocked(s.batch * bf16_blocks(s.channels) * s.plane() * kBlock), scratch(narrow_depthwise_scratch_size(s, 4)),
          out(s.batch * bf16_blocks(s.channels) * s.out_plane() * kBlock);
      bf16_depthwise_pack(s, filters.data(), bias.data(), packed.data());
      to_bf16_blocked(in.data(), false, words(blocked), s.batch, s.channels, s.plane(), four);
      const auto sums = naive(s, in, filters);
      const auto plain = [&] {
        Floats to(sums.size());
        from_bf16_blocked(words(out), to.data(), false, s.batch, s.outputs, s.out_plane(), four);
        return to;
      };
      for (const auto& activation : {Unary{Function::clamp, 0, 6}, Unary{Function::swish, 1}, Unary{Function::hswish},
                                     Unary{Function::gelu_erf}, Unary{Function::tanh}}) {
        bf16_depthwise(s, packed.data(), words(blocked), words(out), activation, words(scratch), four);
        const auto got = plain();
        bf16_depthwise(s, packed.data(), words(blocked), words(out), activation, words(scratch), one);
        CHECK(got == plain());
        for (std::size_t i = 0; i < got.size(); ++i) {
          auto expected = sums[i] + bias[i / at(s.out_plane()) % at(s.outputs)];
          if (activation.f == Function::clamp) expected = std::clamp(expected, 0.0, 6.0);
          if (activation.f == Function::swish) expected /= 1 + std::exp(-expected);
          if (activation.f == Function::hswish) expected *= std::clamp(expected / 6 + 0.5, 0.0, 1.0);
          if (activation.f == Function::gelu_erf) expected *= 0.5 * (1 + std::erf(expected / std::sqrt(2.0)));
          if (activation.f == Function::tanh) expected = std::tanh(expected);
          // GELU's short form is off by 4e-5 of its argument.
          const auto shortened = activation.f == Function::gelu_erf ? 1e-4 : 1e-5;
          REQUIRE(std::abs(got[i] - expected) <= std::abs(expected) / 255 + shortened);
        }
      }
      max_pool(s, blocked.data(), out.data(), four, bf16_pool());
      const auto got = plain();
      for (i64 n = 0; n < s.batch * s.outputs; ++n)
        for (i64 p = 0; p < s.out_plane(); ++p) {
          float expected = -1;
          for (i64 t = 0; t < s.taps(); ++t) {
            const auto y = p / s.out_width * s.stride_y - s.pad_top + t / s.kernel_width,
                       x = p % s.out_width * s.stride_x - s.pad_left + t % s.kernel_width;
            if (y >= 0 && y < s.height && x >= 0 && x < s.width)
              expected = std::max(expected, in[at(n * s.plane() + y * s.width + x)]);
          }
          REQUIRE(got[at(n * s.out_plane() + p)] == expected);
        }
    }
  });
}

}  // namespace
}  // namespace ovir::fast
