#include "fast/kernels/recurrent/matrix.hpp"

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

RecurrentMatrix::RecurrentMatrix(const float* from, i64 k, i64 columns, bool bf16)
    : panels_(bf16 ? bf16_panels_size(k, columns) : panels_size(k, columns)), k_(k), columns_(columns), bf16_(bf16) {
  if (bf16) pack_bf16_panels(from, 1, k, k, columns, fast::words(panels_));
  else pack_panels(from, 1, k, k, columns, 0, ceil_div(columns, kColumns), panels_.data());
}

void RecurrentMatrix::multiply(const float* a, i64 rows, const float* bias, float* to, Word* rounded,
                               ThreadPool& pool) const {
  const Epilogue plus{.bias = bias};
  if (!bf16_) return product({panels_.data(), k_, columns_}, a, k_, to, columns_, rows, plus, pool);
  rows_to_bf16(a, k_, k_, rows, rounded, pool);
  const Bf16Panels panels{fast::words(panels_), k_, columns_};
  if (rows <= Bf16FewRows::kMost) return product_of_few(panels, rounded, bias, to, rows, pool);
  product(panels, rounded, {.wide = to, .pixel = columns_}, rows, plus, {}, pool);
}

}  // namespace ovir::fast
