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
/// The tensor as a TensorProto without a name. E0704 for an element type that ONNX lacks.
void write_onnx(const std::string& path, const Tensor& tensor);

}  // namespace ovir::io
