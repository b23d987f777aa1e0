// Products and convolutions of f32 as the sum of three bf16, which machines without AMX do not have: as exact as f32.
#include <cstring>

#include "base/bytes.hpp"
#include "convolutions.hpp"
#include "fast/isa/narrow.hpp"
#include "fast/kernels/convolution/bf16x3.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/product/bf16x3.hpp"
#include "temporary.hpp"

namespace ovir::fast {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN(),
                kMost = std::numeric_limits<float>::max();

bool is_there() { return narrow_isa().to_bf16x3 != nullptr; }

Floats product_of(const Floats& a, const Floats& b, i64 m, i64 k, i64 n, bool transposed, const Epilogue& e,
                  ThreadPool& pool) {
  const Buffer panels(bf16x3_panels_size(k, n)), scratch(bf16x3_scratch_size(m, k));
  pack_bf16x3_panels(b.data(), transposed ? 1 : n, transposed ? k : 1, k, n, words(panels));
  Floats c(at(m * n), 99.0f);
  product({words(panels), k, n}, a.data(), c.data(), m, e, words(scratch), pool);
  return c;
}

Floats alone_of(const Floats& a, const Floats& b, i64 m, i64 k, i64 n, bool transposed, const Epilogue& e) {
  const Buffer pairs(bf16x3_pairs_size(k, n));
  pack_bf16x3_pairs(b.data(), transposed ? 1 : n, transposed ? k : 1, k, n, pairs.data());
  Floats c(at(m * n), 99.0f);
  product_alone({pairs.data(), k, n}, a.data(), c.data(), m, e);
  return c;
}

/// The largest error of a sum as a part of the sum of the absolute values of its products.
struct Exact {
  std::vector<double> sums, sizes;
  Exact(const Floats& a, const Floats& b, i64 m, i64 k, i64 n) {
    for (i64 i = 0; i < m; ++i)
      for (i64 j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (i64 p = 0; p < k; ++p) {
          const auto product = static_cast<double>(a[at(i * k + p)]) * b[at(p * n + j)];
          sum += product;
          size += std::abs(product);
        }
        sums.push_back(sum);
        sizes.push_back(size);
      }
  }
  double error(const Floats& c) const {
    double worst = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) worst = std::max(worst, std::abs(c[i] - sums[i]) / sizes[i]);
    return worst;
  }
};

}  // namespace

TEST_CASE("bf16x3: three parts are the number, to the last bit") {
  if (!is_there()) return;
  auto x = random_floats(32 * 50, 1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i % 120) - 60);
  x[0] = kMost;
  x[1] = -kMost;
  x[2] = 1.00390625f;
  x[3] = 0;
  std::vector<Word> parts(3 * 50 * kBlock);
  narrow_isa().to_bf16x3(x.data(), x.data() + kBlock, 32, 50, parts.data(), 50 * kBlock);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      const auto word = parts[p * 50 * kBlock + i / 2];
      sum += static_cast<double>(std::bit_cast<float>(i % 2 == 1 ? word & 0xffff0000u : word << 16));
    }
    CHECK(sum == x[i]);
  }
}

TEST_CASE("bf16x3 product: odd sizes, as exact as f32, any number of threads") {
  if (!is_there()) return;
  ThreadPool one(1), four(4);
  const i64 sizes[][3] = {{1, 1, 1},     {32, 32, 32},   {33, 31, 33},    {50, 72, 40},
                          {100, 99, 15}, {197, 192, 65}, {70, 1700, 100}, {300, 4100, 33}};
  for (const auto& [m, k, n] : sizes)
    for (const bool transposed : {false, true}) {
      INFO(m << " x " << k << " x " << n);
      const auto a = random_floats(m * k, 1), b = random_floats(k * n, 2);
      auto given = b;
      for (i64 p = 0; p < k && transposed; ++p)
        for (i64 j = 0; j < n; ++j) given[at(j * k + p)] = b[at(p * n + j)];
      const auto c = product_of(a, given, m, k, n, transposed, {}, four);
      CHECK(c == product_of(a, given, m, k, n, transposed, {}, one));
      // Half a unit for each block of 32 products, and what is left out of each.
      CHECK(Exact(a, b, m, k, n).error(c) < 0x1p-24 * (2 + std::sqrt(static_cast<double>(k))));
      if (k > kMostInThree) continue;
      CHECK(alone_of(a, given, m, k, n, transposed, {}) == c);
    }
}

TEST_CASE("bf16x3 product: bias, residual and activation, also of sums in parts") {
  if (!is_there()) return;
  ThreadPool four(4);
  const i64 m = 37, n = 70;
  for (const i64 k : {64, 1700})
    for (const bool last : {false, true})
      for (const auto f : {Function::identity, Function::clamp, Function::tanh}) {
        INFO(k << (last ? ", residual last" : "") << ", activation " << static_cast<int>(f));
        const auto a = random_floats(m * k, 1), b = random_floats(k * n, 2), bias = random_floats(n + 64, 3),
                   residual = random_floats(m * n, 4);
        const Epilogue e{
            .bias = bias.data(), .activation = {f, 0, 1e30f}, .residual = residual.data(), .residual_last = last};
        auto expected = Exact(a, b, m, k, n).sums;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          auto& v = expected[i];
          v += bias[i % at(n)] + (last ? 0.0 : residual[i]);
          if (f == Function::clamp) v = std::max(v, 0.0);
          if (f == Function::tanh) v = std::tanh(v);
          if (last) v += residual[i];
        }
        const auto c = product_of(a, b, m, k, n, false, e, four);
        CHECK(worst(c, expected, 1) < 1e-7 * static_cast<double>(k));
        if (k <= kMostInThree) CHECK(alone_of(a, b, m, k, n, false, e) == c);
      }
}

TEST_CASE("bf16x3 product: infinities, NaN and the largest numbers are those of f32") {
  if (!is_there()) return;
  ThreadPool four(4);
  const i64 m = 64, k = 64, n = 64;
  auto a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  for (auto& v : a) v = std::abs(v) + 0.5f;
  for (auto& v : b) v = std::abs(v) + 0.5f;
  a[at(3 * k + 5)] = kInfinity;
  a[at(7 * k + 9)] = -kInfinity;
  a[at(11 * k + 2)] = kNaN;
  a[at(13 * k)] = std::bit_cast<float>(0x7f800001u);  // NaN in its last bit
  a[at(17 * k + 1)] = -kMost;
  a[at(19 * k + 4)] = kInfinity;
  a[at(19 * k + 6)] = -kInfinity;
  b[at(5 * n + 20)] = 0.5f;  // has one part: the others are 0
  b[at(5 * n + 21)] = 0;
  b[at(5 * n + 22)] = -1;
  b[at(1 * n + 23)] = 0.5f;
  b[at(30 * n + 40)] = kInfinity;
  const auto c = product_of(a, b, m, k, n, false, {}, four), alone = alone_of(a, b, m, k, n, false, {});
  CHECK(std::equal(c.begin(), c.end(), alone.begin(), [](float x, float y) { return x == y || (x != x && y != y); }));
  for (i64 i = 0; i < m; ++i)
    for (i64 j = 0; j < n; ++j) {
      INFO(i << ", " << j);
      double sum = 0;
      for (i64 p = 0; p < k; ++p) sum += static_cast<double>(a[at(i * k + p)] * b[at(p * n + j)]);
      const auto got = c[at(i * n + j)];
      if (std::isnan(sum)) CHECK(std::isnan(got));
      else if (std::isinf(sum) || std::abs(sum) > kMost) CHECK(got == (sum > 0 ? kInfinity : -kInfinity));
      else CHECK(std::abs(got - sum) <= 1e-6 * std::abs(sum));
    }
}

TEST_CASE("bf16x3 convolution: filters that lie in a file are packed alike") {
  if (!is_there()) return;
  ThreadPool four(4);
  const auto s = shape(1, 1, 40, 70, 9, 9, 3, 1, 1);
  const auto each = s.channels * s.taps();
  const auto filters = random_floats(s.outputs * each, 2);
  const Temporary folder;
  write_file(folder.path("a"), {reinterpret_cast<const char*>(filters.data()), filters.size() * sizeof(float)});
  const auto bytes = map_file(folder.path("a"));
  const WeightsFile file{FilePart(bytes.owner, bytes.view.data())};
  REQUIRE(file);
  const Buffer given(bf16x3_filters_size(s)), read(given.size()), room(4 * kColumns * each);
  bf16x3_pack(s, filters.data(), given.data(), four);
  bf16x3_pack(s, Weights(file, room.data()), read.data(), four);
  CHECK(std::memcmp(given.data(), read.data(), static_cast<std::size_t>(given.size()) * sizeof(float)) == 0);
}

TEST_CASE("bf16x3 convolution: infinities and NaN reach the pixels that read them, and no others") {
  if (!is_there()) return;
  ThreadPool four(4);
  for (const auto& s : {shape(1, 1, 64, 64, 7, 7, 3, 1, 1), shape(1, 1, 64, 64, 4, 4, 3, 1, 1),
                        shape(1, 1, 32, 64, 14, 14, 3, 1, 1), shape(1, 1, 32, 64, 40, 40, 3, 1, 1)}) {
    INFO(s.width);
    auto in = random_floats(s.channels * s.plane(), 1, 0.5f, 1);
    const auto filters = random_floats(s.outputs * s.channels * s.taps(), 2, 0.5f, 1);
    in[at(3 * s.plane() + 1 * s.width + s.width - 1)] = kInfinity;
    in[at(20 * s.plane() + s.plane() - 1)] = kNaN;
    const Buffer packed(bf16x3_filters_size(s)), blocked(blocks_of(s.channels) * s.plane() * kBlock),
        scratch(bf16x3_scratch_size(s, 4)), out(blocks_of(s.outputs) * s.out_plane() * kBlock);
    bf16x3_pack(s, filters.data(), packed.data(), four);
    to_blocked(in.data(), blocked.data(), 1, s.channels, s.plane(), four);
    bf16x3_convolution(s, packed.data(), blocked.data(), out.data(), {}, scratch.data(), four);
    const auto expected = naive(s, in, filters);
    Floats y(expected.size());
    to_plain(out.data(), y.data(), 1, s.outputs, s.out_plane(), four);
    int infinite = 0, wrong = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      infinite += std::isinf(expected[i]);
      if (std::isnan(expected[i])) wrong += !std::isnan(y[i]);
      else if (std::isinf(expected[i])) wrong += y[i] != kInfinity;
      else wrong += !(std::abs(y[i] - expected[i]) <= 1e-6 * expected[i]);
    }
    CHECK(infinite >= s.outputs);
    CHECK(wrong == 0);
  }
}

TEST_CASE("bf16x3 convolution: strides, dilations, bands, residuals, any number of threads") {
  if (!is_there()) return;
  ThreadPool one(1), four(4);
  const Unary relu{Function::clamp, 0, 1e30f}, swish{Function::swish, 1}, sigmoid{Function::sigmoid};
  const ConvolutionShape shapes[] = {shape(1, 1, 64, 64, 7, 7, 1, 1, 0),      shape(2, 1, 40, 70, 9, 9, 1, 1, 0),
                                     shape(1, 1, 24, 16, 15, 15, 1, 1, 0),    shape(1, 1, 64, 33, 8, 4, 1, 2, 0),
                                     shape(2, 1, 33, 48, 9, 9, 3, 1, 1),      shape(1, 1, 96, 32, 14, 7, 3, 2, 1),
                                     shape(1, 1, 48, 20, 11, 11, 3, 1, 2, 2), shape(1, 1, 64, 40, 70, 70, 1, 1, 0),
                                     shape(1, 1, 64, 32, 60, 30, 3, 2, 1),    shape(1, 1, 40, 270, 9, 9, 1, 1, 0),
                                     shape(1, 1, 70, 260, 9, 5, 3, 2, 1),     shape(1, 1, 32, 32, 5, 5, 5, 1, 2),
                                     shape(2, 1, 96, 70, 4, 4, 3, 1, 1),      shape(1, 1, 64, 64, 7, 7, 3, 1, 1),
                                     shape(2, 1, 64, 64, 28, 28, 3, 1, 1),    row(2, 64, 70, 801, 400, 3, 2, 0),
                                     row(1, 40, 33, 300, 300, 3, 1, 1),       row(1, 70, 48, 900, 300, 5, 3, 2),
                                     row(1, 32, 32, 600, 298, 3, 2, 0, 2)};
  for (const auto& s : shapes) {
    INFO(s.channels << " of " << s.width << " to " << s.outputs << " kernel " << s.kernel_width);
    const auto in = random_floats(s.batch * s.channels * s.plane(), 1),
               filters = random_floats(s.outputs * s.channels * s.taps(), 2);
    auto bias = random_floats(round_up(s.outputs, 32) + 32, 3);
    std::fill(bias.begin() + s.outputs, bias.end(), 0.0f);
    const auto size = s.batch * blocks_of(s.outputs) * s.out_plane() * kBlock;
    const Buffer packed(bf16x3_filters_size(s)), blocked(s.batch * blocks_of(s.channels) * s.plane() * kBlock),
        scratch(bf16x3_scratch_size(s, 4)), plus(size);
    bf16x3_pack(s, filters.data(), packed.data(), four);
    to_blocked(in.data(), blocked.data(), s.batch, s.channels, s.plane(), four);
    const auto residual = random_floats(s.batch * s.outputs * s.out_plane(), 5);
    to_blocked(residual.data(), plus.data(), s.batch, s.outputs, s.out_plane(), four);
    const auto sums = naive(s, in, filters);
    for (const auto& activation : {Unary{}, relu, swish, sigmoid})
      for (const int adds : {0, 1, 2}) {
        auto expected = sums;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          auto& v = expected[i];
          v += bias[i / at(s.out_plane()) % at(s.outputs)] + (adds == 1 ? residual[i] : 0.0);
          if (activation.f == Function::clamp) v = std::max(v, 0.0);
          if (activation.f == Function::swish) v /= 1 + std::exp(-v);
          if (activation.f == Function::sigmoid) v = 1 / (1 + std::exp(-v));
          if (adds == 2) v += residual[i];
        }
        const Epilogue e{.bias = bias.data(),
                         .activation = activation,
                         .residual = adds > 0 ? plus.data() : nullptr,
                         .residual_last = adds == 2};
        const auto run = [&](ThreadPool& pool) {
          const Buffer out(size);
          bf16x3_convolution(s, packed.data(), blocked.data(), out.data(), e, scratch.data(), pool);
          Floats plain(expected.size());
          to_plain(out.data(), plain.data(), s.batch, s.outputs, s.out_plane(), pool);
          return plain;
        };
        const auto y = run(four);
        CHECK(y == run(one));
        // Lanes beyond the last output are zeros.
        const Buffer out(size), once_scratch(bf16x3_once_scratch_size(s, 4));
        if (bf16x3_packs_by_panels(s))
          bf16x3_convolution_once(s, filters.data(), blocked.data(), out.data(), e, once_scratch.data(), four);
        else bf16x3_convolution(s, packed.data(), blocked.data(), out.data(), e, scratch.data(), four);
        const auto last = (s.batch * blocks_of(s.outputs) - 1) * s.out_plane() * kBlock;
        for (auto lane = s.outputs % kBlock; lane > 0 && lane < kBlock; ++lane) CHECK(out.data()[last + lane] == 0);
        Floats plain(y.size());
        to_plain(out.data(), plain.data(), s.batch, s.outputs, s.out_plane(), four);
        CHECK(plain == y);
        CHECK(worst(y, expected, 1) < 2e-7 * static_cast<double>(s.channels * s.taps()));
      }
  }
}

}  // namespace ovir::fast
