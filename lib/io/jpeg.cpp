#include <turbojpeg.h>

#include <memory>
#include <new>
#include <type_traits>

#include "diag/diagnostic.hpp"
#include "io/codecs.hpp"

namespace ovir::io {

namespace {

/// Even arithmetic coding takes some bits for a block of 8x8 pixels: a file that claims more pixels is cut off.
constexpr i64 kBestRatio = 1 << 15;

}  // namespace

Tensor decode_jpeg(const Bytes& file, std::string_view where) {
  const std::unique_ptr<std::remove_pointer_t<tjhandle>, int (*)(tjhandle)> jpeg(tjInitDecompress(), tjDestroy);
  if (!jpeg) throw std::bad_alloc();
  const auto must = [&](int error) {
    if (error == 0) return;
    // What is missing is padded with gray, and only a warning says so. Bytes between segments harm nothing.
    const std::string_view why = tjGetErrorStr2(jpeg.get());
    if (tjGetErrorCode(jpeg.get()) == TJERR_WARNING && why.find("extraneous bytes") != why.npos) return;
    fail(Code::E0705, "{}: the JPEG image cannot be read: {}", where, why);
  };
  const auto* const bytes = reinterpret_cast<const unsigned char*>(file.view.data());
  const auto size = static_cast<unsigned long>(file.size());
  int width = 0, height = 0, subsampling = 0, space = 0;
  must(tjDecompressHeader3(jpeg.get(), bytes, size, &width, &height, &subsampling, &space));
  const bool gray = space == TJCS_GRAY;
  require_image_size(width, height, gray ? 1 : 3, where);
  if (i64{width} * height / kBestRatio > std::ssize(file))
    fail(Code::E0705, "{}: the JPEG image cannot be read: it is cut off", where);
  Tensor image = new_image(width, height, gray ? 1 : 3, where);
  must(tjDecompress2(jpeg.get(), bytes, size, image.mutable_data<unsigned char>(), width, 0, height,
                     gray ? TJPF_GRAY : TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS));
  return image;
}

}  // namespace ovir::io
