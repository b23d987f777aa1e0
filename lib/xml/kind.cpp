#include "xml/kind.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace ovir::xml {

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  Kind kind;
};

constexpr Kind kLfsPointer{"a git-LFS pointer, not the file it stands for", "`git lfs pull` fetches the file"};
constexpr Kind kWebPage{"a web page", "the download saved a page about the file: download the raw file"};
constexpr std::string_view kConvert = "convert it with OpenVINO: `ovc FILE`";

constexpr Signature kSignatures[] = {
    {0, "version https://git-lfs.github.com/spec/"sv, kLfsPointer},
    {0, "PK\x03\x04"sv, {"a zip archive (maybe a PyTorch or Keras model)", kConvert}},
    {0, "\x89HDF\r\n"sv, {"an HDF5 file (maybe a Keras model)", kConvert}},
    {4, "TFL3"sv, {"a TensorFlow Lite model", kConvert}},
    {0, "GGUF"sv, {"a GGUF model", ""}},
    {0, "\x93NUMPY"sv, {"a NumPy array", "use it as an input: -i NAME=@FILE"}},
    {0, "\x1f\x8b"sv, {"a gzip archive", "unpack it first"}},
    {257, "ustar"sv, {"a tar archive", "unpack it first"}},
    {0, "\xff\xfe"sv, {"text in UTF-16", "store it as UTF-8"}},
    {0, "\xfe\xff"sv, {"text in UTF-16", "store it as UTF-8"}},
};

/// The text behind blanks and a byte-order mark.
std::string_view body_of(std::string_view content) {
  if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3);
  return trim(content.substr(0, 4096));
}

bool is_web_page(std::string_view body) {
  const std::string head = lower(body.substr(0, 1024));
  return body.starts_with('<') && (head.find("<!doctype html") != head.npos || head.find("<html") != head.npos);
}

/// A protobuf model: field 1 is a small number, field 2 a text or message. ONNX begins with its IR version, 3 or more;
/// a SavedModel with its schema version, 1.
Kind protobuf(std::string_view content) {
  if (content.size() < 3 || content[0] != 0x08 || content[2] != 0x12) return {};
  if (content[1] == 1) return {"a TensorFlow SavedModel", "convert it with OpenVINO: `ovc FOLDER`"};
  return {"an ONNX model", kConvert};
}

}  // namespace

Kind kind_of_model(std::string_view content) {
  if (content.empty()) return {"empty", "the download or copy probably failed"};
  for (const auto& s : kSignatures)
    if (content.size() > s.offset && content.substr(s.offset).starts_with(s.bytes)) return s.kind;
  if (const Kind kind = protobuf(content)) return kind;
  const std::string_view body = body_of(content);
  if (is_web_page(body)) return kWebPage;
  if (body.starts_with('<')) return {};
  if (body.empty() && content.size() <= 4096) return {"blank", "the download or copy probably failed"};
  if (body.find('\0') != body.npos) return {"binary data", ""};
  if (body.starts_with('{')) return {"JSON", ""};
  return {"not an XML document", ""};
}

Kind kind_of_weights(std::string_view content) {
  if (content.starts_with(kSignatures[0].bytes)) return kLfsPointer;
  const std::string_view body = body_of(content);
  if (is_web_page(body)) return kWebPage;
  if (body.starts_with("<?xml") || body.starts_with("<net"))
    return {"an XML document", "the names of the .xml and the .bin may be swapped"};
  return {};
}

}  // namespace ovir::xml
