// Pictures: PNG and JPEG (where the build has libpng and libjpeg), PGM and PPM; and how one becomes a model's input.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

/// u8 [height, width, 1 or 3]; an alpha channel is left out. E0705 for what is no picture or a damaged one.
Tensor parse_image(const Bytes& file, std::string_view where);
Tensor read_image(const std::string& path);
/// Whether the build has libpng and libjpeg.
bool can_read_png();
bool can_read_jpeg();

struct PictureOptions {
  std::string layout{};  ///< "NCHW", "NHWC", "CHW", "HWC", "HW" …; empty: told from the shape
  std::optional<std::pair<std::int64_t, std::int64_t>> size{};  ///< width, height: resized to it, bilinear, as it is
  bool reverse_channels = false;                                ///< RGB -> BGR
  std::vector<float> mean{}, scale{};  ///< one number or one a channel, after reversing: (x - mean) / scale
};

/// "640x480" as {640, 480}; nothing for any other text.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_size(std::string_view text);

/// The picture (u8 [H, W, C]) as an input of that type and shape; grey and colour are turned into one another as the
/// channel count asks. E0703 where it does not fit the shape.
Tensor picture_input(const Tensor& picture, ElementType type, const PartialShape& shape, const PictureOptions& options);
/// Bilinear, pixel centres at halves, edges repeated, rounded to whole values.
Tensor resize_picture(const Tensor& picture, std::int64_t width, std::int64_t height);

}  // namespace ovir::io
