// Inputs made up: zeros, ones, const:V, arange, rand[:lo,hi], randn[:mean,std].
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/number.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

struct Generator {
  enum class Kind { constant, arange, uniform, normal } kind = Kind::constant;
  Number a, b;         ///< the constant; lo and hi; mean and standard deviation
  bool ranged = true;  ///< false for a plain `rand`: the range goes by the type
};

/// Nothing where the word is not a generator's; E0705 where it is, with faulty numbers.
std::optional<Generator> parse_generator(std::string_view word);

/// uniform: lo <= x < hi, whole numbers for integer types ([0, 1) and [0, 10) without a range). The values depend on
/// the seed, the generator, and an element's type and position: not on the machine. E0704 for strings, which only
/// `zeros` (empty texts) makes.
Tensor generate(const Generator& g, ElementType type, const Shape& shape, std::uint64_t seed);

}  // namespace ovir::io
