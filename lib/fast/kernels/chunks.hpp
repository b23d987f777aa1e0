// How work is shared out: chunk sizes follow from the work alone, so results are the same bits for any number of
// threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>

#include "base/int.hpp"
#include "base/thread_pool.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {

inline constexpr i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }
inline constexpr i64 round_up(i64 a, i64 to) { return ceil_div(a, to) * to; }

/// [begin, end).
struct Part {
  i64 begin, end;
  Part(i64 first, i64 last) : begin(first), end(last) {}
  /// Part i of n split into `parts` whose sizes differ by one at most.
  Part(i64 n, i64 parts, i64 i)
      : begin(n / parts * i + std::min(i, n % parts)), end(begin + n / parts + (i < n % parts)) {}
  i64 size() const { return end - begin; }
  friend bool operator==(const Part&, const Part&) = default;
};

/// Nanoseconds of work that are worth a chunk: some times what handing it out costs.
inline constexpr i64 kChunkWork = 4'000;

/// Nanoseconds that a product takes, roughly: so many multiplications, or reading weights of so many bytes from beyond
/// the second-level cache, where those of a whole net lie.
inline double product_time(double multiplications, double weight_bytes) {
  return std::max(multiplications / 40, weight_bytes / 16);
}

/// work(0) … work(chunks - 1). Allocates nothing for the closure.
template <class Work>
void parallel(ThreadPool& pool, i64 chunks, const Work& work) {
  if (chunks == 1) return work(0);
  pool.run(chunks, std::cref(work));
}

/// work(begin, end) over parts of [0, n), each about kChunkWork of `cost` nanoseconds an item.
template <class Work>
void parallel_ranges(ThreadPool& pool, i64 n, double cost, const Work& work) {
  const auto total = static_cast<double>(n) * cost / static_cast<double>(kChunkWork);
  const auto chunks = std::clamp<i64>(static_cast<i64>(std::min(total, 256.0)), 1, std::max<i64>(n, 1));
  parallel(pool, chunks, [&](i64 i) {
    const Part part(n, chunks, i);
    work(part.begin, part.end);
  });
}

/// work(first, columns) for the n columns of a matrix of k rows, some panels at a time.
template <class Work>
void parallel_panels(ThreadPool& pool, i64 k, i64 n, const Work& work) {
  parallel_ranges(pool, ceil_div(n, kColumns), static_cast<double>(k * kColumns) / 4,
                  [&](i64 begin, i64 end) { work(begin * kColumns, std::min(n, end * kColumns) - begin * kColumns); });
}

/// Chunks of rows, in so many parts, by panels, in so many groups. A thread begins with neighboring chunks: with rows
/// of its own, or, where panels come first, with panels that no other thread reads.
struct RowsByPanels {
  i64 parts, groups;
  bool panels_first;
  i64 chunks() const { return parts * groups; }
  i64 part(i64 chunk) const { return panels_first ? chunk % parts : chunk / groups % parts; }
  i64 group(i64 chunk) const { return panels_first ? chunk / parts % groups : chunk % groups; }
};

/// About `wanted` chunks: as many parts of what comes first as there may be, then of the other.
inline RowsByPanels shared_out(i64 wanted, i64 rows, i64 panels, bool panels_first) {
  const auto first = std::clamp<i64>(wanted, 1, panels_first ? panels : rows),
             second = std::clamp<i64>(ceil_div(wanted, first), 1, panels_first ? rows : panels);
  return {panels_first ? second : first, panels_first ? first : second, panels_first};
}

/// Whether threads share out the rows of planes of so many pixels, not the channels: what a thread reads of one
/// operation's results it has then computed itself, in its own cache. The weights of small planes are more than that.
inline constexpr bool by_rows(i64 plane) { return plane >= 512; }

/// Scratch memory in as many slots as chunks can run at once: a chunk takes one that is free and gives it back.
class Slots {
 public:
  Slots(float* memory, i64 floats_each, int count)
      : memory_(memory), each_(floats_each), free_(count >= 64 ? ~0ull : (1ull << count) - 1) {}

  class Lease {
   public:
    explicit Lease(Slots& slots) : slots_(slots), slot_(slots.take()) {}
    ~Lease() { slots_.free_.fetch_or(1ull << slot_, std::memory_order_release); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    float* data() const { return slots_.memory_ + slot_ * slots_.each_; }
    int slot() const { return slot_; }

   private:
    Slots& slots_;
    int slot_;
  };

 private:
  int take() {
    for (;;) {
      auto free = free_.load(std::memory_order_relaxed);
      while (free)
        if (free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire))
          return std::countr_zero(free);
    }
  }
  float* memory_;
  i64 each_;
  std::atomic<std::uint64_t> free_;
};

/// Slots that Slots needs for a pool.
inline int slots_for(const ThreadPool& pool) { return std::min(pool.threads(), 64); }

}  // namespace ovir::fast
