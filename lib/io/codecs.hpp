// The decoders behind parse_image. Each says so where the build lacks its library.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "tensor/tensor.hpp"

namespace ovir::io {

Tensor decode_png(const Bytes& file, std::string_view where);
Tensor decode_jpeg(const Bytes& file, std::string_view where);

/// A few hundred bytes can claim to be a picture of any size.
inline constexpr std::int64_t kMostPictureBytes = std::int64_t{1} << 30;
/// u8 [height, width, channels]; refuses sizes that no picture has.
Tensor new_picture(std::int64_t width, std::int64_t height, std::int64_t channels, std::string_view where);

}  // namespace ovir::io
