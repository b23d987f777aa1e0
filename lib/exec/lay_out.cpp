// lay_out: the arena's offsets from lifetimes.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "exec/placement.hpp"

namespace ovir {
namespace {

/// Free stretches of the arena, by place and by size.
class Free {
 public:
  i64 take(i64 size) {
    const auto fit = by_size_.lower_bound({size, 0});
    if (fit == by_size_.end()) return grow(size);
    const auto [length, offset] = *fit;
    remove(offset, length);
    if (length > size) add(offset + size, length - size);
    return offset;
  }

  void give_back(i64 offset, i64 size) {
    auto next = by_place_.lower_bound(offset);
    if (next != by_place_.end() && next->first == offset + size) {
      const auto [begin, length] = *next;
      remove(begin, length);
      size += length;
    }
    const auto after = by_place_.lower_bound(offset);
    if (after != by_place_.begin()) {
      const auto [begin, length] = *std::prev(after);
      if (begin + length == offset) {
        remove(begin, length);
        offset = begin;
        size += length;
      }
    }
    add(offset, size);
  }

  i64 total() const { return total_; }

 private:
  /// At the end, into what is free there.
  i64 grow(i64 size) {
    i64 offset = total_;
    if (!by_place_.empty()) {
      const auto [begin, length] = *by_place_.rbegin();
      if (begin + length == total_) {
        remove(begin, length);
        offset = begin;
      }
    }
    total_ = offset + size;
    return offset;
  }
  void add(i64 offset, i64 size) {
    by_place_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void remove(i64 offset, i64 size) {
    by_place_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<i64, i64> by_place_;
  std::set<std::pair<i64, i64>> by_size_;
  i64 total_ = 0;
};

/// In the order of their steps, each into the smallest free stretch that holds it.
i64 by_steps(std::vector<Block>& blocks) {
  std::vector<std::size_t> births(blocks.size());
  std::iota(births.begin(), births.end(), std::size_t{0});
  auto deaths = births;
  // Of blocks that begin together the largest first: the others fit into what it leaves.
  std::stable_sort(births.begin(), births.end(), [&](auto a, auto b) {
    return blocks[a].begin != blocks[b].begin ? blocks[a].begin < blocks[b].begin : blocks[a].size > blocks[b].size;
  });
  std::stable_sort(deaths.begin(), deaths.end(), [&](auto a, auto b) { return blocks[a].end < blocks[b].end; });
  Free free;
  auto dead = deaths.begin();
  for (const auto i : births) {
    for (; dead != deaths.end() && blocks[*dead].end < blocks[i].begin; ++dead)
      free.give_back(blocks[*dead].offset, blocks[*dead].size);
    blocks[i].offset = free.take(blocks[i].size);
  }
  return free.total();
}

/// The largest first, each as low as it can lie. Takes the square of their number.
i64 by_size(std::vector<Block>& blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return blocks[a].size > blocks[b].size; });
  std::vector<Block> placed;  // by offset
  i64 total = 0;
  for (const auto i : order) {
    auto& block = blocks[i];
    block.offset = 0;
    for (const auto& other : placed) {
      if (other.end < block.begin || block.end < other.begin) continue;
      if (block.offset + block.size <= other.offset) break;
      block.offset = std::max(block.offset, other.offset + other.size);
    }
    const auto after = [](const Block& a, const Block& b) { return a.offset < b.offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block, after), block);
    total = std::max(total, block.offset + block.size);
  }
  return total;
}

}  // namespace

i64 lay_out(std::vector<Block>& blocks) {
  constexpr std::size_t kMaxBlocks = 512;
  const auto in_steps = by_steps(blocks);
  if (blocks.size() > kMaxBlocks) return in_steps;
  auto other = blocks;
  const auto in_sizes = by_size(other);
  if (in_sizes >= in_steps) return in_steps;
  blocks = std::move(other);
  return in_sizes;
}

}  // namespace ovir
