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
#include "tensor/copy.hpp"

namespace ovir::io {

namespace {

/// A few hundred bytes can claim to be an image of any size.
constexpr i64 kMaxBytes = i64{1} << 30, kMaxSide = i64{1} << 20;

}  // namespace

void require_image_size(i64 width, i64 height, i64 pixel_bytes, std::string_view where) {
  if (width < 1 || height < 1) fail(Code::E0705, "{}: invalid image size {}x{}", where, width, height);
  const auto size = checked_product(std::array{width, height, pixel_bytes});
  if (!size || *size > kMaxBytes || std::max(width, height) > kMaxSide)
    fail(Code::E0003, "{}: an image of {}x{} pixels is too large", where, width, height);
}

Tensor new_image(i64 width, i64 height, i64 channels, std::string_view where) {
  require_image_size(width, height, channels, where);
  return {ElementType::u8, {height, width, channels}};
}

namespace {

/// "P5 3 2 255\n" and the samples; `#` begins a comment that ends with the line.
Tensor parse_pnm(std::string_view text, std::string_view where) {
  std::size_t at = 2;
  const auto number = [&]() -> i64 {
    while (at < text.size() && (std::strchr(" \t\r\n", text[at]) != nullptr || text[at] == '#')) {
      if (text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1);
      ++at;
    }
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const auto n = parse_number<i64>(text.substr(at, end - at));
    if (!n) fail(Code::E0705, "{}: the header of the image is malformed", where);
    at = end;
    return *n;
  };
  const auto width = number(), height = number(), max = number();
  if (max < 1 || max > 255) fail(Code::E0705, "{}: samples must have 8 bits, but go up to {}", where, max);
  const i64 channels = text[1] == '6' ? 3 : 1;
  require_image_size(width, height, channels, where);
  const auto samples = text.substr(std::min(at + 1, text.size()));  // one blank ends the header
  if (std::ssize(samples) < width * height * channels) fail(Code::E0705, "{}: the image is cut off", where);
  Tensor out = new_image(width, height, channels, where);
  std::transform(samples.begin(), samples.begin() + out.size(), out.mutable_data<std::uint8_t>(), [max](char c) {
    return static_cast<std::uint8_t>((std::min<i64>(static_cast<unsigned char>(c), max) * 255 + max / 2) / max);
  });
  return out;
}

}  // namespace

Tensor parse_image(const Bytes& file, std::string_view where) {
  switch (format_of(file, where)) {
    case Format::png: return decode_png(file, where);
    case Format::jpeg: return decode_jpeg(file, where);
    case Format::bmp: return decode_bmp(file, where);
    case Format::pnm: return parse_pnm(file.text(), where);
    default: fail(Code::E0705, "{}: not an image (PNG, JPEG, BMP, PGM or PPM)", where);
  }
}

Tensor read_image(const std::string& path) { return parse_image(open_file(path), printable(path)); }

void write_png(const std::string& path, const Tensor& tensor) {
  if (tensor.type() != ElementType::u8)
    fail(Code::E0704, "{}: a PNG image must be u8, but the tensor is {}", printable(path), name(tensor.type()));
  auto shape = tensor.shape();
  while (shape.rank() > 3 && shape.front() == 1) shape.erase(shape.begin());
  const auto is_channels = [](i64 n) { return n == 1 || n == 3; };
  if (shape.rank() == 2) shape.push_back(1);
  const bool last = shape.rank() == 3 && is_channels(shape[2]), first = shape.rank() == 3 && is_channels(shape[0]);
  if (!last && !first)
    fail(Code::E0703, "{}: a PNG image must be [H,W], [H,W,C] or [C,H,W] with 1 or 3 channels, but the shape is {}",
         printable(path), to_string(tensor.shape()));
  auto image = tensor.reshaped(shape);
  if (!last) {
    Tensor transposed(ElementType::u8, {shape[1], shape[2], shape[0]});
    permute(image, shape, {1, 2, 0}, transposed);
    image = std::move(transposed);
  }
  const auto text = png_bytes(image);
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  save_file(path, {&part, 1});
}

std::optional<std::pair<i64, i64>> parse_size(std::string_view text) {
  const auto x = text.find('x');
  if (x == text.npos) return std::nullopt;
  const auto width = parse_number<i64>(text.substr(0, x)), height = parse_number<i64>(text.substr(x + 1));
  if (!width || !height || *width < 1 || *height < 1) return std::nullopt;
  return std::pair{*width, *height};
}

}  // namespace ovir::io
