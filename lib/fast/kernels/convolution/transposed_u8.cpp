#include "fast/kernels/convolution/transposed_u8.hpp"

#include <algorithm>

namespace ovir::fast {

void u8_transposed(const ConvolutionShape& s, i64 stride_y, i64 stride_x, std::span<const U8Phase> phases,
                   const Word* in, const U8Blocked& out, ThreadPool& pool) {
  const NarrowGeometry geometry(s, 4);
  auto whole = s;  // the planes that are stored
  whole.out_height *= stride_y;
  whole.out_width *= stride_x;
  const auto width = s.out_width;
  for (i64 place = 0; place < std::ssize(phases); ++place) {
    const auto& phase = phases[static_cast<std::size_t>(place)];
    const auto row = place / stride_x, column = place % stride_x;
    // Pixels of a plane, of which those of a row lie side by side.
    const auto tile = [&](const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
      for (i64 first = 0; first < pixels;) {
        const auto y = (pixel + first) / width, x = (pixel + first) % width;
        const auto now = std::min<i64>(pixels - first, width - x);
        auto to = u8_tile_of(whole, out, {}, *phase.epilogue, sum, panel, image,
                             (y * stride_y + row) * whole.out_width + x * stride_x + column);
        to.sum.in += first * sum.pixel;
        to.out_pixel *= stride_x;
        narrow_isa().u8(to, static_cast<int>(now));
        first += now;
      }
    };
    narrow_convolution(geometry, phase.filters, in, 0, nullptr, pool, std::cref(tile));
  }
}

}  // namespace ovir::fast
