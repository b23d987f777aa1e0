#include "fast/kernels/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {
constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;
constexpr i64 kLineFloats = kLine / sizeof(float);
}  // namespace

// Zeros reach to the end of the last line: loops may read vectors beyond the last number.
Buffer::Buffer(i64 floats) : size_(floats) {
  allocate();
  std::fill_n(data(), round_up(size_, kLineFloats), 0.0F);
}

Buffer::Buffer(i64 floats, ThreadPool& pool) : size_(floats) {
  allocate();
  constexpr double kFirstTouch = 0.5;  // nanoseconds a float
  parallel_ranges(pool, round_up(size_, kLineFloats), kFirstTouch,
                  [this](i64 begin, i64 end) { std::fill(data() + begin, data() + end, 0.0F); });
}

Buffer Buffer::unwritten(i64 floats) {
  Buffer buffer;
  buffer.size_ = floats;
  buffer.allocate();
  return buffer;
}

void Buffer::allocate() {
  if (size_ < 0 || size_ > std::numeric_limits<i64>::max() / 8) throw std::bad_alloc();
  if (size_ == 0) return;
  const std::size_t wanted = size_ * sizeof(float), last = wanted % kHugePage,
                    unit = wanted > kHugePage && (wanted >= 2 * kHugePage || last >= kHugePage / 2) ? kHugePage : kLine;
  const auto bytes = (wanted + unit - 1) / unit * unit;
  void* memory = nullptr;
  if (posix_memalign(&memory, bytes >= kHugePage ? kHugePage : kLine, bytes) != 0) throw std::bad_alloc();
  data_.reset(static_cast<float*>(memory));
  // A refusal costs speed alone. A second page that would be half empty is left to small ones.
  if (bytes >= kHugePage) (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
}

void Buffer::Free::operator()(float* p) const { std::free(p); }

}  // namespace ovir::fast
