// Statistics of tensors: what they are like, and a digest by which two machines compare them. In bounded memory,
// however large the tensor.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "tensor/tensor.hpp"

namespace ovir::tools {

struct Statistics {
  static constexpr int kBins = 16;

  i64 count = 0;
  i64 nan = 0, positive_infinite = 0, negative_infinite = 0, zero = 0;
  /// Of the finite elements, in f64; 0 where there are none. The deviation is that of the whole population.
  double min = 0, max = 0, mean = 0, deviation = 0;
  /// Finite elements in equal bins from min to max; the last one includes max.
  std::array<i64, kBins> histogram{};
  std::uint32_t digest = 0;  ///< see digest_of

  i64 finite() const { return count - nan - positive_infinite - negative_infinite; }
};

/// Of numbers and booleans; of strings only the count and the digest.
Statistics statistics_of(const Tensor& tensor);

/// The CRC-32 of the elements as an .npy file holds them (io/storable.hpp says in which type).
std::uint32_t digest_of(const Tensor& tensor);
/// CRC-32 of plain bytes.
std::uint32_t digest_of(std::string_view bytes);

}  // namespace ovir::tools
