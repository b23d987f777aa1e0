#include "fast/kernels/selection/top_k.hpp"

#include <utility>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/rank.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 512;       // elements of a line that are ranked in one go
constexpr i64 kRows = 64;        // of columns
constexpr i64 kShortLine = 768;  // up to here many lines are faster as columns

/// The lower the better.
template <class T>
void rank_line(const LineTable& table, const T* x, i64 step, bool largest, Rank<T>* to, i64 n) {
  if constexpr (std::is_same_v<T, float>)
    if (step == 1) return table.rank(x, largest, to, n);
  for (i64 i = 0; i < n; ++i) {
    const auto rank = rank_of(x[i * step]);
    to[i] = largest ? ~rank : rank;
  }
}

/// A rank and a place, in the order of both.
template <class R>
using Ranked = std::conditional_t<sizeof(R) == 4, i64, std::pair<i64, i64>>;
i64 ranked(std::int32_t rank, i64 at) { return (i64{rank} << 32) | at; }
std::pair<i64, i64> ranked(i64 rank, i64 at) { return {rank, at}; }
std::int32_t rank_in(i64 r) { return static_cast<std::int32_t>(r >> 32); }
i64 rank_in(const std::pair<i64, i64>& r) { return r.first; }
i64 place_in(i64 r) { return r & 0xffffffff; }
i64 place_in(const std::pair<i64, i64>& r) { return r.second; }

/// Candidates that a line has at a time.
i64 candidates(const TopK& t) { return std::min(t.n, 2 * t.k + 64); }

/// The k best, first in `list`, which has room for candidates(): whatever comes after k that are as good is left out.
template <class T>
void best_of_line(const LineTable& table, const TopK& t, const T* x, Ranked<Rank<T>>* list) {
  const auto room = candidates(t);
  alignas(64) Rank<T> ranks[kPart];
  i64 count = 0;
  Rank<T> bound{};
  bool bounded = false;
  const auto next = [&](i64 i, i64 m) {
    if (!bounded) return i;
    if constexpr (sizeof(bound) == 4) return table.below(ranks, i, m, bound);
    while (i < m && ranks[i] >= bound) ++i;
    return i;
  };
  for (i64 first = 0; first < t.n; first += kPart) {
    const auto m = std::min(kPart, t.n - first);
    rank_line(table, x + first * t.inner, t.inner, t.largest, ranks, m);
    for (i64 i = 0; (i = next(i, m)) < m; ++i) {
      if (count == room) {
        std::nth_element(list, list + t.k - 1, list + count);
        count = t.k;
        bound = rank_in(list[t.k - 1]);
        bounded = true;
        if (ranks[i] >= bound) continue;
      }
      list[count++] = ranked(ranks[i], first + i);
    }
  }
  if (count > t.k) std::nth_element(list, list + t.k - 1, list + count);
  if (t.by_index) std::sort(list, list + t.k, [](const auto& a, const auto& b) { return place_in(a) < place_in(b); });
  else std::sort(list, list + t.k);
}

/// Writes results number `to` from element `from`, which was at `at` of its line.
template <class T>
struct Results {
  const T* x;
  T* values;
  std::int32_t* narrow;
  i64* wide;
  void put(i64 to, i64 from, i64 at) const {
    if (values) values[to] = x[from];
    if (narrow) narrow[to] = static_cast<std::int32_t>(at);
    if (wide) wide[to] = at;
  }
};

template <class T>
void lines(const TopK& t, const Results<T>& results, float* scratch, i64 each, ThreadPool& pool) {
  const auto& table = line_isa();
  Slots slots(scratch, each, slots_for(pool));
  const auto cost = 50 + static_cast<double>(t.n) / 4 + static_cast<double>(t.k) * 20;
  parallel_ranges(pool, t.outer * t.inner, cost, [&](i64 begin, i64 end) {
    const Slots::Lease lease(slots);
    auto* list = reinterpret_cast<Ranked<Rank<T>>*>(lease.data());
    for (auto line = begin; line < end; ++line) {
      const auto o = line / t.inner, i = line % t.inner, from = o * t.n * t.inner + i;
      best_of_line(table, t, results.x + from, list);
      for (i64 m = 0; m < t.k; ++m) {
        const auto at = place_in(list[m]);
        results.put((o * t.k + m) * t.inner + i, from + at * t.inner, at);
      }
    }
  });
}

/// Up to kRankColumns columns side by side; the element that is `r` further along the axis of column c is
/// x[c · column + r · row].
struct Columns {
  i64 count, column, row;
};

template <class T>
void rank_rows(const LineTable& table, const T* x, const Columns& c, i64 rows, bool largest, std::int32_t* to) {
  if (c.column == 1) {
    for (i64 r = 0; r < rows; ++r) rank_line(table, x + r * c.row, 1, largest, to + r * kRankColumns, c.count);
    return;
  }
  static_assert(kRows == kRankColumns);
  alignas(64) std::int32_t lines[kRankColumns * kRows];
  for (i64 l = 0; l < c.count; ++l) rank_line(table, x + l * c.column, 1, largest, lines + l * kRows, rows);
  // Floats are only moved.
  isa().transpose(reinterpret_cast<const float*>(lines), kRows, reinterpret_cast<float*>(to), kRankColumns, c.count,
                  rows);
}

/// The k best of each column are rows of `best` and `at`.
template <class T>
void best_of_columns(const LineTable& table, const TopK& t, const T* x, const Columns& c, std::int32_t* at) {
  alignas(64) std::int32_t ranks[kRows * kRankColumns], best[kMostKept * kRankColumns];
  for (i64 r = 0; r < t.n; r += kRows) {
    const auto rows = std::min(kRows, t.n - r);
    rank_rows(table, x + r * c.row, c, rows, t.largest, ranks);
    table.keep(ranks, rows, static_cast<std::int32_t>(r), static_cast<int>(t.k), best, at, c.count);
  }
}

/// Neighbors of an inner axis, or lines, are columns.
template <class T>
void columns(const TopK& t, const Results<T>& results, ThreadPool& pool) {
  const auto& table = line_isa();
  const bool are_lines = t.inner == 1;
  const auto across = are_lines ? t.outer : t.inner, outer = are_lines ? 1 : t.outer,
             runs = ceil_div(across, kRankColumns);
  const auto cost =
      50 + static_cast<double>(t.n * std::min(across, kRankColumns)) * (0.3 + 0.1 * static_cast<double>(t.k));
  parallel_ranges(pool, outer * runs, cost, [&](i64 begin, i64 end) {
    alignas(64) std::int32_t at[kMostKept * kRankColumns];
    for (auto run = begin; run < end; ++run) {
      const auto o = run / runs, first = run % runs * kRankColumns, count = std::min(kRankColumns, across - first);
      const Columns c{count, are_lines ? t.n : 1, t.inner};
      const auto from = o * t.n * t.inner + first * c.column;
      best_of_columns(table, t, results.x + from, c, at);
      for (i64 l = 0; l < count && t.by_index; ++l)
        for (i64 m = 1; m < t.k; ++m)
          for (auto i = m; i > 0 && at[i * kRankColumns + l] < at[(i - 1) * kRankColumns + l]; --i)
            std::swap(at[i * kRankColumns + l], at[(i - 1) * kRankColumns + l]);
      const auto to = o * t.k * t.inner + first * (are_lines ? t.k : 1), step = are_lines ? t.k : 1;
      for (i64 m = 0; m < t.k; ++m)
        for (i64 l = 0; l < count; ++l) {
          const auto place = at[m * kRankColumns + l];
          results.put(to + l * step + m * t.inner, from + l * c.column + place * c.row, place);
        }
    }
  });
}

}  // namespace

i64 top_k_scratch(const TopK& t, ElementType type) {
  const auto words = byte_width(type) == 8 ? 4 : 2;
  return round_up(candidates(t) * words, 16);
}

void top_k(const TopK& t, const View& x, const View* values, const View* indices, float* scratch, ThreadPool& pool) {
  dispatch(x.type, Numbers{}, [&]<class T>() {
    const bool wide = indices && indices->type == ElementType::i64;
    const Results<T> results{x.as<const T>(), values ? values->as<T>() : nullptr,
                             indices && !wide ? indices->as<std::int32_t>() : nullptr,
                             wide ? indices->as<i64>() : nullptr};
    constexpr i64 kFew = 8;  // a vector
    if constexpr (sizeof(T) <= 4) {
      const bool many = t.inner == 1 ? t.outer >= kFew && t.n <= kShortLine : t.inner >= kFew;
      if (many && t.k <= kMostKept) return columns(t, results, pool);
    }
    lines(t, results, scratch, top_k_scratch(t, x.type), pool);
  });
}

}  // namespace ovir::fast
