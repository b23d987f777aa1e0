// PageIn: brings a mapped file's pages into the process while others still prepare to read them.
#pragma once
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>

namespace ovir {

/// A thread that enters the pages of `mapped` into the process's page table, so that reading them later takes no page
/// faults. Ends when it is through, or with the object. Costs nothing but time where the system cannot do it.
class PageIn {
 public:
  explicit PageIn(std::span<const std::byte> mapped);
  ~PageIn();
  PageIn(const PageIn&) = delete;
  PageIn& operator=(const PageIn&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ovir
