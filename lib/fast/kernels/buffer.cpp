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

Buffer::Buffer(i64 floats) : size_(floats) {
  if (floats < 0 || floats > std::numeric_limits<i64>::max() / 8) throw std::bad_alloc();
  if (floats == 0) return;
  const std::size_t wanted = floats * sizeof(float);
  const auto alignment = wanted >= 2 * kHugePage ? kHugePage : kLine;
  const auto bytes = (wanted + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<float*>(std::aligned_alloc(alignment, bytes)));
  if (!data_) throw std::bad_alloc();
  // A refusal costs speed alone.
  if (alignment == kHugePage) (void)madvise(data_.get(), bytes, MADV_HUGEPAGE);
  std::memset(data_.get(), 0, bytes);
}

void Buffer::Free::operator()(float* p) const { std::free(p); }

}  // namespace ovir::fast
