// A tensor's values in NumPy's layout, and summaries of what is too long for it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace ovir::app {

/// As NumPy prints an array: nested brackets, columns aligned, eight digits, lines of 75 columns.
std::string array_text(const Tensor& value);

struct Summary {
  std::optional<double> min, max, mean;  ///< of what is not NaN; nothing where there is no such value
  i64 nan = 0, infinite = 0;
};
/// Not for strings.
Summary summarise(const Tensor& value);
/// "min -1.5, max 2, mean 0.25, 3 NaN"
std::string summary_text(const Summary& summary);

/// The positions of the `k` largest values of a row of the last axis, largest first, the earlier of equals first.
std::vector<i64> largest(const std::vector<double>& values, i64 row, i64 length, i64 k);

}  // namespace ovir::app
