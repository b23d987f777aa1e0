// The decoders behind parse_image, and the encoder behind write_png.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

// u8 [height, width, 1 or 3]; E0705 for what is damaged or cut off, E0003 for what is too large.
Tensor decode_png(const Bytes& file, std::string_view where);
Tensor decode_jpeg(const Bytes& file, std::string_view where);
Tensor decode_bmp(const Bytes& file, std::string_view where);

/// A whole file of a u8 image [height, width, 1 or 3].
std::string png_bytes(const Tensor& image);

/// E0705 for a side of no pixels, E0003 for an image that would take more than 1 GiB at that many bytes a pixel.
void require_image_size(i64 width, i64 height, i64 pixel_bytes, std::string_view where);
/// u8 [height, width, channels], of a size that require_image_size allows.
Tensor new_image(i64 width, i64 height, i64 channels, std::string_view where);

}  // namespace ovir::io
