#include <sys/mman.h>
#include <turbojpeg.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "base/descriptor.hpp"
#include "diag/diagnostic.hpp"
#include "io/codecs.hpp"

namespace ovir::io {

namespace {

/// A little-endian integer of the header.
template <class T>
T field(std::string_view file, std::size_t at, std::string_view where) {
  if (at + sizeof(T) > file.size()) fail(Code::E0705, "{}: the BMP image is cut off", where);
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

/// The decoder takes its memory by what the header claims, so the pixels must be there.
void require_pixels(std::string_view file, std::string_view where) {
  const bool old = field<std::uint32_t>(file, 14, where) == 12;  // the header of OS/2
  const i64 width = old ? field<std::uint16_t>(file, 18, where) : field<std::int32_t>(file, 18, where);
  const i64 height = old ? field<std::uint16_t>(file, 20, where) : field<std::int32_t>(file, 22, where);
  const i64 bits = field<std::uint16_t>(file, old ? 24 : 28, where);
  if (bits != 8 && bits != 24 && bits != 32)
    fail(Code::E0705, "{}: a BMP image must have 8, 24 or 32 bits per pixel, but has {}", where, bits);
  if (height < 0) fail(Code::E0705, "{}: a BMP image must be stored bottom-up, but is stored top-down", where);
  require_image_size(width, height, 3, where);
  if (width * height * bits / 8 > std::ssize(file)) fail(Code::E0705, "{}: the BMP image is cut off", where);
}

}  // namespace

Tensor decode_bmp(const Bytes& file, std::string_view where) {
  const auto text = file.text();
  require_pixels(text, where);
  // The decoder takes a file's name only.
  const Descriptor memory(::memfd_create("bmp", MFD_CLOEXEC));
  if (!memory) fail_with(errno, "memfd_create");
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::write(memory.get(), text.data() + done, text.size() - done);
    if (n <= 0) fail_with(errno, "memfd_create");
    done += n;
  }
  int width = 0, height = 0, format = TJPF_RGB;
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> pixels(
      tjLoadImage(("/proc/self/fd/" + std::to_string(memory.get())).c_str(), &width, 1, &height, &format, 0), tjFree);
  if (!pixels) fail(Code::E0705, "{}: the BMP image cannot be read: {}", where, tjGetErrorStr2(nullptr));
  Tensor image = new_image(width, height, 3, where);
  std::memcpy(image.mutable_bytes(), pixels.get(), image.byte_size());
  return image;
}

}  // namespace ovir::io
