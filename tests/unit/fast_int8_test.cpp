// Convolution of u8 by i8: integers are exact, so every instruction set and number of threads gives the same levels.
#include "convolutions.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/u8.hpp"
#include "fast/kernels/convolution/winograd_u8.hpp"
#include "fast/kernels/pair_excess.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "fast/kernels/product/u8.hpp"

namespace ovir::fast {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <class T>
std::vector<T> random_integers(i64 n, unsigned seed, int low, int high) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> number(low, high);
  std::vector<T> v(at(n));
  for (auto& x : v) x = static_cast<T>(number(engine));
  return v;
}

/// Sums of levels [batch][channels][plane], around which lie `pads`, by channel.
std::vector<i64> naive(const ConvolutionShape& s, const Bytes& in, const std::vector<std::int8_t>& weights,
                       const Bytes& pads) {
  std::vector<i64> out;
  for (i64 n = 0; n < s.batch; ++n)
    for (i64 o = 0; o < s.outputs; ++o)
      for (i64 y = 0; y < s.out_height; ++y)
        for (i64 x = 0; x < s.out_width; ++x) {
          i64 sum = 0;
          for (i64 c = 0; c < s.group_channels(); ++c)
            for (i64 t = 0; t < s.taps(); ++t) {
              const auto iy = y * s.stride_y - s.pad_top + t / s.kernel_width * s.dilation_y,
                         ix = x * s.stride_x - s.pad_left + t % s.kernel_width * s.dilation_x;
              const bool inside = iy >= 0 && iy < s.height && ix >= 0 && ix < s.width;
              const auto channel = o / s.group_outputs() * s.group_channels() + c;
              const int level =
                  inside ? in[at((n * s.channels + channel) * s.plane() + iy * s.width + ix)] : pads[at(channel)];
              sum += level * weights[at((o * s.group_channels() + c) * s.taps() + t)];
            }
          out.push_back(sum);
        }
  return out;
}

/// Tables of a block's width for one scale; they outlive the U8Scale.
struct Scale {
  Floats by, plus, low, step;
  Scale(i64 channels, float start, float scale)
      : by(at(round_up(channels, 64)), 1 / scale),
        plus(by.size(), -start / scale),
        low(by.size(), start),
        step(by.size(), scale) {}
  U8Scale get() const { return {by.data(), plus.data(), low.data(), step.data(), 255}; }
};

/// Of weights [outputs][channels][9].
bool takes_winograd(const ConvolutionShape& s, const std::vector<std::int8_t>& weights) {
  const auto each = s.group_channels() * s.taps();
  return u8_winograd_pays(s) && u8_winograd_is_exact(column_sums(weights.data(), 1, each, each, s.outputs));
}

float bounded(float v, float low, float high) { return std::min(high, std::max(low, v)); }

TEST_CASE("int8 convolution and depthwise: levels are exact, with residuals, in f32, on any number of threads") {
  ThreadPool one(1), four(4);
  const ConvolutionShape shapes[] = {shape(1, 1, 64, 64, 7, 7, 1, 1, 0),      shape(2, 1, 40, 70, 9, 9, 1, 1, 0),
                                     shape(1, 1, 24, 16, 15, 15, 1, 1, 0),    shape(1, 1, 200, 33, 8, 4, 1, 2, 0),
                                     shape(2, 1, 33, 48, 9, 9, 3, 1, 1),      shape(1, 1, 96, 32, 14, 7, 3, 2, 1),
                                     shape(1, 1, 16, 20, 11, 11, 3, 1, 2, 2), shape(2, 1, 3, 40, 30, 15, 7, 2, 3),
                                     shape(1, 1, 64, 32, 80, 80, 3, 1, 1),    shape(1, 32, 32, 32, 14, 14, 3, 1, 1),
                                     shape(2, 100, 100, 100, 9, 5, 3, 2, 1),  shape(1, 70, 70, 70, 7, 7, 5, 1, 2),
                                     shape(1, 1, 64, 64, 14, 14, 3, 1, 1),    shape(2, 1, 100, 96, 17, 17, 3, 1, 1),
                                     shape(1, 1, 130, 100, 20, 24, 3, 1, 1),  shape(1, 1, 144, 96, 16, 16, 3, 1, 1),
                                     shape(2, 1, 130, 64, 4, 4, 3, 1, 1),     shape(1, 1, 64, 40, 7, 7, 3, 1, 1),
                                     shape(3, 1, 70, 33, 5, 5, 3, 1, 1),      shape(1, 1, 64, 32, 1, 1, 3, 1, 1),
                                     shape(1, 1, 64, 96, 2, 2, 3, 1, 1),      shape(2, 1, 64, 64, 28, 28, 3, 1, 1),
                                     shape(2, 4, 64, 64, 9, 9, 3, 1, 1),      shape(1, 3, 48, 72, 11, 6, 3, 2, 1),
                                     shape(1, 5, 120, 120, 7, 7, 3, 1, 1),    shape(2, 10, 80, 80, 9, 9, 1, 1, 0),
                                     shape(1, 8, 64, 64, 40, 40, 3, 1, 1),    shape(1, 2, 192, 128, 8, 8, 1, 1, 0),
                                     shape(1, 3, 144, 144, 9, 9, 3, 1, 1),    shape(1, 9, 72, 72, 33, 17, 3, 2, 1),
                                     shape(2, 5, 200, 200, 14, 14, 3, 1, 1),  shape(1, 3, 96, 96, 60, 30, 3, 2, 1),
                                     shape(2, 12, 12, 12, 9, 10, 3, 1, 1),    shape(1, 20, 20, 20, 9, 9, 3, 2, 1),
                                     row(2, 64, 70, 801, 400, 3, 2, 0),       row(1, 40, 33, 300, 300, 3, 1, 1),
                                     row(1, 70, 48, 900, 300, 5, 3, 2),       row(1, 32, 32, 600, 298, 3, 2, 0, 2)};
  int transformed = 0;
  for_each_isa([&] {
    for (const auto& s : shapes) {
      INFO(s.channels << " of " << s.width << " to " << s.outputs << " kernel " << s.kernel_width);
      const NarrowGeometry g(s, 4);
      const bool depthwise = s.is_depthwise(), image = !depthwise && g.image;
      const std::uint8_t pad = (&s - shapes) % 2 == 0 ? 17 : 0;  // rows of zeros are left out
      Bytes pads(at(s.channels), pad), lows(at(round_up(s.outputs, 64))), highs(lows.size());
      for (std::size_t c = 0; c < pads.size() && depthwise; ++c) pads[c] = static_cast<std::uint8_t>(c * 29);
      for (std::size_t o = 0; o < lows.size(); ++o) {
        lows[o] = static_cast<std::uint8_t>(o % 5);
        highs[o] = static_cast<std::uint8_t>(255 - o % 7 * 20);
      }
      const U8Pads around(pads);
      const auto levels = random_integers<std::uint8_t>(s.batch * s.channels * s.plane(), 1, 0, 255);
      const auto weights = random_integers<std::int8_t>(s.outputs * s.group_channels() * s.taps(), 2, -128, 127);
      const auto sums = naive(s, levels, weights, pads);
      const Scale in_scale(s.channels, -17 * 0.25f, 0.25f), out_scale(s.outputs, 0, 1);
      Floats in;
      for (const auto level : levels) in.push_back(-17 * 0.25f + 0.25f * static_cast<float>(level));
      const Buffer blocked(s.batch * u8_blocks(s.channels) * s.plane() * kBlock),
          scratch(std::max({g.scratch_size(4), narrow_depthwise_scratch_size(s, 4), u8_winograd_scratch_size(s, 4)})),
          padded(g.images_size());
      const auto* words = reinterpret_cast<const Word*>(blocked.data());
      if (image) {
        image_to_u8(g, in.data(), in_scale.get(), pad, reinterpret_cast<Word*>(padded.data()), four);
        words = reinterpret_cast<const Word*>(padded.data());
      } else {
        to_u8_blocked(in.data(), false, in_scale.get(), reinterpret_cast<std::uint8_t*>(blocked.data()), s.batch,
                      s.channels, s.plane(), four);
      }
      const bool winograd = takes_winograd(s, weights);
      transformed += winograd;
      const Buffer packed(depthwise ? u8_depthwise_weights_size(s) / 4 : g.filters_size()),
          points(winograd ? u8_winograd_weights_size(s) : 1);
      if (winograd) u8_winograd_pack(s, weights.data(), reinterpret_cast<Word*>(points.data()), four);
      if (depthwise) u8_depthwise_pack(s, weights.data(), reinterpret_cast<std::int8_t*>(packed.data()));
      else u8_pack(g, weights.data(), reinterpret_cast<Word*>(packed.data()), four);
      const auto size = s.batch * u8_blocks(s.outputs) * s.out_plane() * kBlock;
      const auto others = random_floats(s.batch * s.outputs * s.out_plane(), 4, 0, 255);
      const Buffer residual(size);
      to_u8_blocked(others.data(), false, out_scale.get(), reinterpret_cast<std::uint8_t*>(residual.data()), s.batch,
                    s.outputs, s.out_plane(), four);
      Floats scale(at(round_up(s.outputs, 64))), shift(scale.size());
      for (std::size_t o = 0; o < at(s.outputs); ++o) {
        scale[o] = 0.003f + 0.0001f * static_cast<float>(o);
        shift[o] = 100 - static_cast<float>(o);
      }
      const Buffer wide_residual(s.batch * blocks_of(s.outputs) * s.out_plane() * kBlock);
      to_blocked(others.data(), wide_residual.data(), s.batch, s.outputs, s.out_plane(), four);
      enum Residual { none, of_levels, of_floats };
      for (const auto adds : {none, of_levels, of_floats}) {
        if (adds && depthwise) continue;
        for (const int way : {0, 1, 2, 3, 4, 5}) {
          const bool small = way % 2 == 1, by_points = way / 2 == 1, by_column = way >= 4;
          if ((by_points && !winograd) || (by_column && adds)) continue;
          const float low = small || by_column ? 0 : 3, high = by_column || (small && s.width % 2 == 0) ? 255 : 250;
          const U8Epilogue e{.scale = scale.data(),
                             .shift = shift.data(),
                             .low = low,
                             .high = high,
                             .rounds = true,
                             .own = 0.5f,
                             .other = 0.25f,
                             .offset = 2,
                             .min = 0,
                             .max = 200,
                             .small = small,
                             .lows = by_column ? lows.data() : nullptr,
                             .highs = by_column ? highs.data() : nullptr};
          const auto run = [&](const U8Blocked& to, ThreadPool& pool) {
            U8Blocked plus;
            if (adds == of_levels) plus.levels = reinterpret_cast<std::uint8_t*>(residual.data());
            if (adds == of_floats) plus.wide = wide_residual.data();
            auto* room = reinterpret_cast<Word*>(scratch.data());
            if (depthwise)
              u8_depthwise(s, reinterpret_cast<const std::int8_t*>(packed.data()), words, around.get(), to, e, room,
                           pool);
            else if (by_points)
              u8_winograd_convolution(s, reinterpret_cast<const Word*>(points.data()), words, pad, to, plus, e, room,
                                      pool);
            else u8_convolution(g, reinterpret_cast<const Word*>(packed.data()), words, pad, to, plus, e, room, pool);
          };
          const auto plain = [&](ThreadPool& pool) {
            const Buffer out(size);
            run({.levels = reinterpret_cast<std::uint8_t*>(out.data())}, pool);
            Floats to(sums.size());
            from_u8_blocked(reinterpret_cast<const std::uint8_t*>(out.data()), out_scale.get(), to.data(), false,
                            s.batch, s.outputs, s.out_plane(), pool);
            return to;
          };
          const auto got = plain(four);
          CHECK(got == plain(one));
          const Buffer wide(s.batch * blocks_of(s.outputs) * s.out_plane() * kBlock);
          if (!by_column) run({.wide = wide.data()}, four);
          for (std::size_t i = 0; i < sums.size(); ++i) {
            const auto pixel = static_cast<i64>(i) % s.out_plane(), o = static_cast<i64>(i) / s.out_plane() % s.outputs,
                       n = static_cast<i64>(i) / s.out_plane() / s.outputs;
            auto v = bounded(std::fma(static_cast<float>(sums[i]), scale[at(o)], shift[at(o)]), low, high);
            const auto other = adds == of_levels ? std::nearbyint(others[i]) : others[i];
            if (adds) v = bounded(std::nearbyint(v) * 0.5f + (other * 0.25f + 2), 0, 200);
            if (by_column) {
              REQUIRE(got[i] == bounded(std::nearbyint(v), lows[at(o)], highs[at(o)]));
              continue;
            }
            REQUIRE(got[i] == std::nearbyint(v));
            REQUIRE(
                wide.data()[((n * blocks_of(s.outputs) + o / kBlock) * s.out_plane() + pixel) * kBlock + o % kBlock] ==
                v);
          }
        }
      }
      if (!depthwise) continue;
      const Buffer out(size);
      max_pool(s, blocked.data(), out.data(), four, u8_pool());
      Floats pooled(sums.size());
      from_u8_blocked(reinterpret_cast<const std::uint8_t*>(out.data()), out_scale.get(), pooled.data(), false, s.batch,
                      s.outputs, s.out_plane(), four);
      for (i64 i = 0; i < static_cast<i64>(pooled.size()); ++i) {
        float expected = 0;
        for (i64 t = 0; t < s.taps(); ++t) {
          const auto y = i % s.out_plane() / s.out_width * s.stride_y - s.pad_top + t / s.kernel_width,
                     x = i % s.out_width * s.stride_x - s.pad_left + t % s.kernel_width;
          if (y >= 0 && y < s.height && x >= 0 && x < s.width)
            expected = std::max<float>(expected, levels[at(i / s.out_plane() * s.plane() + y * s.width + x)]);
        }
        REQUIRE(pooled[at(i)] == expected);
      }
    }
  });
  CHECK(transformed >= 2);
}

TEST_CASE("int8 product: sums are exact, with activations and residuals, onto levels, on any number of threads") {
  struct Case {
    i64 m, k, n;
    Unary activation;
    bool residual, last, factors;
  };
  const Unary none{}, relu{Function::clamp, 0, 3}, tanh{Function::tanh};
  const Case cases[] = {{1, 1, 1, none, false, false, false},      {7, 64, 96, relu, true, false, false},
                        {33, 130, 40, tanh, true, true, false},    {40, 256, 64, none, false, false, false},
                        {70, 1028, 520, relu, false, false, true}, {5, 3000, 33, tanh, true, false, true},
                        {100, 40, 96, relu, true, true, false},    {300, 384, 512, none, true, false, false}};
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const auto& c : cases) {
      INFO(c.m << " x " << c.k << " x " << c.n);
      const auto words = u8_words(c.k), padded = round_up(c.n, 32);
      const auto a = random_integers<std::uint8_t>(c.m * words * 4, 1, 0, 255);
      const auto b = random_integers<std::int8_t>(c.k * c.n, 2, -128, 127);
      const auto residual = random_floats(c.m * c.n, 3), factors = random_floats(c.n, 4, 0.5f, 1);
      const auto span = 2.0f / (255 * 127 * std::sqrt(static_cast<float>(c.k)));
      auto scale = random_floats(padded, 5, span / 2, span), shift = random_floats(padded, 6);
      const U8RowScale q{.factors = c.factors ? factors.data() : nullptr,
                         .by = 32,
                         .plus = 96,
                         .low = -3,
                         .step = 1.0f / 32,
                         .max_level = 200};
      auto level_scale = scale, level_shift = shift, by = Floats(at(padded), q.by), from = Floats(at(padded), q.plus);
      for (i64 j = 0; c.factors && j < c.n; ++j) by[at(j)] *= factors[at(j)];
      for (auto& v : level_scale) v *= q.by;
      for (auto& v : level_shift) v = v * q.by + q.plus;
      for (const bool transposed : {false, true}) {
        const Buffer panels(u8_panels_size(c.k, c.n));
        auto* packed = reinterpret_cast<Word*>(panels.data());
        pack_u8_panels(b.data(), transposed ? 1 : c.n, transposed ? c.k : 1, c.k, c.n, packed);
        U8Product product_of{.panels = packed,
                             .k = c.k,
                             .n = c.n,
                             .scale = scale.data(),
                             .shift = shift.data(),
                             .epilogue = {.activation = c.activation, .residual_last = c.last},
                             .level_by = by.data(),
                             .level_plus = from.data(),
                             .level_scale = level_scale.data(),
                             .level_shift = level_shift.data(),
                             .small = true};
        std::vector<double> expected;
        for (i64 i = 0; i < c.m; ++i)
          for (i64 j = 0; j < c.n; ++j) {
            i64 sum = 0;
            for (i64 k = 0; k < c.k; ++k)
              sum += i64{a[at(i * words * 4 + k)]} * b[at(transposed ? j * c.k + k : k * c.n + j)];
            const double plus = c.residual ? residual[at(i * c.n + j)] : 0;
            auto v = static_cast<double>(sum) * double{scale[at(j)]} + double{shift[at(j)]};
            if (!c.last) v += plus;
            if (c.activation.f == Function::clamp) v = std::clamp<double>(v, c.activation.a, c.activation.b);
            if (c.activation.f == Function::tanh) v = std::tanh(v);
            expected.push_back(c.last ? v + plus : v);
          }
        const auto* rows = reinterpret_cast<const Word*>(a.data());
        const auto* plus = c.residual ? residual.data() : nullptr;
        Floats y(at(c.m * c.n), 99.0f), again = y;
        product(product_of, rows, {.wide = y.data()}, c.m, plus, one);
        CHECK(worst(y, expected) < 2e-6);
        product(product_of, rows, {.wide = again.data()}, c.m, plus, four);
        CHECK(y == again);
        product_of_rows(product_of, rows, {.wide = again.data()}, c.m, plus);
        CHECK(y == again);
        // Levels are those of the values; beside the border of two, either.
        product_of.levels = &q;
        Bytes levels(at(c.m * c.n), 77), others = levels;
        product(product_of, rows, {.levels = levels.data()}, c.m, plus, one);
        product(product_of, rows, {.levels = others.data()}, c.m, plus, four);
        CHECK(levels == others);
        product(product_of, rows, {.wide = again.data()}, c.m, plus, four);
        i64 wrong = 0;
        for (std::size_t i = 0; i < levels.size(); ++i) {
          const auto factor = c.factors ? factors[i % at(c.n)] : 1.0f;
          const auto level = std::clamp<double>(expected[i] * factor * 32 + 96, 0, 200);
          wrong += std::abs(level - levels[i]) > 0.501;
          wrong += std::abs(again[i] - (-3 + levels[i] / 32.0f)) > 1.0f / 32 + 1e-6f;
        }
        CHECK(wrong == 0);
      }
    }
  });
}

/// How 16 columns are multiplied: by neighbors, by pairs that are the same for all or for 8 of them, by pairs of half
/// of the channels, as i16, or by pairs of each column, of all or of half of the channels.
using Ways = std::array<i64, 7>;
Ways ways_of(const PairExcess* all, i64 panels) {
  Ways counts{};
  for (i64 i = 0; all && i < 4 * panels; i += 2)
    ++counts[!all[i].fits                       ? 4
             : !all[i].picks                    ? 0
             : all[i].by_column                 ? (all[i].halved ? 6 : 5)
             : all[i].halved                    ? 3
             : all[i].picks == all[i + 1].picks ? 1
                                                : 2];
  return counts;
}

TEST_CASE("int8 convolution: pairs of weights that 16 bits have no room for are made anew or added apart") {
  ThreadPool four(4);
  const ConvolutionShape shapes[] = {
      shape(1, 1, 40, 70, 9, 9, 1, 1, 0),   shape(2, 1, 200, 33, 8, 4, 3, 2, 1),  shape(1, 1, 3, 40, 30, 15, 7, 2, 3),
      row(1, 70, 48, 900, 300, 5, 3, 2),    shape(1, 3, 144, 144, 9, 9, 3, 1, 1), shape(1, 1, 3, 20, 9, 9, 3, 1, 1),
      shape(2, 5, 40, 40, 9, 7, 3, 1, 1),   shape(1, 12, 48, 48, 13, 9, 3, 2, 1), shape(1, 1, 16, 96, 11, 3, 1, 1, 0),
      shape(1, 1, 20, 40, 7, 7, 1, 1, 0),   shape(2, 1, 24, 70, 9, 9, 1, 1, 0),   shape(1, 1, 28, 20, 8, 4, 1, 2, 0),
      shape(1, 1, 32, 33, 5, 1, 1, 1, 0),   shape(1, 1, 48, 64, 9, 9, 1, 1, 0),   shape(1, 1, 64, 32, 14, 14, 1, 1, 0),
      shape(1, 1, 16, 40, 23, 23, 3, 1, 1), shape(1, 1, 16, 33, 12, 6, 2, 2, 0),  shape(2, 4, 64, 64, 19, 19, 3, 1, 1),
      shape(1, 4, 32, 32, 20, 10, 2, 2, 0), shape(1, 6, 24, 24, 11, 11, 3, 1, 1)};
  for_each_isa([&] {
    Ways ways{};
    for (const auto& s : shapes) {
      INFO(s.channels << " of " << s.width << " to " << s.outputs << " kernel " << s.kernel_width);
      const NarrowGeometry g(s, 4);
      auto levels = random_integers<std::uint8_t>(s.channels * s.plane() * s.batch, 1, 0, 255);
      std::fill_n(levels.begin(), levels.size() / 2, std::uint8_t{255});
      const auto count = s.outputs * s.group_channels() * s.taps();
      const auto extreme = random_integers<std::int8_t>(count, 3, -128, 127);
      const Buffer packed(g.filters_size()),
          in(std::max(s.batch * u8_blocks(s.channels) * s.plane() * kBlock, g.images_size())),
          scratch(g.scratch_size(4) + 1);
      const Scale scale(s.channels, 0, 1);
      const Floats ones(at(round_up(s.outputs, 64)), 1), zeros(ones.size(), 0);
      const Buffer out(s.batch * blocks_of(s.outputs) * s.out_plane() * kBlock);
      const auto pack = [&](const auto& weights) {
        u8_pack(g, weights.data(), reinterpret_cast<Word*>(packed.data()), four);
      };
      const auto check = [&](const auto& weights, const PairExcess* excess) {
        const Floats x(levels.begin(), levels.end());
        if (g.image) image_to_u8(g, x.data(), scale.get(), 17, reinterpret_cast<Word*>(in.data()), four);
        else
          to_u8_blocked(x.data(), false, scale.get(), reinterpret_cast<std::uint8_t*>(in.data()), s.batch, s.channels,
                        s.plane(), four);
        const U8Epilogue e{.scale = ones.data(),
                           .shift = zeros.data(),
                           .low = -1e30f,
                           .high = 1e30f,
                           .rounds = false,
                           .own = 1,
                           .other = 0,
                           .offset = 0,
                           .min = 0,
                           .max = 0,
                           .excess = excess};
        u8_convolution(g, reinterpret_cast<const Word*>(packed.data()), reinterpret_cast<const Word*>(in.data()), 17,
                       {.wide = out.data()}, {}, e, reinterpret_cast<Word*>(scratch.data()), four);
        Floats got(at(s.batch * s.outputs * s.out_plane()));
        to_plain(out.data(), got.data(), s.batch, s.outputs, s.out_plane(), four);
        const auto sums = naive(s, levels, weights, Bytes(at(s.channels), 17));
        for (std::size_t i = 0; i < sums.size(); ++i) REQUIRE(got[i] == static_cast<float>(sums[i]));
      };
      for (const int most : {60, 75, 90, 110, 128}) {
        auto weights = random_integers<std::int8_t>(count, 2, -most, std::min(most, 127));
        for (std::size_t i = 0; i < weights.size(); ++i)
          if (most < 70 && i / 4 % 97 == 0)
            weights[i] = i % 3 == 0 ? std::int8_t{-128} : i % 3 == 1 ? std::int8_t{127} : extreme[i];
        if (most == 128) std::fill_n(weights.begin(), count / 3, std::int8_t{-128});
        for (const i64 rows : {0, 1}) {
          pack(weights);
          const PairExcesses excesses(reinterpret_cast<Word*>(packed.data()), g.panels(), g.panel_steps(), rows, four);
          CHECK((excesses.data() != nullptr) == narrow_isa().adds_pairs);
          const auto here = ways_of(excesses.data(), g.panels());
          CHECK((rows == 0 || (here[5] == 0 && here[6] == 0)));
          for (std::size_t i = 0; i < ways.size(); ++i) ways[i] += here[i];
          check(weights, excesses.data());
        }
      }
      pack(extreme);
      check(extreme, nullptr);
      for (auto& level : levels) level = static_cast<std::uint8_t>((level + 1) / 2);  // up to 128
      check(extreme, PairExcesses::none(g.panels()).data());
    }
    INFO(ways[0] << " neighbors, " << ways[1] << " alike, " << ways[2] << " each, " << ways[3] << " halved, " << ways[4]
                 << " as i16, " << ways[5] << " by column, " << ways[6] << " of half by column");
    if (narrow_isa().adds_pairs) CHECK(std::all_of(ways.begin() + 1, ways.end(), [](i64 n) { return n > 0; }));
  });
}

TEST_CASE("int8 convolution of groups: not where too many products would be with 0, or words lie across groups") {
  const auto takes = [](i64 groups, i64 channels, i64 outputs) {
    return NarrowGeometry::takes_groups(shape(1, groups, channels, outputs, 9, 9, 3, 1, 1), 4);
  };
  CHECK(takes(4, 64, 64));
  CHECK(takes(8, 64, 64));                             // 16 outputs are of two
  CHECK(takes(4, 96, 96));                             // 16 outputs may be of two
  CHECK(takes(8, 32, 32) == narrow_isa().adds_pairs);  // of four
  CHECK_FALSE(takes(10, 50, 160));                     // 5 channels
  CHECK_FALSE(takes(32, 32, 64));                      // by channel
  CHECK_FALSE(takes(1, 64, 64));
}

TEST_CASE("int8 Winograd: not where 64 times a sum could leave 32 bits") {
  const auto s = shape(1, 1, 208, 64, 16, 16, 3, 1, 1);
  std::vector<std::int8_t> weights(at(s.outputs * s.channels * 9), 1);
  force_isa(Isa::baseline);
  CHECK(takes_winograd(s, weights));
  std::fill_n(weights.begin(), s.channels * 9, std::int8_t{-128});
  CHECK_FALSE(takes_winograd(s, weights));
  if (force_isa(Isa::amx)) {
    std::fill_n(weights.begin(), s.channels * 9, std::int8_t{1});
    CHECK_FALSE(takes_winograd(s, weights));
  }
  force_isa(Isa::best);
}

TEST_CASE("int8 Winograd: the largest sums of either sign are exact") {
  constexpr i64 kPositive = 115;  // channels, which with as many negative ones are the most
  const auto s = shape(1, 1, 229, 64, 16, 16, 3, 1, 1);
  std::vector<std::int8_t> weights(at(s.outputs * s.channels * 9));
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<i64>(i) / 9 % s.channels < kPositive ? std::int8_t{127} : std::int8_t{-128};
  Floats in(at(s.channels * s.plane()));
  for (const bool above : {true, false}) {
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = (static_cast<i64>(i) / s.plane() < kPositive) == above ? 255.0f : 0.0f;
    const auto sums = naive(s, Bytes(in.begin(), in.end()), weights, Bytes(at(s.channels), 0));
    for_each_isa([&] {
      if (!takes_winograd(s, weights)) return;
      ThreadPool pool(2);
      const Scale scale(s.channels, 0, 1);
      const Floats ones(at(s.outputs), 1), zeros(at(s.outputs), 0);
      const Buffer blocked(u8_blocks(s.channels) * s.plane() * kBlock), packed(u8_winograd_weights_size(s)),
          scratch(u8_winograd_scratch_size(s, 2)), wide(blocks_of(s.outputs) * s.out_plane() * kBlock);
      to_u8_blocked(in.data(), false, scale.get(), reinterpret_cast<std::uint8_t*>(blocked.data()), 1, s.channels,
                    s.plane(), pool);
      u8_winograd_pack(s, weights.data(), reinterpret_cast<Word*>(packed.data()), pool);
      U8Epilogue e{};
      e.scale = ones.data();
      e.shift = zeros.data();
      e.low = -1e9f;
      e.high = 1e9f;
      u8_winograd_convolution(s, reinterpret_cast<const Word*>(packed.data()),
                              reinterpret_cast<const Word*>(blocked.data()), 0, {.wide = wide.data()}, {}, e,
                              reinterpret_cast<Word*>(scratch.data()), pool);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto o = static_cast<i64>(i) / s.out_plane(), pixel = static_cast<i64>(i) % s.out_plane();
        REQUIRE(wide.data()[(o / kBlock * s.out_plane() + pixel) * kBlock + o % kBlock] == static_cast<float>(sums[i]));
      }
    });
  }
}

}  // namespace
}  // namespace ovir::fast
