#include "fast/kernels/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace ovir::fast {
namespace {
constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;
}

Buffer::Buffer(i64 floats) : size_(floats) { allocate(true); }

Buffer Buffer::unwritten(i64 floats) {
  Buffer buffer;
  buffer.size_ = floats;
  buffer.allocate(false);
  return buffer;
}

void Buffer::allocate(bool zeros) {
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
  if (zeros) std::memset(data_.get(), 0, bytes);
}

void Buffer::Free::operator()(float* p) const { std::free(p); }

}  // namespace ovir::fast
