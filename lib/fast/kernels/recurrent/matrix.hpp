// A constant matrix of a recurrent cell, packed in f32 or in bf16.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/product/bf16.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {

class RecurrentMatrix {
 public:
  RecurrentMatrix() = default;
  /// Of columns, of k numbers each, that lie one behind the other.
  RecurrentMatrix(const float* from, i64 k, i64 columns, bool bf16);

  /// Words that rows of k numbers take for a product in bf16; 0 in f32.
  i64 words(i64 rows) const { return bf16_ ? rows * bf16_words(k_) : 0; }
  /// to[rows][columns] = rows of `a` by this, plus bias, which may be null and else has whole panels. Rows are rounded
  /// at `rounded`.
  void multiply(const float* a, i64 rows, const float* bias, float* to, Word* rounded, ThreadPool& pool) const;

 private:
  Buffer panels_;
  i64 k_ = 0, columns_ = 0;
  bool bf16_ = false;
};

}  // namespace ovir::fast
