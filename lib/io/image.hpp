// Images: PNG, JPEG, BMP, PGM and PPM; and how one becomes a model's input.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

/// u8 [height, width, 1 or 3]; an alpha channel is left out. E0705 for what is not an image or a damaged
/// one, E0003 for one of more than a GiB.
Tensor parse_image(const Bytes& file, std::string_view where);
Tensor read_image(const std::string& path);
/// u8 as [H,W], [H,W,C] or [C,H,W] with one or three channels; leading axes of length 1 are left out. E0704 for another
/// element type, E0703 for another shape.
void write_png(const std::string& path, const Tensor& tensor);

struct ImageOptions {
  std::string layout{};                       ///< "NCHW", "NHWC", "CHW", "HWC", "HW" …; empty: told from the shape
  std::optional<std::pair<i64, i64>> size{};  ///< width, height: resized to it, bilinear, as it is
  bool reverse_channels = false;              ///< RGB -> BGR
  std::vector<float> mean{}, scale{};         ///< one number or one a channel, after reversing: (x - mean) / scale
};

/// "640x480" as {640, 480}; nothing for any other text.
std::optional<std::pair<i64, i64>> parse_size(std::string_view text);

/// The image (u8 [H, W, C]) as an input of that type and shape; gray and color are turned into one another as the
/// channel count asks. E0703 where it does not fit the shape.
Tensor image_input(const Tensor& image, ElementType type, const PartialShape& shape, const ImageOptions& options);
/// Bilinear, pixel centers at halves, edges repeated, rounded to whole values.
Tensor resize_image(const Tensor& image, i64 width, i64 height);

}  // namespace ovir::io
