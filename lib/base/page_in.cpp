#include "base/page_in.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <system_error>

namespace ovir {
namespace {

/// Of this much others cannot change the address space meanwhile.
constexpr std::size_t kAtOnce = std::size_t{1} << 20;

/// False where the system cannot do it.
bool enter(const std::byte* begin, std::size_t size) {
#ifdef MADV_POPULATE_READ
  return ::madvise(const_cast<std::byte*>(begin), size, MADV_POPULATE_READ) == 0;
#else
  return ::madvise(const_cast<std::byte*>(begin), size, MADV_WILLNEED) == 0;
#endif
}

}  // namespace

PageIn::PageIn(std::span<const std::byte> mapped) {
  // madvise takes whole pages.
  constexpr std::uintptr_t kPage = 4096;
  const auto skipped = (kPage - reinterpret_cast<std::uintptr_t>(mapped.data()) % kPage) % kPage;
  if (mapped.size() <= skipped) return;
  mapped = mapped.subspan(skipped);
  try {
    thread_ = std::thread([this, mapped] {
      for (std::size_t at = 0; at < mapped.size() && !stop_.load(std::memory_order_relaxed); at += kAtOnce)
        if (!enter(mapped.data() + at, std::min(kAtOnce, mapped.size() - at))) return;
    });
  } catch (const std::system_error&) {
    // No thread is to be had: whoever reads the pages enters them.
  }
}

PageIn::~PageIn() {
  stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

}  // namespace ovir
