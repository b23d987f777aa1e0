#include "fast/kit/packed_matrices.hpp"

#include <algorithm>

#include "fast/kernels/movement/permute.hpp"

namespace ovir::fast {

std::optional<Shape> PackedMatrices::known(const PartialShape& shape) {
  constexpr i64 kMost = i64{1} << 28;
  if (!shape.is_static()) return std::nullopt;
  const auto count = shape.element_count().max;
  return count > 0 && count <= kMost ? std::optional(shape.to_shape()) : std::nullopt;
}

void PackedMatrices::pack(const BatchedProduct& p, std::span<const i64> order, ThreadPool& pool) const {
  std::call_once(packed_, [&] {
    panels_ = Buffer::unwritten(packed_matrices_size(p));
    const auto own = matrices_.apart();
    const auto* from = own.data<float>();
    Buffer turned;
    if (!std::ranges::is_sorted(order)) {
      turned = Buffer::unwritten(own.size());
      permute(own.shape(), order, from, turned.data(), pool);
      from = turned.data();
    }
    pack_matrices(p, from, panels_.data(), pool);
    own.leave_pages();
  });
}

}  // namespace ovir::fast
