// Opening and writing files: what the system refuses becomes a Failure that names the file.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/pipe.hpp"
#include "base/staged_files.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

/// What a file says of a tensor before its elements.
struct TensorInfo {
  ElementType type = ElementType::dynamic;
  Shape shape;
};

/// A tensor with the name it has in a file of several.
struct Named {
  std::string name;
  Tensor tensor;
};

// `where`, in messages, is a path as printable() shows it.

/// map_file, throwing Failure E0001. The path "-" means standard input.
Bytes open_file(const std::string& path, std::size_t pipe_limit = kPipeLimit);
/// write_file, throwing Failure E0002: the file appears whole or not at all.
void save_file(const std::string& path, std::span<const std::span<const std::byte>> parts);
/// StagedFiles::add and ::commit, throwing Failure E0002.
void stage_file(StagedFiles& files, const std::string& path, std::span<const std::span<const std::byte>> parts);
void commit_files(StagedFiles& files);

/// The elements as in a .bin file, and nothing else. E0705 where the size does not fit.
Tensor read_raw(const std::string& path, ElementType type, Shape shape);
void write_raw(const std::string& path, const Tensor& tensor);

enum class Format { npy, npz, png, jpeg, bmp, pnm, onnx, unknown };
/// By the first bytes; an ONNX TensorProto has no mark and is known by the ending .pb.
Format format_of(const Bytes& file, std::string_view path);
inline bool is_image(Format f) { return f == Format::png || f == Format::jpeg || f == Format::bmp || f == Format::pnm; }

/// The tensor in `path`, of any format that says its own type and shape. `file.npz:key` picks one of several; without
/// a key the .npz must hold just one. An image comes as u8 [height, width, channels].
Tensor read_tensor(const std::string& path);
/// The same where the file is open, `path` being what it was opened by, with the key.
Tensor parse_tensor(const Bytes& file, const std::string& path);
/// Element type and shape of that tensor, as far as the file has them at its beginning (.npy and .npz do): what they
/// are is known before gigabytes are read or unpacked.
std::optional<TensorInfo> tensor_info(const Bytes& file, const std::string& path);
/// `file.npz:key` in its two parts; the second is empty where there is no key.
std::pair<std::string, std::string> split_key(const std::string& path);

}  // namespace ovir::io
