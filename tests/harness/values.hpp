// Values as a .spec writes them, in any element type.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec.hpp"
#include "tensor/tensor.hpp"

namespace ovir::spec {

/// The values of a port, one word an element, generators written out. Throws std::runtime_error where the words are
/// no values or not as many as the shape holds.
std::vector<Word> expand(const PortText& port, const Shape& shape);

/// Whether the type holds the number. `exactly`: without rounding; always asked of integers.
bool holds(ElementType type, const Word& value, bool exactly);
/// Throws std::runtime_error where the type does not hold a value at all.
Tensor make_tensor(ElementType type, const Shape& shape, std::span<const Word> values);

struct Tolerance {
  std::optional<double> relative, absolute;  ///< instead of the type's own
};
/// Empty where all elements agree, else the first that do not.
std::string difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

/// A number as the type stores it; long double holds every i64 and u64.
long double element(const Tensor& tensor, i64 i);

}  // namespace ovir::spec
