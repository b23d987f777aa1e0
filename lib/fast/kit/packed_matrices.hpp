// PackedMatrices: constant right operands of products of several matrices.
#pragma once
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/product/batched.hpp"
#include "tensor/dim.hpp"
#include "tensor/tensor.hpp"

namespace ovir::fast {

/// Constant matrices, packed by the first product that reads panels.
class PackedMatrices {
 public:
  /// Of f32.
  explicit PackedMatrices(Tensor matrices) : matrices_(std::move(matrices)) {}

  /// What the lengths of an operand or a result are where they are known, for the product to be packed for in advance.
  /// Nothing where there are no elements, or so many that to plan for them might take long.
  static std::optional<Shape> known(const PartialShape& shape);

  /// Before multiply(). `order`: of the axes as BatchedProduct has them; empty: as they lie. Products differ by rows of
  /// a alone. Throws std::bad_alloc.
  void pack(const BatchedProduct& p, std::span<const i64> order, ThreadPool& pool) const;
  /// As packed_matrices_product().
  void multiply(const BatchedProduct& p, const float* a, float* c, const Epilogue& epilogue, float* scratch,
                ThreadPool& pool) const {
    packed_matrices_product(p, a, panels_.data(), c, epilogue, scratch, pool);
  }

 private:
  Tensor matrices_;
  mutable std::once_flag packed_;
  mutable Buffer panels_;
};

}  // namespace ovir::fast
