// ONNX's TensorProto (.pb), as in its backend tests.
#pragma once
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

/// E0705 for what is no TensorProto, E0704 for a data type without a counterpart.
Tensor parse_onnx(const Bytes& file, std::string_view where);
Tensor read_onnx(const std::string& path);

}  // namespace ovir::io
