#include "io/image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "io/codecs.hpp"
#include "io/files.hpp"

namespace ovir::io {

Tensor new_picture(std::int64_t width, std::int64_t height, std::int64_t channels, std::string_view where) {
  const auto size = checked_product(std::array{width, height, channels});
  if (!size || width < 1 || height < 1) fail(Code::E0705, "{}: a picture of {}x{} pixels", where, width, height);
  if (*size > kMostPictureBytes) fail(Code::E0003, "{}: a picture of {}x{} pixels is too large", where, width, height);
  return {ElementType::u8, {height, width, channels}};
}

namespace {

/// "P5 3 2 255\n" and the samples; `#` begins a comment that ends with the line.
Tensor parse_pnm(std::string_view text, std::string_view where) {
  std::size_t at = 2;
  const auto number = [&]() -> std::int64_t {
    while (at < text.size() && (std::strchr(" \t\r\n", text[at]) != nullptr || text[at] == '#')) {
      if (text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1);
      ++at;
    }
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const auto n = parse_number<std::int64_t>(text.substr(at, end - at));
    if (!n) fail(Code::E0705, "{}: the header of the picture is malformed", where);
    at = end;
    return *n;
  };
  const auto width = number(), height = number(), most = number();
  if (most < 1 || most > 255) fail(Code::E0705, "{}: samples up to {}: only 8 bits a sample are read", where, most);
  Tensor out = new_picture(width, height, text[1] == '6' ? 3 : 1, where);
  const auto samples = text.substr(std::min(at + 1, text.size()));  // one blank ends the header
  if (samples.size() < out.byte_size()) fail(Code::E0705, "{}: the picture is cut off", where);
  std::transform(samples.begin(), samples.begin() + out.size(), out.mutable_data<std::uint8_t>(), [most](char c) {
    return static_cast<std::uint8_t>((std::min<std::int64_t>(static_cast<unsigned char>(c), most) * 255 + most / 2) /
                                     most);
  });
  return out;
}

}  // namespace

Tensor parse_image(const Bytes& file, std::string_view where) {
  switch (format_of(file, where)) {
    case Format::png: return decode_png(file, where);
    case Format::jpeg: return decode_jpeg(file, where);
    case Format::pnm: return parse_pnm(file.text(), where);
    default: fail(Code::E0705, "{}: not a picture (PNG, JPEG, PGM or PPM)", where);
  }
}

Tensor read_image(const std::string& path) { return parse_image(open_file(path), path); }

std::optional<std::pair<std::int64_t, std::int64_t>> parse_size(std::string_view text) {
  const auto x = text.find('x');
  if (x == text.npos) return std::nullopt;
  const auto width = parse_number<std::int64_t>(text.substr(0, x)),
             height = parse_number<std::int64_t>(text.substr(x + 1));
  if (!width || !height || *width < 1 || *height < 1) return std::nullopt;
  return std::pair{*width, *height};
}

}  // namespace ovir::io
