// Tensors spelled out on a command line: `2x3xf32=1 2 3 4 5 6`, `f32=3`, `2xstring=a b`, `2x3xf32=@raw.bin`.
#pragma once
#include <optional>
#include <string_view>

#include "tensor/tensor.hpp"

namespace ovir::io {

/// Nothing where the text before the first `=` is not dims and a type. Values are separated by blanks or commas; a
/// string may be put in double quotes. Numbers are rounded to the type, and must lie in its range: otherwise, and where
/// the count is wrong, E0705.
/// Floats narrower than bf16 and f16 must represent their numbers; with `wide` they come as f32 instead.
std::optional<Tensor> parse_literal(std::string_view text, bool wide = false);

}  // namespace ovir::io
