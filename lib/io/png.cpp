#include <spng.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "diag/diagnostic.hpp"
#include "io/codecs.hpp"

namespace ovir::io {

namespace {

/// Deflate's best is 1032 to 1: a file that claims more pixels is damaged, or made to exhaust the memory.
constexpr i64 kBestRatio = 1032;

/// What texts and color profiles may take, unpacked.
constexpr std::size_t kMaxChunkBytes = std::size_t{64} << 20;

/// One channel of a grayscale image, three of any other, of pixels of four; 16 bits a sample are rounded to 8.
template <class Sample>
void take_channels(const std::vector<Sample>& rgba, Tensor& image) {
  const auto channels = image.dim(2);
  auto* to = image.mutable_data<std::uint8_t>();
  for (std::size_t pixel = 0; pixel < rgba.size(); pixel += 4) {
    for (i64 c = 0; c < channels; ++c) {
      const std::uint32_t sample = rgba[pixel + c];
      *to++ = static_cast<std::uint8_t>(sizeof(Sample) == 1 ? sample : (sample * 255 + 32895) >> 16);
    }
  }
}

}  // namespace

Tensor decode_png(const Bytes& file, std::string_view where) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(0), spng_ctx_free);
  if (!png) throw std::bad_alloc();
  const auto must = [&](int error) {
    if (error != 0) fail(Code::E0705, "{}: the PNG image cannot be read: {}", where, spng_strerror(error));
  };
  must(spng_set_png_buffer(png.get(), file.view.data(), file.size()));
  must(spng_set_chunk_limits(png.get(), kMaxChunkBytes, kMaxChunkBytes));
  spng_ihdr header{};
  must(spng_get_ihdr(png.get(), &header));
  const bool gray =
      header.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  require_image_size(header.width, header.height, header.bit_depth == 16 ? 8 : 4, where);
  const auto min_bytes = i64{header.height} * (1 + i64{header.width} * header.bit_depth / 8);
  if (min_bytes / kBestRatio > std::ssize(file)) must(SPNG_EOF);

  Tensor image = new_image(header.width, header.height, gray ? 1 : 3, where);
  const auto decode = [&]<class Sample>(Sample, spng_format format) {
    std::vector<Sample> rgba(4 * std::size_t{header.width} * header.height);
    must(spng_decode_image(png.get(), rgba.data(), rgba.size() * sizeof(Sample), format, 0));
    take_channels(rgba, image);
  };
  if (header.bit_depth == 16) decode(std::uint16_t{}, SPNG_FMT_RGBA16);
  else decode(std::uint8_t{}, SPNG_FMT_RGBA8);
  must(spng_decode_chunks(png.get()));  // up to the end of the file, which must be there
  return image;
}

std::string png_bytes(const Tensor& image) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (!png) throw std::bad_alloc();
  const auto must = [](int error) {
    if (error != 0) fail(Code::E0705, "the image cannot be written as PNG: {}", spng_strerror(error));
  };
  const auto channels = image.dim(2);
  spng_ihdr header{};
  header.height = static_cast<std::uint32_t>(image.dim(0));
  header.width = static_cast<std::uint32_t>(image.dim(1));
  header.bit_depth = 8;
  header.color_type = channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR;
  must(spng_set_option(png.get(), SPNG_ENCODE_TO_BUFFER, 1));
  must(spng_set_ihdr(png.get(), &header));
  must(spng_encode_image(png.get(), image.bytes(), image.byte_size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
  std::size_t size = 0;
  int error = 0;
  const std::unique_ptr<void, void (*)(void*)> bytes(spng_get_png_buffer(png.get(), &size, &error), std::free);
  must(error);
  return {static_cast<const char*>(bytes.get()), size};
}

}  // namespace ovir::io
