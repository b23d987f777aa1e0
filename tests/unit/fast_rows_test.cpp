// Softmax, normalization, reductions, recurrent steps: against the formulas in double precision.
#include <array>
#include <thread>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/normalization/blocked.hpp"
#include "fast/kernels/normalization/pixels.hpp"
#include "fast/kernels/normalization/rows.hpp"
#include "fast/kernels/normalization/softmax.hpp"
#include "fast/kernels/recurrent/lstm.hpp"
#include "fast/kernels/reduction/reduce.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST_CASE("softmax: last axis, inner axis, logarithm") {
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const auto& [outer, n, inner] :
         {std::array<i64, 3>{5, 7, 1}, {150, 2, 1}, {300, 65, 1}, {3, 10, 70}, {2, 1, 5}, {1, 500, 3}, {3, 37, 19}})
      for (const bool logarithm : {false, true}) {
        const auto x = random_floats(outer * n * inner, 1, -20, 20);
        Floats y(x.size()), again = x;
        softmax(x.data(), y.data(), outer, n, inner, logarithm, four);
        for (i64 o = 0; o < outer; ++o)
          for (i64 i = 0; i < inner; ++i) {
            double sum = 0;
            for (i64 k = 0; k < n; ++k) sum += std::exp(static_cast<double>(x[at((o * n + k) * inner + i)]));
            for (i64 k = 0; k < n; ++k) {
              const auto place = at((o * n + k) * inner + i);
              const auto exact = logarithm ? x[place] - std::log(sum) : std::exp(static_cast<double>(x[place])) / sum;
              REQUIRE(std::abs(y[place] - exact) < (logarithm ? 8e-6 : 5e-7));
            }
          }
        softmax(again.data(), again.data(), outer, n, inner, logarithm, one);  // in place
        CHECK(again == y);
      }
    Floats odd{1, kInf, 2, -kInf, -kInf, -kInf, 1, -kInf, 1};
    softmax(odd.data(), odd.data(), 3, 3, 1, false, one);
    CHECK(std::isnan(odd[1]));
    CHECK(std::isnan(odd[3]));
    CHECK((odd[6] == 0.5f && odd[7] == 0 && odd[8] == 0.5f));
  });
}

TEST_CASE("normalization of rows") {
  ThreadPool four(4);
  for_each_isa([&] {
    std::vector<std::array<i64, 3>> sizes{{20, 768, 0}, {6, 10000, 0}, {4, 60, 15}};
    for (const i64 n : {1, 3, 4, 7, 8, 15, 16, 17, 24, 31, 33, 40, 48, 49, 64, 77, 80, 96, 100, 112, 127, 128, 129})
      sizes.push_back({11, n, 0});  // most of them stay in registers
    for (const auto& [rows, n, per_channel] : sizes)
      for (const bool center : {true, false})
        for (const bool inside : {true, false}) {
          const auto x = random_floats(rows * n, 1, 3, 5), weight = random_floats(n, 2), bias = random_floats(n, 3);
          RowNormalization w{.rows = rows,
                             .n = n,
                             .epsilon = 1e-3f,
                             .center = center,
                             .epsilon_inside = inside,
                             .weight = weight.data(),
                             .bias = bias.data(),
                             .per_channel = per_channel,
                             .channel_rows = 2};
          Floats y(x.size());
          normalize_rows(w, x.data(), y.data(), four);
          auto in_place = x;
          normalize_rows(w, in_place.data(), in_place.data(), four);
          CHECK(in_place == y);
          for (i64 r = 0; r < rows; ++r) {
            double mean = 0, variance = 0;
            for (i64 i = 0; i < n; ++i) mean += x[at(r * n + i)] / static_cast<double>(n);
            if (!center) mean = 0;
            for (i64 i = 0; i < n; ++i) variance += std::pow(x[at(r * n + i)] - mean, 2) / static_cast<double>(n);
            const auto by = inside ? std::sqrt(variance + 1e-3) : std::sqrt(variance) + 1e-3;
            for (i64 i = 0; i < n; ++i) {
              const auto channel = per_channel ? r % 2 * (n / per_channel) + i / per_channel : i;
              const auto exact = (x[at(r * n + i)] - mean) / by * weight[at(channel)] + bias[at(channel)];
              REQUIRE(std::abs(y[at(r * n + i)] - exact) < 3e-6);
            }
          }
        }
  });
}

TEST_CASE("normalization of pixels over their channels, plain and on blocks") {
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const auto& [channels, plane] :
         {std::array<i64, 2>{16, 7}, {64, 300}, {1040, 9}, {24, 37}, {150, 33}, {32, 1}}) {
      constexpr i64 kBatch = 2;
      const auto x = random_floats(kBatch * channels * plane, 1, 3, 5), weight = random_floats(channels, 2),
                 bias = random_floats(channels, 3);
      const PixelNormalization w{.batch = kBatch,
                                 .channels = channels,
                                 .plane = plane,
                                 .epsilon = 1e-3f,
                                 .weight = weight.data(),
                                 .bias = bias.data()};
      for (const bool blocked : {false, true}) {
        if (blocked && channels % kBlock != 0) continue;
        const auto place = [&](i64 image, i64 c, i64 p) {
          return at(blocked ? ((image * channels + c / kBlock * kBlock) * plane + p * kBlock + c % kBlock)
                            : (image * channels + c) * plane + p);
        };
        Floats y(x.size()), again = x;
        normalize_over_channels(w, blocked, x.data(), y.data(), four);
        normalize_over_channels(w, blocked, again.data(), again.data(), one);  // in place
        CHECK(again == y);
        for (i64 image = 0; image < kBatch; ++image)
          for (i64 p = 0; p < plane; ++p) {
            double mean = 0, variance = 0;
            for (i64 c = 0; c < channels; ++c) mean += x[place(image, c, p)] / static_cast<double>(channels);
            for (i64 c = 0; c < channels; ++c)
              variance += std::pow(x[place(image, c, p)] - mean, 2) / static_cast<double>(channels);
            for (i64 c = 0; c < channels; ++c) {
              const auto exact =
                  (x[place(image, c, p)] - mean) / std::sqrt(variance + 1e-3) * weight[at(c)] + bias[at(c)];
              REQUIRE(std::abs(y[place(image, c, p)] - exact) < 3e-6);
            }
          }
      }
    }
  });
}

TEST_CASE("normalization of groups of channels, on blocks") {
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const auto& [channels, groups, plane] :
         {std::array<i64, 3>{32, 32, 7}, {32, 4, 300}, {64, 2, 261}, {48, 3, 1}, {32, 1, 20}}) {
      constexpr i64 kBatch = 2;
      const auto x = random_floats(kBatch * channels * plane, 1, 3, 5), weight = random_floats(channels, 2),
                 bias = random_floats(channels, 3);
      const BlockedNormalization w{.batch = kBatch,
                                   .channels = channels,
                                   .plane = plane,
                                   .groups = groups,
                                   .epsilon = 1e-3f,
                                   .weight = weight.data(),
                                   .bias = bias.data()};
      REQUIRE(can_normalize_blocked(channels, groups));
      Floats y(x.size()), again = x;
      normalize_blocked(w, x.data(), y.data(), four);
      normalize_blocked(w, again.data(), again.data(), one);  // in place
      CHECK(again == y);
      const auto blocks = channels / kBlock, pairs = (blocks + 1) / 2;
      std::vector<std::uint16_t> halves(at(kBatch * pairs * plane * 2 * kBlock), 0x7777);
      normalize_blocked(w, x.data(), halves.data(), four);
      for (i64 i = 0; i < std::ssize(halves); ++i) {
        const auto lane = i % (2 * kBlock), block = i / (2 * kBlock) / plane % pairs * 2 + lane / kBlock,
                   image = i / (2 * kBlock) / plane / pairs, pixel = i / (2 * kBlock) % plane;
        std::uint16_t rounded = 0;
        if (block < blocks)
          narrow_isa().to_bf16(&y[at(((image * blocks + block) * plane + pixel) * kBlock + lane % kBlock)], &rounded,
                               1);
        REQUIRE(halves[at(i)] == rounded);
      }
      // Of what bf16 has: as of f32, but for the multiplication and addition that may round once. Lanes without a
      // channel come out as 0.
      for (const auto f : {Function::identity, Function::gelu_erf}) {
        auto what = w;
        what.activation.f = f;
        std::vector<std::uint16_t> from(halves.size(), 0x7777), to(halves.size(), 0x7777), expected(halves.size());
        Floats wide(x.size());
        const auto each_lane = [&](auto lane_of) {
          for (i64 i = 0; i < std::ssize(halves); ++i) {
            const auto lane = i % (2 * kBlock), block = i / (2 * kBlock) / plane % pairs * 2 + lane / kBlock,
                       image = i / (2 * kBlock) / plane / pairs, pixel = i / (2 * kBlock) % plane;
            if (block < blocks) lane_of(at(i), at(((image * blocks + block) * plane + pixel) * kBlock + lane % kBlock));
          }
        };
        each_lane([&](std::size_t i, std::size_t j) {
          narrow_isa().to_bf16(&x[j], &from[i], 1);
          narrow_isa().from_bf16(&from[i], &wide[j], 1);
        });
        normalize_blocked(what, wide.data(), expected.data(), four);
        normalize_blocked(what, from.data(), to.data(), four);
        for (std::size_t i = 0; i < to.size(); ++i) {
          float got = 0, want = 0;
          narrow_isa().from_bf16(&to[i], &got, 1);
          narrow_isa().from_bf16(&expected[i], &want, 1);
          REQUIRE(std::abs(got - want) <= std::abs(want) / 127 + 1e-5f);
        }
        normalize_blocked(what, from.data(), from.data(), one);  // in place
        CHECK(from == to);
      }
      const auto place = [&](i64 image, i64 c, i64 p) {
        return at(((image * channels + c) / kBlock * plane + p) * kBlock + c % kBlock);
      };
      const auto size = channels / groups;
      for (i64 image = 0; image < kBatch; ++image)
        for (i64 group = 0; group < groups; ++group) {
          double mean = 0, variance = 0;
          const auto each = [&](auto f) {
            for (i64 c = group * size; c < (group + 1) * size; ++c)
              for (i64 p = 0; p < plane; ++p) f(c, place(image, c, p));
          };
          each([&](i64, std::size_t i) { mean += x[i] / static_cast<double>(size * plane); });
          each([&](i64, std::size_t i) { variance += std::pow(x[i] - mean, 2) / static_cast<double>(size * plane); });
          each([&](i64 c, std::size_t i) {
            const auto exact = (x[i] - mean) / std::sqrt(variance + 1e-3) * weight[at(c)] + bias[at(c)];
            REQUIRE(std::abs(y[i] - exact) < 1e-5);
          });
        }
    }
  });
  CHECK_FALSE(can_normalize_blocked(36, 3));
  CHECK_FALSE(can_normalize_blocked(48, 2));
}

TEST_CASE("reductions over rows and columns") {
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const auto& [outer, n, inner] :
         {std::array<i64, 3>{5, 7, 1}, {3, 3000, 1}, {4, 49, 16}, {2, 1200, 70}, {1, 9, 5}}) {
      const auto x = random_floats(outer * n * inner, 1, -1, 2);
      for (const auto what : {Reduction::sum, Reduction::mean, Reduction::maximum, Reduction::minimum, Reduction::norm,
                              Reduction::absolute}) {
        Floats y(at(outer * inner)), again = y;
        reduce(what, x.data(), y.data(), outer, n, inner, four);
        reduce(what, x.data(), again.data(), outer, n, inner, one);
        CHECK(y == again);
        for (i64 o = 0; o < outer; ++o)
          for (i64 i = 0; i < inner; ++i) {
            double sum = 0, absolute = 0, squares = 0, max = -1e9, min = 1e9;
            for (i64 k = 0; k < n; ++k) {
              const double v = x[at((o * n + k) * inner + i)];
              sum += v;
              absolute += std::abs(v);
              squares += v * v;
              max = std::max(max, v);
              min = std::min(min, v);
            }
            const auto exact = what == Reduction::sum        ? sum
                               : what == Reduction::mean     ? sum / static_cast<double>(n)
                               : what == Reduction::maximum  ? max
                               : what == Reduction::minimum  ? min
                               : what == Reduction::absolute ? absolute
                                                             : std::sqrt(squares);
            REQUIRE(std::abs(y[at(o * inner + i)] - exact) <= 1e-6 * std::max(1.0, std::abs(exact)));
          }
      }
    }
    // Squares that f32 does not hold.
    const float large[] = {3e30f, 3e-30f, 4e30f, 4e-30f};
    float norms[2];
    reduce(Reduction::norm, large, norms, 1, 2, 2, one);
    CHECK((std::abs(norms[0] / 5e30f - 1) < 1e-6f && std::abs(norms[1] / 5e-30f - 1) < 1e-6f));
    float odd[] = {1, std::nanf(""), 3, 4};
    float y[2];
    reduce(Reduction::maximum, odd, y, 1, 2, 2, one);
    CHECK((y[0] == 3 && std::isnan(y[1])));
    reduce(Reduction::mean, odd, y, 1, 0, 2, one);
    CHECK(std::isnan(y[0]));
    reduce(Reduction::minimum, odd, y, 1, 0, 1, one);
    CHECK(y[0] == kInf);
  });
}

Floats random_bf16(i64 n, unsigned seed) {
  auto x = random_floats(n, seed);
  std::vector<std::uint16_t> rounded(x.size());
  narrow_isa().to_bf16(x.data(), rounded.data(), n);
  narrow_isa().from_bf16(rounded.data(), x.data(), n);
  return x;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST_CASE("recurrent sequences: LSTM and GRU, both directions, lengths, in f32 and bf16") {
  ThreadPool four(4);
  const i64 lengths[] = {5, 3, 1, 0, 4};
  const i64 batch = GENERATE(2, 5), steps = 5, inputs = 7, hidden = 19;
  // In bf16 only states are rounded.
  const auto x = random_bf16(batch * steps * inputs, 1), h0 = random_floats(batch * hidden, 2),
             c0 = random_floats(batch * hidden, 3);
  const auto w = random_bf16(inputs * 4 * hidden, 4), r = random_bf16(hidden * 4 * hidden, 5);
  auto bias = random_floats(round_up(4 * hidden, 32) + 32, 6);
  const auto product_of = [](const Floats& a, i64 from, const Floats& b, i64 k, i64 column) {
    double sum = 0;
    for (i64 i = 0; i < k; ++i) sum += static_cast<double>(a[at(from + i)]) * b[at(column * k + i)];
    return sum;
  };
  enum Cell { lstm_cell, gru_cell, gru_linear };
  for (const auto cell : {lstm_cell, gru_cell, gru_linear})
    for (const bool backward : {false, true}) {
      const auto wide = (cell == lstm_cell ? 4 : 3) * hidden;
      std::vector<double> exact(at(batch * steps * hidden));
      for (i64 b = 0; b < batch; ++b) {
        Floats h(h0.begin() + b * hidden, h0.begin() + (b + 1) * hidden);
        std::vector<double> c(c0.begin() + b * hidden, c0.begin() + (b + 1) * hidden);
        for (i64 i = 0; i < lengths[b]; ++i) {
          const auto t = backward ? lengths[b] - 1 - i : i;
          const auto in = [&](i64 column) {
            return product_of(x, (b * steps + t) * inputs, w, inputs, column) + bias[at(column)];
          };
          std::vector<double> next(at(hidden));
          Floats reset(at(hidden));
          for (i64 j = 0; j < hidden; ++j)
            reset[at(j)] = static_cast<float>(sigmoid(in(hidden + j) + product_of(h, 0, r, hidden, hidden + j)));
          for (i64 j = 0; j < hidden; ++j) {
            const auto gate = [&](i64 g) { return in(g * hidden + j) + product_of(h, 0, r, hidden, g * hidden + j); };
            if (cell == lstm_cell) {
              c[at(j)] = sigmoid(gate(0)) * c[at(j)] + sigmoid(gate(1)) * std::tanh(gate(2));
              next[at(j)] = sigmoid(gate(3)) * std::tanh(c[at(j)]);
              continue;
            }
            double of_state = 0;
            if (cell == gru_linear)
              of_state = reset[at(j)] * (product_of(h, 0, r, hidden, 2 * hidden + j) + bias[at(3 * hidden + j)]);
            else
              for (i64 k = 0; k < hidden; ++k)
                of_state += static_cast<double>(reset[at(k)]) * h[at(k)] * r[at((2 * hidden + j) * hidden + k)];
            const auto candidate = std::tanh(in(2 * hidden + j) + of_state), kept = sigmoid(gate(0));
            next[at(j)] = (1 - kept) * candidate + kept * h[at(j)];
          }
          for (i64 j = 0; j < hidden; ++j)
            exact[at((b * steps + t) * hidden + j)] = h[at(j)] = static_cast<float>(next[at(j)]);
        }
      }
      for_each_isa([&] {
        for (const bool bf16 : {false, true}) {
          const RecurrentShape s{
              .batch = batch, .steps = steps, .inputs = inputs, .hidden = hidden, .backward = backward};
          const RecurrentMatrix by_inputs(w.data(), inputs, wide, bf16);
          const Buffer rounded(batch * std::max(by_inputs.words(steps), bf16_words(hidden)));
          Floats y(exact.size(), 9.0f);
          auto h = h0, c = c0;
          const RecurrentData d{x.data(), y.data(), steps * hidden, hidden,
                                lengths,  h.data(), c.data(),       words(rounded)};
          if (cell == lstm_cell) {
            const RecurrentMatrix by_states(r.data(), hidden, wide, bf16);
            const Buffer scratch(s.batch * lstm_scratch_size(s));
            lstm(s, by_inputs, by_states, bias.data(), d, scratch.data(), four);
          } else {
            const RecurrentMatrix gates(r.data(), hidden, 2 * hidden, bf16),
                candidate(r.data() + 2 * hidden * hidden, hidden, hidden, bf16);
            const Buffer scratch(s.batch * gru_scratch_size(s));
            gru(s, by_inputs, gates, candidate, bias.data(), cell == gru_linear, d, scratch.data(), four);
          }
          const auto off = worst(y, exact, 1);
          CHECK(off < (bf16 ? 2e-2 : 2e-6));
          CHECK((off > 1e-4) == bf16);
          for (i64 j = 0; j < hidden; ++j)
            CHECK(h[at(hidden + j)] == y[at((steps + (backward ? 0 : lengths[1] - 1)) * hidden + j)]);
        }
      });
    }
}

}  // namespace
}  // namespace ovir::fast
