#include "fast/kernels/weights.hpp"

#include <algorithm>
#include <array>

#include "base/half.hpp"
#include "diag/diagnostic.hpp"

namespace ovir::fast {

void WeightsFile::read_bytes(i64 offset, std::span<std::byte> to) const {
  if (!part.read(offset, to))
    fail(Code::E0302, "the constant cannot be read from the .bin any more: it was changed or cut short");
}

void NarrowWeights::read(i64 first, i64 count, float* to) const {
  if (type == ElementType::f16) to_f32(reinterpret_cast<const f16*>(data) + first, to, count);
  else to_f32(reinterpret_cast<const bf16*>(data) + first, to, count);
}

void WeightsFile::read(i64 first, i64 count, float* to) const {
  if (type == ElementType::f32) return read_bytes(first * 4, std::as_writable_bytes(std::span(to, count)));
  constexpr i64 kAtOnce = 8192;  // elements: a call of the system costs as much as reading a thousand
  alignas(64) std::array<std::byte, 2 * kAtOnce> bytes;
  for (i64 i = 0; i < count; i += kAtOnce) {
    const auto some = std::min(kAtOnce, count - i);
    read_bytes(2 * (first + i), std::span(bytes).first(2 * some));
    NarrowWeights{type, bytes.data()}.read(0, some, to + i);
  }
}

}  // namespace ovir::fast
