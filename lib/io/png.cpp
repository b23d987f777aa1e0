#include "diag/diagnostic.hpp"
#include "io/codecs.hpp"
#include "io/image.hpp"

#ifdef OVIR_PNG
#include <png.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace ovir::io {

namespace {

/// What libpng is given and what it hands back. Its errors jump (setjmp), so nothing with a destructor may live in
/// the functions that call it.
struct Decoder {
  std::string_view rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[128] = "damaged";

  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_error(png_structp png, png_const_charp text) {
  auto& d = *static_cast<Decoder*>(png_get_error_ptr(png));
  std::strncpy(d.message, text, sizeof d.message - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, png_size_t n) {
  auto& d = *static_cast<Decoder*>(png_get_io_ptr(png));
  if (n > d.rest.size()) png_error(png, "cut off");
  std::memcpy(to, d.rest.data(), n);
  d.rest.remove_prefix(n);
}

/// Reads the header and asks for eight bits a sample, grey or RGB, whatever the file holds.
bool start(Decoder& d) {
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
  d.info = d.png != nullptr ? png_create_info_struct(d.png) : nullptr;
  if (d.info == nullptr || setjmp(png_jmpbuf(d.png)) != 0) return false;
  png_set_read_fn(d.png, &d, on_read);
  png_read_info(d.png, d.info);
  png_set_expand(d.png);
  png_set_scale_16(d.png);
  png_set_strip_alpha(d.png);
  png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  return true;
}

bool read_rows(Decoder& d, png_bytepp rows) {
  if (setjmp(png_jmpbuf(d.png)) != 0) return false;
  png_read_image(d.png, rows);
  png_read_end(d.png, nullptr);
  return true;
}

}  // namespace

bool can_read_png() { return true; }

Tensor decode_png(const Bytes& file, std::string_view where) {
  Decoder d{file.text()};
  const auto damaged = [&] { fail(Code::E0705, "{}: the PNG picture cannot be read: {}", where, d.message); };
  if (!start(d)) damaged();
  const auto height = png_get_image_height(d.png, d.info);
  Tensor out = new_picture(png_get_image_width(d.png, d.info), height, png_get_channels(d.png, d.info), where);
  const auto stride = static_cast<std::size_t>(out.dim(1) * out.dim(2));
  if (png_get_rowbytes(d.png, d.info) != stride) damaged();
  std::vector<png_bytep> rows;
  for (std::size_t y = 0; y < height; ++y) rows.push_back(out.mutable_data<png_byte>() + y * stride);
  if (!read_rows(d, rows.data())) damaged();
  return out;
}

}  // namespace ovir::io
#else
namespace ovir::io {
bool can_read_png() { return false; }
Tensor decode_png(const Bytes&, std::string_view where) {
  fail(Code::E0705, "{}: this build of ovir was made without libpng", where);
}
}  // namespace ovir::io
#endif
