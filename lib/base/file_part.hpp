// FilePart: bytes of a mapped file that are read instead of touched.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "base/int.hpp"

namespace ovir {

/// What is needed once had better be read: that costs less than to enter its pages into the page table and to take them
/// out again, and they do not count as memory of the process.
class FilePart {
 public:
  FilePart() = default;
  /// From `at` on, in what map_file() gave with this owner. Empty where the owner is another's.
  FilePart(const std::shared_ptr<const void>& owner, const std::byte* at);

  explicit operator bool() const { return owner_ != nullptr; }
  /// The bytes from `offset` on. False where the file cannot be read as far, or the part is empty.
  bool read(i64 offset, std::span<std::byte> to) const;
  /// The pages that lie within the first `size` bytes no longer count as memory of the process. Who touches them again
  /// finds what the file has.
  void leave_pages(std::size_t size) const;

 private:
  std::shared_ptr<const void> owner_;
  i64 offset_ = 0;
};

}  // namespace ovir
