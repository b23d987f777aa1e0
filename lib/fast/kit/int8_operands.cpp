#include "fast/kit/int8_operands.hpp"

#include "fast/kernels/convolution/reorder.hpp"

namespace ovir::fast {

U8Source::U8Source(const std::optional<Levels>& levels, i64 channels) {
  if (levels) table_.emplace(*levels, channels);
}

bool U8Source::reads_as(ElementType type, Layout layout) const {
  return type == ElementType::u8 && layout == Layout::blocked && table_;
}

i64 U8Source::scratch_size(const View& v) {
  return v.layout == Layout::plain ? v.dim(0) * blocks_of(v.dim(1)) * kBlock * plane_of(v) : 0;
}

U8Operand U8Source::take(const View& v, float* scratch, ThreadPool& pool) const {
  if (v.type == ElementType::u8) return {.levels = v.as<const std::uint8_t>(), .scale = table_->scale()};
  const auto* values = v.as<const float>();
  if (v.layout == Layout::blocked) return {.wide = values};
  to_blocked(values, scratch, v.dim(0), v.dim(1), plane_of(v), pool);
  return {.wide = scratch};
}

}  // namespace ovir::fast
