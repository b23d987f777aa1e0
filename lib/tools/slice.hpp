// Slices of tensors, as NumPy's basic indexing has them.
#pragma once
#include <string_view>

#include "tensor/tensor.hpp"

namespace ovir::tools {

/// `text` is an index for each axis, separated by commas: a number (the axis goes), `begin:end:step` with any part left
/// out, or `...` for the axes between. Negative numbers count from the end. Throws std::invalid_argument, with a
/// sentence for users, where it is malformed, names more axes than there are, or a number lies outside its axis.
Tensor slice(const Tensor& tensor, std::string_view text);

}  // namespace ovir::tools
