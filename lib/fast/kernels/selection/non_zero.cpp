#include "fast/kernels/selection/non_zero.hpp"

#include <utility>

#include "fast/kernels/chunks.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 4096;  // elements whose count is kept
constexpr double kCost = kPart / 4.0;

i64 parts_of(const View& x) { return ceil_div(x.size(), kPart); }

/// work(words, which of their bits count).
template <class Work>
void with_words(const View& x, bool is_float, Work work) {
  const auto go = [&]<class Word>() {
    constexpr auto kSign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    work(reinterpret_cast<const Word*>(x.data), static_cast<Word>(is_float ? ~kSign : ~Word{0}));
  };
  switch (byte_width(x.type)) {
    case 1: return go.template operator()<std::uint8_t>();
    case 2: return go.template operator()<std::uint16_t>();
    case 4: return go.template operator()<std::uint32_t>();
    default: return go.template operator()<std::uint64_t>();
  }
}

/// Indices of the elements [begin, end) that are not zero, from column `at` on.
template <class Word, class Index>
void put_part(const View& x, const Word* words, Word mask, i64 begin, i64 end, Index* to, i64 columns, i64 at) {
  i64 found[kPart];
  i64 count = 0;
  for (auto i = begin; i < end; ++i) {
    found[count] = i;
    count += (words[i] & mask) != 0 ? 1 : 0;
  }
  // The last axis first: what is left of a place are the axes before. They mostly stay what they were.
  for (auto axis = std::max<i64>(x.rank(), 1) - 1; axis >= 0; --axis) {
    const auto length = x.rank() == 0 ? 1 : x.dim(axis);
    auto* row = to + axis * columns + at;
    i64 before = 0, first = 0;  // `first` is the place of `before`, a whole one
    for (i64 k = 0; k < count; ++k) {
      if (found[k] - first >= length) {
        before = found[k] / length;
        first = before * length;
      }
      row[k] = static_cast<Index>(found[k] - first);
      found[k] = before;
    }
  }
}

}  // namespace

i64 non_zero_scratch(const View& x) { return 2 * (parts_of(x) + 1); }

i64 count_non_zero(const View& x, bool is_float, float* scratch, ThreadPool& pool) {
  auto* before = reinterpret_cast<i64*>(scratch);  // of each part
  const auto parts = parts_of(x), size = x.size();
  with_words(x, is_float, [&](const auto* words, auto mask) {
    parallel_ranges(pool, parts, kCost, [&](i64 begin, i64 end) {
      for (auto part = begin; part < end; ++part) {
        std::uint32_t count = 0;
        const auto last = std::min((part + 1) * kPart, size);
        for (auto i = part * kPart; i < last; ++i) count += (words[i] & mask) != 0 ? 1u : 0u;
        before[part] = count;
      }
    });
  });
  i64 total = 0;
  for (i64 part = 0; part < parts; ++part) total += std::exchange(before[part], total);
  before[parts] = total;
  return total;
}

void put_non_zero(const View& x, bool is_float, const View& to, const float* scratch, ThreadPool& pool) {
  const auto* before = reinterpret_cast<const i64*>(scratch);
  const auto parts = parts_of(x), size = x.size(), columns = before[parts];
  with_words(x, is_float, [&](const auto* words, auto mask) {
    dispatch(to.type, Indices{}, [&]<class Index>() {
      auto* target = to.as<Index>();
      parallel_ranges(pool, parts, 2 * kCost, [&](i64 begin, i64 end) {
        for (auto part = begin; part < end; ++part)
          if (before[part + 1] > before[part])
            put_part(x, words, mask, part * kPart, std::min((part + 1) * kPart, size), target, columns, before[part]);
      });
    });
  });
}

}  // namespace ovir::fast
