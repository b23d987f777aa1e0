// NumPy's .npy, versions 1 to 3.
#pragma once
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "io/files.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

/// Reads one array. Where byte order, axis order and alignment allow, the tensor is a view of `file`, which it keeps
/// alive; otherwise a copy. `where` names the file in messages. Throws Failure E0705, E0704 for a dtype without a
/// counterpart.
Tensor parse_npy(const Bytes& file, std::string_view where);
Tensor read_npy(const std::string& path);
/// From the first bytes of a file, up to the end of its header.
TensorInfo npy_info(std::string_view begin, std::string_view where);

/// Magic, version and header of a file that holds `tensor` (storable, see storable.hpp), padded to 64 bytes.
std::string npy_header(const Tensor& tensor);
/// A whole file as one string, and the file itself. Types that NumPy lacks are widened, see storable.hpp.
std::string npy_bytes(const Tensor& tensor);
void write_npy(const std::string& path, const Tensor& tensor);
void stage_npy(StagedFiles& files, const std::string& path, const Tensor& tensor);

/// The elements in the file's form: string tensors become the fixed-width elements that their header announces.
Bytes npy_elements(const Tensor& storable);

}  // namespace ovir::io
