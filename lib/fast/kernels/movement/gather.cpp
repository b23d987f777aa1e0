#include "fast/kernels/movement/gather.hpp"

#include <array>
#include <atomic>
#include <cstring>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPicks = 2048;  // whose places are found at a time, for several slices of the data

/// Bytes that are moved as one.
struct Pair {
  std::uint64_t halves[2];
};

/// Rows of slices, and of those that are picked from them: bytes from one row to the next.
struct PickRows {
  i64 count = 1, from_apart = 0, to_apart = 0;
};

template <class Word>
void pick(const std::byte* from, const i64* places, i64 n, std::byte* to, bool inside, PickRows rows) {
  for (i64 r = 0; r < rows.count; ++r) {
    const auto* x = from + r * rows.from_apart;
    auto* y = reinterpret_cast<Word*>(to + r * rows.to_apart);
    const auto at = [x](i64 place) {
      Word word;
      std::memcpy(&word, x + place * static_cast<i64>(sizeof(Word)), sizeof(Word));
      return word;
    };
    if (inside)
      for (i64 i = 0; i < n; ++i) y[i] = at(places[i]);
    else
      for (i64 i = 0; i < n; ++i) y[i] = places[i] < 0 ? Word() : at(places[i]);
  }
}

/// Where rows are pixels of which as many numbers are picked as there are, as RGB becomes BGR; false otherwise.
bool reorder_pixels(const std::byte* from, const i64* places, i64 n, std::byte* to, i64 slice, const PickRows& rows) {
  const auto pixel = n * slice;
  if (n < 2 || n > 4 || rows.count == 1 || reinterpret_cast<std::uintptr_t>(from) % slice != 0 ||
      rows.from_apart != pixel || rows.to_apart != pixel)
    return false;
  const auto few = static_cast<int>(n);
  if (slice == sizeof(float))
    line_isa().reorder(few, places, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), rows.count);
  else if (slice == 1)
    line_isa().reorder_bytes(few, places, reinterpret_cast<const std::uint8_t*>(from),
                             reinterpret_cast<std::uint8_t*>(to), rows.count);
  else return false;
  return true;
}

void pick(const std::byte* from, const i64* places, i64 n, std::byte* to, i64 slice, bool inside, PickRows rows = {}) {
  if (inside && reorder_pixels(from, places, n, to, slice, rows)) return;
  switch (slice) {
    case 1: return pick<std::uint8_t>(from, places, n, to, inside, rows);
    case 2: return pick<std::uint16_t>(from, places, n, to, inside, rows);
    case 4: return pick<std::uint32_t>(from, places, n, to, inside, rows);
    case 8: return pick<std::uint64_t>(from, places, n, to, inside, rows);
    case 16: return pick<Pair>(from, places, n, to, inside, rows);
    default:
      for (i64 r = 0; r < rows.count; ++r, from += rows.from_apart, to += rows.to_apart)
        for (i64 i = 0; i < n; ++i)
          if (places[i] < 0) std::memset(to + i * slice, 0, slice);
          else std::memcpy(to + i * slice, from + places[i] * slice, slice);
  }
}

template <class Index>
void gather_by(const Gathering& what, const std::byte* data, const Index* indices, std::byte* y, ThreadPool& pool) {
  constexpr i64 kBytes = 16 << 10;
  const auto block = std::clamp<i64>(kBytes / what.slice, 1, std::min(kPicks, what.picks)),
             blocks = ceil_div(what.picks, block);
  const auto cost = static_cast<double>(block) * (1 + static_cast<double>(what.slice) / 8);
  parallel_ranges(pool, what.batches * blocks * what.outer, cost, [&](i64 begin, i64 end) {
    std::array<i64, kPicks> places;
    for (auto i = begin; i < end;) {
      const auto o = i % what.outer, batch = i / what.outer / blocks, first = i / what.outer % blocks * block;
      const auto n = std::min(block, what.picks - first), rows = std::min(end - i, what.outer - o);
      const auto* from = indices + batch * what.picks + first;
      bool inside = true;
      for (i64 k = 0; k < n; ++k) {
        const auto place = static_cast<i64>(from[k]) + (from[k] < 0 ? what.length : 0);
        const bool good = place >= 0 && place < what.length;
        inside = inside && good;
        places[k] = good ? place : -1;
      }
      const auto row = batch * what.outer + o;
      pick(data + row * what.length * what.slice, places.data(), n, y + (row * what.picks + first) * what.slice,
           what.slice, inside, {rows, what.length * what.slice, what.picks * what.slice});
      i += rows;
    }
  });
}

template <class Index>
i64 gather_tuples_by(const TupleGathering& what, const std::byte* data, const Index* indices, std::byte* y,
                     ThreadPool& pool) {
  const auto tuple = std::ssize(what.lengths);
  i64 slices = 1;
  for (const auto length : what.lengths) slices *= length;
  std::atomic<bool> good = true;
  const auto cost = static_cast<double>(2 * tuple + 4) + static_cast<double>(what.slice) / 8;
  parallel_ranges(pool, what.batches * what.picks, cost, [&](i64 begin, i64 end) {
    std::array<i64, kPicks> places;
    for (auto i = begin; i < end;) {
      const auto batch = i / what.picks;
      const auto n = std::min({kPicks, end - i, (batch + 1) * what.picks - i});
      bool inside = true;
      for (i64 k = 0; k < n; ++k) {
        i64 place = 0;
        for (i64 t = 0; t < tuple; ++t) {
          const auto given = static_cast<i64>(indices[(i + k) * tuple + t]), length = what.lengths[t];
          const auto at = given < 0 ? given + length : given;
          const bool is_inside = at >= 0 && at < length;
          inside = inside && is_inside;
          place = place * length + (is_inside ? at : 0);
        }
        places[k] = place;
      }
      if (inside) pick(data + batch * slices * what.slice, places.data(), n, y + i * what.slice, what.slice, true);
      else good = false;
      i += n;
    }
  });
  if (good) return -1;
  for (i64 i = 0;; ++i)
    if (const auto length = what.lengths[i % tuple]; indices[i] < -length || indices[i] >= length) return i;
}

template <class Index>
void scatter_by(const Gathering& what, const std::byte* updates, const Index* indices, std::byte* y, ThreadPool& pool) {
  // Of two updates of a slice the later one stays: it is pieces of slices that threads share out.
  constexpr i64 kBytes = 256;
  const auto pieces = ceil_div(what.slice, kBytes);
  const auto cost = static_cast<double>(what.picks) * (4 + static_cast<double>(std::min(kBytes, what.slice)) / 8);
  const auto move = [&](const std::byte* from, std::byte* to, auto size) {
    for (i64 i = 0; i < what.picks; ++i) std::memcpy(to + indices[i] * what.slice, from + i * what.slice, size);
  };
  parallel_ranges(pool, what.outer * pieces, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end;) {
      const auto o = i / pieces, first = i % pieces * kBytes, some = std::min(end - i, pieces - i % pieces);
      const auto size = std::min(some * kBytes, what.slice - first);
      const auto* from = updates + o * what.picks * what.slice + first;
      auto* to = y + o * what.length * what.slice + first;
      if (size == sizeof(float)) move(from, to, std::integral_constant<std::size_t, sizeof(float)>());
      else move(from, to, size);
      i += some;
    }
  });
}

}  // namespace

void gather(const Gathering& what, const std::byte* data, const i64* indices, std::byte* y, ThreadPool& pool) {
  gather_by(what, data, indices, y, pool);
}
void gather(const Gathering& what, const std::byte* data, const std::int32_t* indices, std::byte* y, ThreadPool& pool) {
  gather_by(what, data, indices, y, pool);
}

i64 gather_tuples(const TupleGathering& what, const std::byte* data, const i64* indices, std::byte* y,
                  ThreadPool& pool) {
  return gather_tuples_by(what, data, indices, y, pool);
}
i64 gather_tuples(const TupleGathering& what, const std::byte* data, const std::int32_t* indices, std::byte* y,
                  ThreadPool& pool) {
  return gather_tuples_by(what, data, indices, y, pool);
}

void scatter(const Gathering& what, const std::byte* updates, const i64* indices, std::byte* y, ThreadPool& pool) {
  scatter_by(what, updates, indices, y, pool);
}
void scatter(const Gathering& what, const std::byte* updates, const std::int32_t* indices, std::byte* y,
             ThreadPool& pool) {
  scatter_by(what, updates, indices, y, pool);
}

}  // namespace ovir::fast
