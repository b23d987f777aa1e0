// Numbers as people write them, put into elements of any type.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tensor/tensor.hpp"

namespace ovir::io {

/// A number that stays exact whether it is whole or not.
struct Number {
  double real = 0;
  std::optional<i64> whole;
  std::optional<std::uint64_t> large;  ///< whole, and past the i64
};

/// "3", "-1e-3", "inf", "nan", "true", "false"; nothing for any other word. E0705 for a
/// number that is too large for any element type.
std::optional<Number> parse_number_word(std::string_view word);
/// A tensor of `type` that holds the numbers, rounded to it. E0705 where a number is outside the type's range or, for
/// an integer type, not whole.
Tensor tensor_of(ElementType type, const Shape& shape, const std::vector<Number>& numbers);

}  // namespace ovir::io
