#include "base/scratch_memory.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace ovir {

void* ScratchMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t kFirst = 1024, kLargest = 1 << 20;
  if (!blocks_.empty()) {
    auto& block = blocks_.back();
    void* at = block.bytes.get() + used_;
    auto room = block.size - used_;
    if (std::align(alignment, bytes, at, room)) {
      used_ = block.size - room + bytes;
      return at;
    }
  }
  // Blocks grow, but for what is large none is larger than need be.
  const auto usual = blocks_.empty() ? kFirst : std::min(kLargest, 2 * blocks_.back().size);
  const auto size = std::max(bytes + alignment, usual);
  blocks_.push_back({ovir::allocate(size), size});
  used_ = 0;
  return do_allocate(bytes, alignment);
}

/// Where there were several blocks, one that holds as much as all takes their place.
void ScratchMemory::release() {
  used_ = 0;
  if (blocks_.size() < 2) return;
  std::size_t all = 0;
  for (const auto& block : blocks_) all += block.size;
  blocks_.clear();
  blocks_.push_back({ovir::allocate(all), all});
}

}  // namespace ovir
