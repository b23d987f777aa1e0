// Buffer: floats on a cache line, for packed weights and scratch memory.
#pragma once
#include <cstdint>
#include <memory>

#include "base/int.hpp"
#include "base/thread_pool.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {

/// Zeros, if not said otherwise. Large ones are put on huge pages where the system has some: weights are read from end
/// to end again and again.
class Buffer {
 public:
  Buffer() = default;
  /// Throws std::bad_alloc.
  explicit Buffer(i64 floats);
  /// All threads write the zeros: it is the first touch of large memory that takes time.
  Buffer(i64 floats, ThreadPool& pool);
  /// Of any numbers, for who writes all of them.
  static Buffer unwritten(i64 floats);

  float* data() const { return data_.get(); }
  i64 size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  void allocate();

  std::unique_ptr<float, Free> data_;
  i64 size_ = 0;
};

}  // namespace ovir::fast
