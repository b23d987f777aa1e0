// FloatMatrices: the right operand of a MatMul of several f32 matrices, which are packed where they are constant.
#pragma once
#include <memory>

#include "fast/kit/packed_matrices.hpp"
#include "plan/pattern.hpp"

namespace ovir {
struct MatMulAttrs;
}

namespace ovir::fast {

class FloatMatrices {
 public:
  /// Those that `matmul` multiplies by. Where all sizes are known and the product reads panels, they are packed.
  FloatMatrices(const Graphlet& graph, int matmul);

  /// Whether they are read from here, not from the kernel's operand, in all products.
  bool are_held() const { return narrow_ || always_; }

  /// Before multiply(), for products that differ by rows alone. Throws std::bad_alloc.
  void prepare(const BatchedProduct& p, ThreadPool& pool) const {
    if (is_packed(p)) packed_->pack(p, {}, pool);
  }
  /// Floats.
  i64 scratch_size(const BatchedProduct& p, int threads) const {
    return is_packed(p) ? packed_matrices_scratch_size(p) : batched_product_scratch_size(alone(p), threads);
  }
  /// `b`: the operand, where they are not held.
  void multiply(const BatchedProduct& p, const float* a, const float* b, float* c, const Epilogue& epilogue,
                float* scratch, ThreadPool& pool) const;

 private:
  static constexpr i64 kFewRows = 4;

  /// A single product by one of several matrices as if there were no others: these are not packed with it.
  static BatchedProduct alone(BatchedProduct p);
  bool reads_narrow(const BatchedProduct& p) const { return narrow_ && p.m <= kFewRows && !p.a_transposed; }
  bool is_packed(const BatchedProduct& p) const { return packed_ && reads_panels(p) && !reads_narrow(p); }

  Tensor narrow_;  ///< as the constant has them, of fewer bits, which few rows are multiplied by as it is
  Tensor wide_;    ///< the same in f32
  std::shared_ptr<const PackedMatrices> packed_;  ///< for many rows; null: they are no constant
  bool always_ = false;                           ///< for all that come
};

}  // namespace ovir::fast
