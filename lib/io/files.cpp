#include "io/files.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/near_file.hpp"
#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "io/image.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/onnx.hpp"
#include "io/storable.hpp"

namespace ovir::io {

Bytes open_file(const std::string& path, std::size_t pipe_limit) {
  try {
    return map_file(path == "-" ? "/dev/stdin" : path, pipe_limit);
  } catch (const std::system_error& e) {
    fail(Code::E0001, "cannot open {}: {}{}", path == "-" ? "stdin" : printable(path), e.code().message(),
         path == "-" ? "" : did_you_mean_file(path));
  }
}

namespace {

/// What the system refuses names the file already.
template <class F>
void writing(F&& write) {
  try {
    write();
  } catch (const std::system_error& e) {
    fail(Code::E0002, "cannot write {}", printable(e.what()));
  }
}

}  // namespace

void save_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  writing([&] { write_file(path, parts); });
}

void stage_file(StagedFiles& files, const std::string& path, std::span<const std::span<const std::byte>> parts) {
  writing([&] { files.add(path, parts); });
}

void commit_files(StagedFiles& files) {
  writing([&] { files.commit(); });
}

Tensor read_raw(const std::string& path, ElementType type, Shape shape) {
  const auto where = printable(path);
  const auto count = shape.count();
  const auto size = packed_size(type, count);
  if (!size || type == ElementType::dynamic)
    fail(Code::E0704, "{}: raw bytes cannot hold {}{}", where, name(type), to_string(shape));
  const Bytes file = open_file(path);
  if (std::ssize(file) != *size)
    fail(Code::E0705, "{}: {}{} takes {}, but the file has {}", where, name(type), to_string(shape),
         counted(*size, "byte"), file.size());
  return with_clean_booleans(Tensor(type, std::move(shape), file.owner, file.view.data(), true).unpacked());
}

void write_raw(const std::string& path, const Tensor& tensor) {
  if (tensor.type() == ElementType::string) fail(Code::E0704, "{}: strings have no raw form", printable(path));
  const Tensor packed = pack(tensor);
  const std::span<const std::byte> part(packed.bytes(), packed.byte_size());
  save_file(path, {&part, 1});
}

Format format_of(const Bytes& file, std::string_view path) {
  const auto text = file.text();
  if (text.starts_with("\x93NUMPY")) return Format::npy;
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) return Format::npz;
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return Format::png;
  if (text.starts_with("\xFF\xD8\xFF")) return Format::jpeg;
  if (text.starts_with("BM")) return Format::bmp;
  if (text.size() > 2 && text[0] == 'P' && (text[1] == '5' || text[1] == '6') &&
      std::strchr(" \t\r\n#", text[2]) != nullptr)
    return Format::pnm;
  return path.ends_with(".pb") ? Format::onnx : Format::unknown;
}

std::pair<std::string, std::string> split_key(const std::string& path) {
  std::error_code ignored;
  const auto colon = path.rfind(".npz:");
  if (colon == path.npos || std::filesystem::exists(path, ignored)) return {path, {}};
  return {path.substr(0, colon + 4), path.substr(colon + 5)};
}

Tensor parse_tensor(const Bytes& file, const std::string& path) {
  const auto [file_name, key] = split_key(path);
  const auto where = path == "-" ? "stdin" : printable(path);
  const auto format = format_of(file, file_name);
  if (!key.empty() || format == Format::npz) {
    const Npz archive(file, printable(file_name));
    if (!key.empty()) return archive.read(key);
    if (archive.keys().size() == 1) return archive.read(archive.keys().front());
    if (archive.keys().empty()) fail(Code::E0705, "{}: the archive is empty", where);
    fail(Code::E0705, "{}: expected one array, but it holds {}; name one with {}:KEY", where, archive.contents(),
         where);
  }
  switch (format) {
    case Format::npy: return parse_npy(file, where);
    case Format::onnx: return parse_onnx(file, where);
    case Format::unknown:
      if (file.size() == 0) fail(Code::E0705, "{}: the file is empty", where);
      fail(Code::E0705, "{}: unknown format; expected .npy, .npz, .pb, PNG, JPEG, BMP, PPM or PGM{}", where,
           file_name.ends_with(".bin") || file_name.ends_with(".raw")
               ? fmt::format("; raw bytes need a type and a shape: 2x3xf32=@{}", where)
               : "");
    default: return parse_image(file, where);
  }
}

Tensor read_tensor(const std::string& path) { return parse_tensor(open_file(split_key(path).first), path); }

std::optional<TensorInfo> tensor_info(const Bytes& file, const std::string& path) {
  const auto [file_name, key] = split_key(path);
  const auto format = format_of(file, file_name);
  if (format == Format::npy) return npy_info(file.text(), printable(path));
  if (format != Format::npz) return std::nullopt;
  const Npz archive(file, printable(file_name));
  if (!key.empty()) return archive.info(key);
  return archive.keys().size() == 1 ? std::optional(archive.info(archive.keys().front())) : std::nullopt;
}

}  // namespace ovir::io
