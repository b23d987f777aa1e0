#include "fast/kernels/selection/unique.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/rank.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

/// The rank of an element above the least one, and where it is.
template <class T>
struct Place {
  std::make_unsigned_t<Rank<T>> rank;
  std::uint32_t at;
};

/// The sorted places, in one of two stretches of memory, and the other one.
template <class T>
struct Places {
  i64 n;
  i64* other;  ///< whether they are in the second one
  Place<T>*first, *second;
  Places(const View& data, float* scratch)
      : n(data.size()),
        other(reinterpret_cast<i64*>(scratch)),
        first(reinterpret_cast<Place<T>*>(scratch + 16)),
        second(first + n) {}
  Place<T>* sorted() const { return *other ? second : first; }
  Place<T>* spare() const { return *other ? first : second; }
};

/// Stable, by so many digits as the largest rank has.
template <class T>
void sort(const Places<T>& p, std::uint64_t largest) {
  constexpr int kMostBits = 11;  // of a digit, whose counts stay in the first-level cache
  const auto bits = static_cast<int>(std::bit_width(largest));
  const auto digits = static_cast<int>(ceil_div(bits, kMostBits));
  std::array<std::uint32_t, std::size_t{1} << kMostBits> begin;
  for (int digit = 0; digit < digits; ++digit) {
    const int width = static_cast<int>(ceil_div(bits, digits)), shift = digit * width;
    const auto mask = (std::uint64_t{1} << width) - 1;
    const auto of = [&](const Place<T>& x) { return x.rank >> shift & mask; };
    const auto *from = p.sorted(), *end = from + p.n;
    auto* to = p.spare();
    std::fill_n(begin.begin(), mask + 1, 0);
    for (const auto* x = from; x < end; ++x) ++begin[of(*x)];
    std::uint32_t before = 0;
    for (std::uint64_t i = 0; i <= mask; ++i) before += std::exchange(begin[i], before);
    for (const auto* x = from; x < end; ++x) to[begin[of(*x)]++] = *x;
    *p.other ^= 1;
  }
}

template <class T>
i64 find(const View& data, float* scratch) {
  const Places<T> p(data, scratch);
  const T* values = data.as<const T>();
  auto least = rank_of(values[0]), largest = least;
  for (i64 i = 0; i < p.n; ++i) {
    const auto rank = rank_of(values[i]);
    least = std::min(least, rank);
    largest = std::max(largest, rank);
  }
  using Unsigned = std::make_unsigned_t<Rank<T>>;
  const auto above = [&](Rank<T> rank) {
    return static_cast<Unsigned>(static_cast<Unsigned>(rank) - static_cast<Unsigned>(least));
  };
  for (i64 i = 0; i < p.n; ++i) p.first[i] = {above(rank_of(values[i])), static_cast<std::uint32_t>(i)};
  *p.other = 0;
  sort(p, above(largest));
  const auto* places = p.sorted();
  i64 found = 1;
  for (i64 i = 1; i < p.n; ++i) found += i64{places[i].rank != places[i - 1].rank};
  return found;
}

/// work(k, first, begin, end): the elements at places[begin, end) are the k-th that differs, and the one at `first` is
/// the first of them.
template <class T, class Work>
void each(const Places<T>& p, const Work& work) {
  const auto* places = p.sorted();
  i64 k = 0;
  for (i64 begin = 0, end; begin < p.n; begin = end, ++k) {
    for (end = begin + 1; end < p.n && places[end].rank == places[begin].rank;) ++end;
    work(k, i64{places[begin].at}, begin, end);
  }
}

/// Where each output is an index type or, of the elements, theirs.
template <class T>
void put(const View& data, bool sorted, float* scratch, std::span<const View> out) {
  enum Output { elements, first_indices, reverse_indices, counts };
  const Places<T> p(data, scratch);
  const auto* places = p.sorted();
  // Of those not sorted, how many elements are before each first one and first, too.
  auto* before = reinterpret_cast<std::uint32_t*>(p.spare());
  if (!sorted) {
    std::fill_n(before, p.n, 0);
    each(p, [&](i64, i64 first, i64, i64) { before[first] = 1; });
    std::uint32_t firsts = 0;
    for (i64 i = 0; i < p.n; ++i) firsts += std::exchange(before[i], firsts);
  }
  const auto put_each = [&](const auto& work) {
    each(p, [&](i64 k, i64 first, i64 begin, i64 end) { work(sorted ? k : i64{before[first]}, first, begin, end); });
  };
  const auto put_indices = [&](Output port, const auto& work) {
    if (port < std::ssize(out))
      dispatch(out[port].type, Indices{}, [&]<class Index>() {
        auto* to = out[port].template as<Index>();
        put_each([&](i64 k, i64 first, i64 begin, i64 end) { work(to, k, first, begin, end); });
      });
  };
  const T* values = data.as<const T>();
  T* to = out[elements].template as<T>();
  put_each([&](i64 k, i64 first, i64, i64) { to[k] = values[first]; });
  put_indices(first_indices,
              [&]<class Index>(Index* to, i64 k, i64 first, i64, i64) { to[k] = static_cast<Index>(first); });
  put_indices(reverse_indices, [&]<class Index>(Index* to, i64 k, i64, i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) to[places[i].at] = static_cast<Index>(k);
  });
  put_indices(counts,
              [&]<class Index>(Index* to, i64 k, i64, i64 begin, i64 end) { to[k] = static_cast<Index>(end - begin); });
}

}  // namespace

i64 unique_scratch(const View& data) {
  i64 each = 0;
  dispatch(data.type, Numbers{}, [&]<class T>() { each = static_cast<i64>(sizeof(Place<T>) / sizeof(float)); });
  return 16 + 2 * each * data.size();
}

i64 find_unique(const View& data, float* scratch) {
  i64 found = 0;
  dispatch(data.type, Numbers{}, [&]<class T>() { found = find<T>(data, scratch); });
  return found;
}

void put_unique(const View& data, bool sorted, float* scratch, std::span<const View> out) {
  dispatch(data.type, Numbers{}, [&]<class T>() { put<T>(data, sorted, scratch, out); });
}

}  // namespace ovir::fast
