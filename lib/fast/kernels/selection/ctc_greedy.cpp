#include "fast/kernels/selection/ctc_greedy.hpp"

#include <algorithm>
#include <limits>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

/// Where the largest of n numbers is first, as std::max_element finds it.
std::int32_t largest(const LineTable& table, const float* x, i64 n) {
  constexpr i64 kPart = 256;
  alignas(64) std::int32_t ranks[kPart];
  std::int32_t best = std::numeric_limits<std::int32_t>::max();
  i64 at = 0;
  for (i64 first = 0; first < n; first += kPart) {
    const auto m = std::min(kPart, n - first);
    table.rank(x + first, true, ranks, m);
    auto least = best;
    for (i64 i = 0; i < m; ++i) least = std::min(least, ranks[i]);
    if (least == best) continue;
    best = least;
    at = first + (std::find(ranks, ranks + m, best) - ranks);
  }
  // Beside NaN what comes first counts.
  const bool odd = x[at] != x[at];
  return static_cast<std::int32_t>(odd ? std::max_element(x, x + n) - x : at);
}

i64 number(const View& v, i64 i) {
  return v.type == ElementType::i64 ? v.as<const i64>()[i] : v.as<const std::int32_t>()[i];
}
void put(const View& v, i64 i, i64 value) {
  if (v.type == ElementType::i64) v.as<i64>()[i] = value;
  else v.as<std::int32_t>()[i] = static_cast<std::int32_t>(value);
}

}  // namespace

i64 ctc_greedy_scratch(const CtcGreedy& c) { return c.batch * c.steps; }

void ctc_greedy(const CtcGreedy& c, const float* data, const View& lengths, const View& decoded, const View* counts,
                float* scratch, ThreadPool& pool) {
  const auto& table = line_isa();
  auto* best = reinterpret_cast<std::int32_t*>(scratch);
  parallel_ranges(pool, c.batch * c.steps, 20 + static_cast<double>(c.classes) / 3, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i)
      if (i % c.steps < number(lengths, i / c.steps)) best[i] = largest(table, data + i * c.classes, c.classes);
  });
  for (i64 n = 0; n < c.batch; ++n) {
    i64 count = 0, before = -1;
    for (i64 t = 0; t < number(lengths, n); ++t) {
      const i64 label = best[n * c.steps + t];
      if (label != c.blank && !(c.merges && label == before)) put(decoded, n * c.steps + count++, label);
      before = label;
    }
    if (counts) put(*counts, n, count);
    for (auto t = count; t < c.steps; ++t) put(decoded, n * c.steps + t, -1);
  }
}

}  // namespace ovir::fast
