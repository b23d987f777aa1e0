// Filters are packed once for all planes: what packing_name() leaves out does not matter.
#include <array>
#include <cstring>
#include <functional>

#include "convolutions.hpp"
#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/transposed_bf16.hpp"
#include "fast/kernels/convolution/winograd_bf16.hpp"
#include "fast/kernels/convolution/winograd_u8.hpp"
#include "fast/kit/convolution_method.hpp"

namespace ovir::fast {
namespace {

/// The same convolution of so many images of another size; `transposed`: the output is the larger side.
ConvolutionShape with_size(ConvolutionShape s, i64 batch, i64 height, i64 width, bool transposed) {
  const auto result = [&](i64 size, i64 stride, i64 kernel, i64 dilation, i64 pad) {
    const auto reach = (kernel - 1) * dilation + 1 - 2 * pad;
    return transposed ? (size - 1) * stride + reach : (size - reach) / stride + 1;
  };
  s.batch = batch;
  s.height = height;
  s.width = width;
  s.out_height = result(height, s.stride_y, s.kernel_height, s.dilation_y, s.pad_top);
  s.out_width = result(width, s.stride_x, s.kernel_width, s.dilation_x, s.pad_left);
  return s;
}

using Packing = std::function<Buffer(const ConvolutionShape&)>;

/// Whether both have the same bytes of every plane that this convolution may be of.
void check_any_planes(const ConvolutionShape& s, bool transposed, const Packing& packed) {
  const auto small = packed(with_size(s, 1, 6, 7, transposed));
  for (const auto& [batch, height, width] : {std::array<i64, 3>{3, 9, 6}, {1, 64, 48}, {2, 300, 7}, {1, 224, 224}}) {
    INFO(batch << " x " << height << " x " << width);
    const auto other = packed(with_size(s, batch, height, width, transposed));
    REQUIRE(small.size() == other.size());
    CHECK(std::memcmp(small.data(), other.data(), static_cast<std::size_t>(small.size()) * sizeof(float)) == 0);
  }
}

}  // namespace

TEST_CASE("filters of f32 are packed alike for planes of any size") {
  using enum ConvolutionMethod;
  struct Case {
    ConvolutionMethod method;
    ConvolutionShape shape;
    bool transposed = false;
  };
  const Case cases[] = {{direct, shape(1, 1, 24, 40, 0, 0, 3, 1, 1)},
                        {direct, shape(1, 2, 24, 40, 0, 0, 5, 2, 2)},
                        {pointwise, shape(1, 1, 24, 40, 0, 0, 1, 1, 0)},
                        {pointwise, shape(1, 1, 24, 40, 0, 0, 1, 2, 0)},
                        {winograd2, shape(1, 1, 24, 40, 0, 0, 3, 1, 1)},
                        {winograd4, shape(1, 1, 24, 40, 0, 0, 3, 1, 1)},
                        {winograd_line, row(1, 24, 40, 0, 0, 3, 1, 1)},
                        {winograd_strided, shape(1, 1, 24, 40, 0, 0, 3, 2, 1)},
                        {winograd_strided_line, row(1, 24, 40, 0, 0, 3, 2, 1)},
                        {winograd_four_taps, shape(1, 1, 24, 40, 0, 0, 4, 1, 1)},
                        {winograd_five_taps, shape(1, 1, 24, 40, 0, 0, 5, 1, 2)},
                        {depthwise, shape(1, 24, 24, 24, 0, 0, 3, 1, 1)},
                        {grouped, shape(1, 6, 24, 24, 0, 0, 3, 2, 1)},
                        {groups, shape(1, 2, 48, 48, 0, 0, 3, 1, 1)},
                        {planar, shape(1, 1, 3, 40, 0, 0, 7, 2, 3)},
                        {planar_depthwise, shape(1, 24, 24, 24, 0, 0, 3, 1, 1)},
                        {clipped, shape(1, 1, 24, 40, 0, 0, 3, 1, 4, 4)},
                        {few_outputs, shape(1, 1, 24, 3, 0, 0, 3, 1, 1)},
                        {few_outputs, shape(1, 1, 3, 2, 0, 0, 5, 1, 2)},
                        {bf16x3, shape(1, 1, 64, 64, 0, 0, 3, 1, 1)},
                        {transposed, shape(1, 1, 24, 40, 0, 0, 3, 2, 1), true},
                        {transposed_product, shape(1, 1, 24, 40, 0, 0, 2, 2, 0), true},
                        {transposed_few, shape(1, 1, 24, 3, 0, 0, 4, 2, 1), true},
                        {transposed_winograd, shape(1, 1, 24, 40, 0, 0, 4, 2, 1), true},
                        {transposed_depthwise, shape(1, 24, 24, 24, 0, 0, 4, 2, 1), true}};
  ThreadPool pool(2);
  for_each_isa([&] {
    for (const auto& c : cases) {
      if (c.method == bf16x3 && !narrow_isa().tiled) continue;
      INFO(name(c.method));
      const auto filters = random_floats(c.shape.weights(), 1);
      CHECK(packing_name(c.method, with_size(c.shape, 1, 6, 7, c.transposed)) ==
            packing_name(c.method, with_size(c.shape, 3, 64, 48, c.transposed)));
      check_any_planes(c.shape, c.transposed, [&](const ConvolutionShape& s) {
        Buffer to(filters_size(c.method, s));
        REQUIRE(to.size() > 0);
        pack(c.method, s, filters.data(), to.data(), pool);
        return to;
      });
    }
  });
}

TEST_CASE("filters of bf16 and of integers are packed alike for planes of any size") {
  const ConvolutionShape shapes[] = {shape(1, 1, 24, 40, 0, 0, 1, 1, 0), shape(1, 1, 64, 40, 0, 0, 1, 2, 0),
                                     shape(1, 1, 3, 40, 0, 0, 7, 2, 3),  shape(1, 1, 1, 40, 0, 0, 5, 1, 2),
                                     shape(1, 1, 70, 40, 0, 0, 3, 2, 1), shape(1, 2, 48, 64, 0, 0, 3, 1, 1),
                                     shape(1, 1, 64, 64, 0, 0, 3, 1, 1)};
  ThreadPool pool(2);
  for_each_isa([&] {
    for (const auto& whole : shapes) {
      INFO(whole.channels << " channels, kernel " << whole.kernel_height);
      const auto filters = random_floats(whole.weights(), 1);
      std::vector<std::int8_t> integers;
      for (const auto w : filters) integers.push_back(static_cast<std::int8_t>(w * 100));
      check_any_planes(whole, false, [&](const ConvolutionShape& s) {
        const NarrowGeometry g(s, 2);
        Buffer to(g.filters_size());
        bf16_pack(g, filters.data(), words(to), pool);
        return to;
      });
      check_any_planes(whole, false, [&](const ConvolutionShape& s) {
        const NarrowGeometry g(s, 4);
        Buffer to(g.filters_size());
        u8_pack(g, integers.data(), words(to), pool);
        return to;
      });
      if (whole.kernel_height != 3 || whole.stride_y != 1 || whole.groups != 1) continue;
      check_any_planes(whole, false, [&](const ConvolutionShape& s) {
        Buffer to(bf16_winograd_filters_size(s));
        bf16_winograd_pack(s, filters.data(), words(to), pool);
        return to;
      });
      check_any_planes(whole, false, [&](const ConvolutionShape& s) {
        Buffer to(u8_winograd_weights_size(s));
        u8_winograd_pack(s, integers.data(), words(to), pool);
        return to;
      });
    }
    const auto transposed = shape(1, 1, 24, 40, 0, 0, 2, 2, 0);
    const auto filters = random_floats(transposed.weights(), 1);
    check_any_planes(transposed, true, [&](const ConvolutionShape& s) {
      Buffer to(bf16_transposed_filters_size(s));
      bf16_transposed_pack(s, filters.data(), words(to), pool);
      return to;
    });
  });
}

}  // namespace ovir::fast
