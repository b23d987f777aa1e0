// Bytes with an owner: a memory-mapped file, a heap block, or a part of either. Copying shares, never duplicates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ovir {

/// An immutable byte range that keeps what it lies in alive.
struct Bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> view;

  std::string_view text() const { return {reinterpret_cast<const char*>(view.data()), view.size()}; }
  std::size_t size() const { return view.size(); }
};

/// Maps `path` read-only. Throws std::system_error where it cannot be opened or is not a regular file.
/// Files that can not be mapped (pipes) are read whole.
Bytes map_file(const std::string& path);

/// 64-byte aligned storage of `size` bytes, not initialised; it counts against the thread's MemoryBudget. Throws
/// std::bad_alloc, or OverBudget.
std::shared_ptr<std::byte> allocate(std::size_t size);

/// Writes a file so that it appears whole or not at all: written beside `path`, then renamed over it.
/// Throws std::system_error.
void write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);
void write_file(const std::string& path, std::string_view text);

}  // namespace ovir
