// Single elements picked, or updated, by an index each along an axis: GatherElements and ScatterElementsUpdate.
#pragma once
#include <span>

#include "base/int.hpp"
#include "op/kit/movement_attrs.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

inline constexpr i64 kMaxIndexedDims = 8;

/// out[i][j] = data[i][indices[i][j]], here along axis 1. Indices, of i32 or i64, may be negative; gives the first
/// place of one that is out of range, or -1.
i64 gather_along(const View& data, const View& indices, i64 axis, const View& out, ThreadPool& pool);

/// Whether scatter_along() reduces elements of this type.
bool reduces(ElementType type, ScatterReduction reduction);
/// Floats of scratch memory.
i64 scatter_scratch_size(const View& out, ScatterReduction reduction);
/// out[i][indices[i][j]] becomes updates[i][j], or a reduction of both, one update after the other. `out` holds the
/// data.
i64 scatter_along(const View& indices, const View& updates, i64 axis, const ScatterElementsAttrs& attrs,
                  const View& out, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
