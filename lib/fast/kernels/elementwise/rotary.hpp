// Rotary embedding: the first columns of every row turned, in pairs, by the angles of the row's position.
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// [batch][heads][rows] of columns that lie side by side: strides in elements, 0 where it is broadcast.
struct RowsOfHeads {
  const float* data = nullptr;
  i64 batch = 0, head = 0, row = 0;

  const float* at(i64 b, i64 h, i64 r) const { return data + b * batch + h * head + r * row; }
};

struct RotaryShape {
  i64 batch = 0, heads = 0, rows = 0, columns = 0;
  i64 turned = 0;          ///< columns; the others are copied
  bool neighbors = false;  ///< pairs are neighbors, not the same columns of both halves
};

/// y is [batch][heads][rows][columns], elsewhere than x; cosine and sine have `turned` columns.
void rotary(const RotaryShape& shape, const RowsOfHeads& x, const RowsOfHeads& cosine, const RowsOfHeads& sine,
            float* y, ThreadPool& pool);

}  // namespace ovir::fast
