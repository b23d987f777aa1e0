// Attention against the formula in double precision, and which keys it leaves out.
#include <thread>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/attention/attention.hpp"
#include "fast/kernels/attention/visible_keys.hpp"
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/chunks.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Numbers that bf16 has.
Floats random_short(i64 n, unsigned seed, float low, float high) {
  auto v = random_floats(n, seed, low, high);
  for (auto& x : v) x = std::nearbyint(x * 32) / 32;
  return v;
}

Floats floats_of(const std::vector<std::uint16_t>& x) {
  Floats to(x.size());
  narrow_isa().from_bf16(x.data(), to.data(), static_cast<i64>(x.size()));
  return to;
}

TEST_CASE("attention: masks, heads that share keys, transposed keys, one query") {
  ThreadPool one(1), four(4);
  enum class Mask { none, added, seen, hidden };
  using enum Mask;
  struct Case {
    AttentionShape s;
    Mask mask;
    bool transposed_keys;
  };
  const Case cases[] = {
      {{1, 2, 2, 7, 7, 16, 16, 0.25f, false}, none, false},    {{2, 4, 2, 50, 33, 24, 40, 0.2f, false}, added, false},
      {{2, 4, 2, 50, 33, 24, 40, 0.2f, false}, seen, false},   {{1, 2, 2, 11, 53, 24, 40, 0.2f, false}, hidden, false},
      {{1, 3, 1, 64, 64, 32, 32, 0.125f, true}, none, true},   {{1, 2, 2, 40, 1300, 20, 17, 0.3f, false}, added, true},
      {{1, 2, 2, 9, 1300, 20, 17, 0.3f, false}, hidden, true}, {{1, 1, 1, 600, 600, 8, 8, 0.5f, true}, none, false},
      {{2, 4, 1, 1, 90, 32, 32, 0.2f, false}, added, false},   {{2, 4, 1, 3, 90, 32, 32, 0.2f, false}, hidden, false},
      {{1, 2, 2, 1, 40, 12, 12, 0.2f, false}, none, true},     {{1, 24, 1, 2, 700, 80, 72, 0.1f, false}, added, false},
      {{2, 6, 2, 3, 300, 70, 33, 0.2f, true}, none, false},
  };
  for (const auto& c : cases) {
    const auto& s = c.s;
    const auto q = random_short(s.batch * s.heads * s.queries * s.depth, 1, -2, 2),
               k = random_short(s.batch * s.kv_heads * s.keys * s.depth, 2, -2, 2),
               v = random_short(s.batch * s.kv_heads * s.keys * s.value_depth, 3, -1, 1);
    auto mask = random_floats(s.queries * s.keys, 4);
    for (i64 i = 0; i < s.queries; ++i) mask[at(i * s.keys + i % s.keys)] = -kInf;
    std::vector<unsigned char> bytes(mask.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * 7 % 11 < 4 ? 0 : 1;
    constexpr float kScore = -0.4f;  // of a key that is hidden
    // [batch][heads][rows][columns]; the output is [batch][queries][heads][columns].
    const HeadView qv{q.data(), s.heads * s.queries * s.depth, s.queries * s.depth, s.depth, 1};
    HeadView kv{k.data(), s.kv_heads * s.keys * s.depth, s.keys * s.depth, s.depth, 1};
    if (c.transposed_keys) kv.row = 1, kv.column = s.keys;
    const HeadView vv{v.data(), s.kv_heads * s.keys * s.value_depth, s.keys * s.value_depth, s.value_depth, 1};
    const MaskView mv{.added = c.mask == added ? mask.data() : nullptr,
                      .seen = c.mask == seen || c.mask == hidden ? bytes.data() : nullptr,
                      .hides = c.mask == hidden,
                      .hidden = kScore,
                      .row = s.keys};
    const auto wide = s.heads * s.value_depth;
    const HeadPlace ov{.batch = s.queries * wide, .head = s.value_depth, .row = wide};
    std::vector<double> exact(at(s.batch * s.queries * wide));
    for (i64 b = 0; b < s.batch; ++b)
      for (i64 h = 0; h < s.heads; ++h)
        for (i64 i = 0; i < s.queries; ++i) {
          std::vector<double> scores;
          const auto shared = h / (s.heads / s.kv_heads);
          for (i64 j = 0; j < s.keys; ++j) {
            double score = 0;
            for (i64 d = 0; d < s.depth; ++d)
              score += static_cast<double>(q[at(b * qv.batch + h * qv.head + i * qv.row + d)]) *
                       k[at(b * kv.batch + shared * kv.head + j * kv.row + d * kv.column)];
            score = score * s.scale + (mv.added ? mask[at(i * s.keys + j)] : 0.0f);
            if (mv.seen && (bytes[at(i * s.keys + j)] != 0) == mv.hides) score = static_cast<double>(kScore);
            scores.push_back(s.causal && j > i ? -static_cast<double>(kInf) : score);
          }
          const auto max = *std::max_element(scores.begin(), scores.end());
          double sum = 0;
          for (auto& score : scores) sum += score = std::exp(score - max);
          for (i64 d = 0; d < s.value_depth; ++d)
            for (i64 j = 0; j < s.keys; ++j)
              exact[at(b * ov.batch + h * ov.head + i * ov.row + d)] +=
                  scores[at(j)] / sum * v[at(b * vv.batch + shared * vv.head + j * vv.row + d)];
        }
    for_each_isa([&] {
      for (const bool bf16 : {false, true}) {
        INFO(s.queries << " queries, " << s.keys << " keys, bf16: " << bf16);
        auto narrow = s;
        narrow.bf16 = bf16;
        const Buffer scratch(attention_scratch_size(narrow, kv.column == 1, 4));
        Floats y(exact.size()), again = y;
        const auto to = [&](Floats& result) {
          auto place = ov;
          place.wide = result.data();
          return place;
        };
        attention(narrow, qv, kv, vv, mv, to(y), scratch.data(), four);
        // Of probabilities, rounded to half a unit of bf16, 2^-8 of themselves; values are within 1.
        CHECK(worst(y, exact, 1) < (bf16 ? 1.0 / 256 : 3e-6));
        attention(narrow, qv, kv, vv, mv, to(again), scratch.data(), one);
        CHECK(again == y);
        // Piece by piece, from queries within a head on: every thread has room of its own.
        for (const int threads : {1, 2, 3}) {
          const auto pieces = attention_pieces(narrow, kv.column == 1, threads);
          if (pieces == 0) continue;
          CHECK(pieces == s.batch * s.heads * s.queries);
          const Buffer rooms(attention_scratch_size(narrow, kv.column == 1, threads));
          std::fill(again.begin(), again.end(), 0.0f);
          std::vector<std::jthread> workers;
          for (int t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
              const Part part(pieces, threads, t);
              attention_alone(narrow, qv, kv, vv, mv, to(again), rooms.data(), part.begin, part.end, t);
            });
          workers.clear();
          CHECK(again == y);
        }
        if (!bf16 || c.transposed_keys) continue;
        // Operands and the output in bf16, which has these numbers: what is rounded is the same.
        const auto halves = [](const Floats& x) {
          std::vector<std::uint16_t> to(x.size());
          narrow_isa().to_bf16(x.data(), to.data(), static_cast<i64>(x.size()));
          return to;
        };
        const auto in_halves = [](HeadView view, const std::vector<std::uint16_t>& x) {
          view.data = nullptr;
          view.narrow = x.data();
          return view;
        };
        const auto qs = halves(q), ks = halves(k), vs = halves(v);
        std::vector<std::uint16_t> ys(y.size());
        auto place = ov;
        place.narrow = ys.data();
        const Buffer other(attention_scratch_size(narrow, false, 4));
        attention(narrow, in_halves(qv, qs), in_halves(kv, ks), in_halves(vv, vs), mv, place, other.data(), four);
        CHECK(worst(floats_of(ys), exact, 1) < 2.0 / 256);
      }
    });
  }
}

/// Row i of a mask sees the keys [first(i), last(i)).
template <class First, class Last>
Floats mask_of(i64 queries, i64 keys, float hidden, First first, Last last) {
  Floats mask(at(queries * keys), hidden);
  for (i64 i = 0; i < queries; ++i)
    for (auto j = std::max<i64>(0, first(i)); j < std::min(keys, last(i)); ++j)
      mask[at(i * keys + j)] = -0.01f * static_cast<float>(i - j);
  return mask;
}

TEST_CASE("attention: keys that no query of some sees are left out") {
  const AttentionShape s{.queries = 5, .keys = 700, .depth = 8, .value_depth = 8};
  const auto range = [&](const MaskView& mask, float bound, i64 count = 5, AttentionShape shape = {}) {
    if (shape.keys == 0) shape = s;
    const auto r = visible_keys(shape, mask, 0, count, bound);
    return std::pair(r.begin, r.end);
  };
  const auto window = [&](float hidden) {
    return mask_of(
        s.queries, s.keys, hidden, [](i64 i) { return 130 + i; }, [](i64 i) { return 250 + i; });
  };
  for (const float hidden : {-kInf, std::numeric_limits<float>::lowest(), -65504.0f, -10000.0f}) {
    const auto values = window(hidden);
    const MaskView mask{.added = values.data(), .row = s.keys};
    CHECK(range(mask, 50) == std::pair<i64, i64>{128, 256});
    CHECK(range(mask, 0, 1) == std::pair<i64, i64>{128, 256});
    CHECK(range(mask, kInf) == std::pair<i64, i64>{0, 700});
    CHECK(range(mask, std::nanf("")) == std::pair<i64, i64>{0, 700});
    // A score of 5000 beside one of -5000: the hidden key may be the higher one.
    CHECK((range(mask, 5000) == std::pair<i64, i64>{0, 700}) == (hidden == -10000));
    CHECK(range({.added = values.data() + 64, .row = s.keys}, 50, 5, {.keys = 636}) == std::pair<i64, i64>{64, 192});
  }
  auto values = window(-kInf);
  std::fill_n(values.begin() + at(2 * s.keys), s.keys, -kInf);  // a query that sees none
  CHECK(range({.added = values.data(), .row = s.keys}, 50) == std::pair<i64, i64>{0, 700});
  CHECK(range({.added = values.data(), .row = s.keys}, 50, 2) == std::pair<i64, i64>{128, 256});
  values = window(-kInf);
  values[at(3 * s.keys + 699)] = std::nanf("");
  CHECK(range({.added = values.data(), .row = s.keys}, 50) == std::pair<i64, i64>{128, 700});
  std::vector<unsigned char> bytes(at(s.queries * s.keys), 0);
  for (const i64 i : {0, 1, 2, 3, 4}) bytes[at(i * s.keys + 650 + i)] = 3;
  CHECK(range({.seen = bytes.data(), .row = s.keys}, 50) == std::pair<i64, i64>{640, 700});
  CHECK(range({.seen = bytes.data(), .hidden = -100, .row = s.keys}, 50) == std::pair<i64, i64>{0, 700});
  CHECK(range({.seen = bytes.data(), .hides = true, .row = s.keys}, 50) == std::pair<i64, i64>{0, 700});
  for (auto& byte : bytes) byte = byte == 0 ? 1 : 0;
  CHECK(range({.seen = bytes.data(), .hides = true, .row = s.keys}, 50) == std::pair<i64, i64>{640, 700});
  CHECK(range({}, 50, 5, {.keys = 700, .causal = true}) == std::pair<i64, i64>{0, 64});
}

TEST_CASE("attention without the keys that masks hide is the same, bit for bit") {
  ThreadPool one(1), four(4);
  for (const i64 keys : {200, 1400}) {
    const AttentionShape s{
        .heads = 2, .kv_heads = 1, .queries = 70, .keys = keys, .depth = 24, .value_depth = 40, .scale = 0.2f};
    const auto q = random_floats(s.heads * s.queries * s.depth, 1), k = random_floats(keys * s.depth, 2);
    const auto v = random_floats(keys * s.value_depth, 3);
    // On both sides of those that are seen; what is computed in blocks of 512 keys stays so.
    const i64 first = keys == 200 ? 64 : 576, left_out = keys == 200 ? 64 : 512;
    const HeadView qv{q.data(), 0, s.queries * s.depth, s.depth, 1}, kv{k.data(), 0, 0, s.depth, 1},
        vv{v.data(), 0, 0, s.value_depth, 1};
    for_each_isa([&] {
      const auto run = [&](const AttentionShape& shape, const HeadView& from, const HeadView& values,
                           const MaskView& mask, ThreadPool& pool) {
        Floats y(at(s.heads * s.queries * s.value_depth));
        const Buffer scratch(attention_scratch_size(shape, true, 4));
        attention(shape, qv, from, values, mask,
                  {.wide = y.data(), .head = s.queries * s.value_depth, .row = s.value_depth}, scratch.data(), pool);
        return y;
      };
      auto few = s;
      few.keys = keys - left_out;
      for (const float hidden : {-kInf, -65504.0f}) {
        INFO(keys << " keys, hidden by " << hidden);
        const auto mask = mask_of(
            s.queries, keys, hidden, [&](i64 i) { return first + i; }, [&](i64 i) { return first + 58 + i; });
        const MaskView view{.added = mask.data(), .row = keys};
        const auto y = run(s, kv, vv, view, four);
        CHECK((run(s, kv, vv, view, one) == y));
        CHECK((run(few, kv.from(left_out), vv.from(left_out), view.from(left_out), four) == y));
      }
      // What is hidden counts where it is not finite: 0 times infinity is no number.
      const auto mask = mask_of(
          s.queries, keys, -kInf, [&](i64) { return first; }, [&](i64) { return first + 128; });
      const MaskView view{.added = mask.data(), .row = keys};
      auto infinite = v;
      infinite[0] = kInf;
      CHECK(std::isnan(run(s, kv, {infinite.data(), 0, 0, s.value_depth, 1}, view, four)[0]));
      infinite = k;
      infinite[0] = std::nanf("");
      CHECK(std::isnan(run(s, {infinite.data(), 0, 0, s.depth, 1}, vv, view, four)[0]));
    });
  }
}

}  // namespace
}  // namespace ovir::fast
