#include "fast/kernels/attention/few.hpp"

#include <algorithm>
#include <cmath>

namespace ovir::fast {
namespace {

/// How many keys or values, at most, and how many of their bytes.
constexpr i64 kMostKeys = 256, kKeyBytes = 16 << 10;

/// Scores, of which there are `seen`, become probabilities but for the factor that is given; 0: there is none to see.
float exponentials(const AttentionShape& s, const Few& few, float* scores, i64 seen) {
  const auto& table = isa();
  const auto& mask = few.mask;
  if (mask.grid.columns > 0) mask.add_grid(scores, few.scale, 0, seen);
  else table.unary({Function::linear, few.scale, 0}, scores, scores, seen);
  if (mask.added) table.binary(Binary::add, scores, 1, mask.added, mask.column, scores, seen);
  if (mask.seen) mask.hide(scores, 0, seen);
  auto highest = table.maximum(scores, seen);
  if (s.sunk) highest = std::max(highest, mask.sink.of(0));
  auto sum = table.exp_sum(scores, 1, highest, scores, seen);
  if (s.sunk) sum += std::exp(mask.sink.of(0) - highest);
  return seen == 0 || (!(sum > 0) && gives_zeros(s, mask)) ? 0 : 1 / sum;
}

}  // namespace

void attend_few(const AttentionShape& s, std::span<const Few> few, const HeadView& k, const HeadView& v,
                float* scores) {
  const auto& table = isa();
  const auto together = [](i64 depth) {
    return std::clamp<i64>(kKeyBytes / (i64{sizeof(float)} * std::max<i64>(depth, 1)) / 8 * 8, 8, kMostKeys);
  };
  const auto seen = [&](const Few& f) { return s.causal ? std::min(s.keys, f.query + 1) : s.keys; };
  const auto row = few_row(s);
  const auto each = [&](const auto& work) {
    for (std::size_t i = 0; i < few.size(); ++i) work(few[i], scores + static_cast<i64>(i) * row);
  };
  // Asks for the share of query f in the rows from `first` on.
  const auto ask = [&](const Few& f, const HeadView& of, i64 first, i64 step, i64 depth) {
    const auto count = std::min(step, s.keys - first);
    if (count <= 0) return;
    const Part part(count, std::ssize(few), &f - few.data());
    for (auto i = part.begin; i < part.end; ++i)
      for (i64 j = 0; j < depth; j += kBlock) __builtin_prefetch(of.data + (first + i) * of.row + j);
  };
  for (i64 first = 0, step = together(s.depth); first < s.keys; first += step)
    each([&](const Few& f, float* x) {
      ask(f, k, first + step, step, s.depth);
      const auto count = std::min(step, seen(f) - first);
      if (count > 0) table.dots(f.q, k.data + first * k.row, k.row, count, s.depth, x + first);
    });
  float factors[kMostFew];
  each([&](const Few& f, float* x) { factors[&f - few.data()] = exponentials(s, f, x, seen(f)); });
  const float* rows[kMostKeys];
  for (i64 first = 0, step = together(s.value_depth); first < s.keys; first += step) {
    for (i64 i = 0; i < std::min(step, s.keys - first); ++i) rows[i] = v.data + (first + i) * v.row;
    each([&](const Few& f, const float* x) {
      ask(f, v, first + step, step, s.value_depth);
      const auto count = std::min(step, seen(f) - first);
      if (count > 0) table.weighted_sum(x + first, rows, count, f.out, s.value_depth, first == 0);
    });
  }
  each([&](const Few& f, const float*) {
    const auto& factor = factors[&f - few.data()];
    if (factor == 0) std::fill_n(f.out, s.value_depth, 0.0F);
    else table.binary(Binary::multiply, f.out, 1, &factor, 0, f.out, s.value_depth);
  });
}

}  // namespace ovir::fast
