#include "diag/diagnostic.hpp"
#include "io/codecs.hpp"
#include "io/image.hpp"

#ifdef OVIR_JPEG
#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

namespace ovir::io {

namespace {

/// libjpeg's errors jump (setjmp), so nothing with a destructor may live in the functions that call it.
struct Decoder {
  jpeg_error_mgr errors{};
  jpeg_decompress_struct jpeg{};
  std::jmp_buf back{};
  bool cut_off = false;
  char message[JMSG_LENGTH_MAX] = "damaged";

  ~Decoder() { jpeg_destroy_decompress(&jpeg); }
};

Decoder& decoder_of(j_common_ptr jpeg) { return *static_cast<Decoder*>(jpeg->client_data); }

void on_error(j_common_ptr jpeg) {
  jpeg->err->format_message(jpeg, decoder_of(jpeg).message);
  std::longjmp(decoder_of(jpeg).back, 1);
}
/// libjpeg pads what is missing with grey and only warns.
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0 && (jpeg->err->msg_code == JWRN_JPEG_EOF || jpeg->err->msg_code == JWRN_HIT_MARKER))
    decoder_of(jpeg).cut_off = true;
}

bool start(Decoder& d, const Bytes& file) {
  d.jpeg.err = jpeg_std_error(&d.errors);
  d.errors.error_exit = on_error;
  d.errors.emit_message = on_message;
  d.jpeg.client_data = &d;
  if (setjmp(d.back) != 0) return false;
  jpeg_create_decompress(&d.jpeg);
  d.jpeg.client_data = &d;
  jpeg_mem_src(&d.jpeg, const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(file.view.data())),
               static_cast<unsigned long>(file.size()));
  jpeg_read_header(&d.jpeg, TRUE);
  d.jpeg.out_color_space = d.jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_calc_output_dimensions(&d.jpeg);
  return true;
}

bool read_rows(Decoder& d, JSAMPROW first, std::size_t stride) {
  if (setjmp(d.back) != 0) return false;
  jpeg_start_decompress(&d.jpeg);
  while (d.jpeg.output_scanline < d.jpeg.output_height) {
    JSAMPROW row = first + d.jpeg.output_scanline * stride;
    jpeg_read_scanlines(&d.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&d.jpeg);
  return true;
}

}  // namespace

bool can_read_jpeg() { return true; }

Tensor decode_jpeg(const Bytes& file, std::string_view where) {
  Decoder d;
  const auto damaged = [&](std::string_view why) {
    fail(Code::E0705, "{}: the JPEG picture cannot be read: {}", where, why);
  };
  if (!start(d, file)) damaged(d.message);
  Tensor out = new_picture(d.jpeg.output_width, d.jpeg.output_height, d.jpeg.out_color_components, where);
  if (!read_rows(d, out.mutable_data<JSAMPLE>(), static_cast<std::size_t>(out.dim(1) * out.dim(2)))) damaged(d.message);
  if (d.cut_off) damaged("it is cut off");
  return out;
}

}  // namespace ovir::io
#else
namespace ovir::io {
bool can_read_jpeg() { return false; }
Tensor decode_jpeg(const Bytes&, std::string_view where) {
  fail(Code::E0705, "{}: this build of ovir was made without libjpeg", where);
}
}  // namespace ovir::io
#endif
