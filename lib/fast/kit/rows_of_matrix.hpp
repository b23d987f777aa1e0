// RowsOfMatrix: the right operand of products by few rows, which read all of it each time.
#pragma once
#include <mutex>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/weights.hpp"
#include "tensor/tensor.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// A matrix of f32, f16 or bf16, by whose rows of k numbers those of another are multiplied.
class RowsOfMatrix {
 public:
  /// `b`: [n][k] or, `turned`, [k][n]. The first product copies it onto huge pages where it is turned, lies where its
  /// elements may not lie, or `often` says so: from them it comes up to half as fast again as from a mapped file.
  RowsOfMatrix(Tensor b, i64 n, i64 k, bool turned, bool often);

  bool is_narrow() const { return b_.type() != ElementType::f32; }
  /// c[m][n] = epilogue(a[m][k] · bᵀ). Allocates when it copies.
  void product(const float* a, float* c, i64 m, const Epilogue& epilogue, ThreadPool& pool) const;

 private:
  /// True where that has computed the product, too.
  bool copy(const float* a, float* c, i64 m, const Epilogue& epilogue, ThreadPool& pool) const;
  void copy_turned(ThreadPool& pool) const;
  WeightsFile weights_file() const { return {b_.file_part(), b_.type()}; }

  Tensor b_;
  bool turned_, copies_;
  i64 n_, k_;
  mutable std::once_flag copied_;
  mutable Buffer rows_;
};

}  // namespace ovir::fast
