#include "ops/image/common.hpp"

namespace ovir::ops::image {
namespace {

/// Colors are numbers from 0 to 255, whole ones where the type is.
template <class E>
E clip(float v) {
  if constexpr (std::is_integral_v<E>) v = std::round(v);
  return static_cast<E>(std::clamp(v, 0.0F, 255.0F));
}

using Bytes = TypeList<TypeEntry<ElementType::u8, std::uint8_t>>;

void require_pixels(const InferContext& c, int port, i64 channels) {
  c.require_rank(port, 4);
  if (const auto& shape = c.shape(port); shape.has_rank())
    c.require(shape[3].contains(channels), port, Code::E0506,
              "input \"{}\" of {} must have {} (last axis), but its shape is {}", c.port_name(port), c.op().type,
              counted(channels, "channel"), to_string(shape));
}

/// Lengths that can be divided by n.
void require_multiple(const InferContext& c, int port, const Dim& d, i64 n, std::string_view what) {
  c.require(!d.is_static() || d.length() % n == 0, port, Code::E0506,
            "the {} of input \"{}\" of {} must be a multiple of {}, but is {}", what, c.port_name(port), c.op().type, n,
            to_string(d));
}

}  // namespace

void infer_from_yuv(InferContext& c, Chroma chroma) {
  const bool single = c.input_count() == 1;
  if (chroma == Chroma::planar && c.input_count() == 2)
    fail(Code::E0501, "{} must have 1 or 3 inputs, but 2 are connected", c.op().type);
  require_pixels(c, 0, 1);
  Dim batch, height, width;
  if (const auto& y = c.shape(0); y.has_rank()) {
    batch = y[0];
    height = y[1];
    width = y[2];
    if (single) {
      require_multiple(c, 0, height, 3, "height");
      height = Dim((height.min + 2) / 3 * 2, height.is_bounded() ? height.max / 3 * 2 : Dim::kUnbounded);
    }
  }
  for (int port = 1; port < c.input_count(); ++port) {
    require_pixels(c, port, chroma == Chroma::interleaved ? 2 : 1);
    const auto& plane = c.shape(port);
    if (!plane.has_rank()) continue;
    batch = c.require_same_dim(batch, plane[0], port, "the batch of \"Y\"",
                               fmt::format("that of \"{}\"", c.port_name(port)));
    height = c.require_same_dim(height, plane[1] * Dim(2), port, "the height of \"Y\"",
                                fmt::format("twice that of \"{}\"", c.port_name(port)));
    width = c.require_same_dim(width, plane[2] * Dim(2), port, "the width of \"Y\"",
                               fmt::format("twice that of \"{}\"", c.port_name(port)));
  }
  require_multiple(c, 0, height, 2, "height");
  require_multiple(c, 0, width, 2, "width");
  c.output(0, PartialShape{batch, height, width, Dim(3)});
}

void convert_from_yuv(EvalContext& c, Chroma chroma, Order order) {
  const auto& luma = c.in(0);
  const bool single = c.input_count() == 1;
  const auto batch = luma.dim(0), width = luma.dim(2), height = single ? luma.dim(1) / 3 * 2 : luma.dim(1);
  const auto pixels = height * width, stride = single ? pixels * 3 / 2 : pixels;
  auto& out = c.out(0, {batch, height, width, 3});
  dispatch(luma.type(), Floats{} + Bytes{}, [&]<class E>() {
    for (i64 n = 0; n < batch; ++n) {
      const E* y = luma.data<E>() + n * stride;
      const bool apart = chroma == Chroma::planar;
      // One plane: chroma follows luma. U first, then V.
      const E* u = single ? y + pixels : c.in(1).data<E>() + n * (apart ? pixels / 4 : pixels / 2);
      const E* v = apart ? u + pixels / 4 : u + 1;
      if (apart && !single) v = c.in(2).data<E>() + n * (pixels / 4);
      E* to = out.mutable_data<E>() + n * pixels * 3;
      for (i64 h = 0; h < height; ++h)
        for (i64 w = 0; w < width; ++w, to += 3) {
          const auto at = ((h / 2) * (width / 2) + w / 2) * (apart ? 1 : 2);
          const float l = 1.164F * (static_cast<float>(y[h * width + w]) - 16.0F),
                      d = static_cast<float>(u[at]) - 128.0F, e = static_cast<float>(v[at]) - 128.0F;
          const E red = clip<E>(l + 1.596F * e), green = clip<E>(l - 0.391F * d - 0.813F * e),
                  blue = clip<E>(l + 2.018F * d);
          to[0] = order == Order::rgb ? red : blue;
          to[1] = green;
          to[2] = order == Order::rgb ? blue : red;
        }
    }
  });
}

void infer_to_nv12(InferContext& c) {
  require_pixels(c, 0, 3);
  const bool single = c.attrs<Nv12Attrs>().single_plane;
  if (c.output_count() != (single ? 1 : 2))
    fail(Code::E0501, "{0} must have {1} output{2} where \"single_plane\" is {3}, but the layer declares {4}",
         c.op().type, single ? 1 : 2, single ? "" : "s", single, c.output_count());
  Dim batch, height, width;
  if (const auto& image = c.shape(0); image.has_rank()) {
    batch = image[0];
    height = image[1];
    width = image[2];
    require_multiple(c, 0, height, 2, "height");
    require_multiple(c, 0, width, 2, "width");
  }
  const auto halves = [](const Dim& d, i64 n) {
    return Dim(d.min / 2 * n + d.min % 2 * n, d.is_bounded() ? d.max / 2 * n : Dim::kUnbounded);
  };  // of an even length
  if (single) return c.output(0, PartialShape{batch, halves(height, 3), width, Dim(1)});
  c.output(0, PartialShape{batch, height, width, Dim(1)});
  c.output(1, PartialShape{batch, halves(height, 1), halves(width, 1), Dim(2)});
}

void convert_to_nv12(EvalContext& c, Order order) {
  const auto& image = c.in(0);
  const bool single = c.attrs<Nv12Attrs>().single_plane;
  const auto batch = image.dim(0), height = image.dim(1), width = image.dim(2), pixels = height * width;
  auto& luma = c.out(0, single ? Shape{batch, height / 2 * 3, width, 1} : Shape{batch, height, width, 1});
  Tensor* chroma = single ? nullptr : &c.out(1, {batch, height / 2, width / 2, 2});
  dispatch(image.type(), Floats{} + Bytes{}, [&]<class E>() {
    for (i64 n = 0; n < batch; ++n) {
      const E* from = image.data<E>() + n * pixels * 3;
      E* y = luma.mutable_data<E>() + n * (single ? pixels * 3 / 2 : pixels);
      E* uv = single ? y + pixels : chroma->mutable_data<E>() + n * (pixels / 2);
      for (i64 h = 0; h < height; h += 2)
        for (i64 w = 0; w < width; w += 2) {
          float u = 0, v = 0;  // four pixels share their mean chroma
          for (i64 k = 0; k < 4; ++k) {
            const auto at = (h + k / 2) * width + w + k % 2;
            const float green = static_cast<float>(from[at * 3 + 1]);
            const float red = static_cast<float>(from[at * 3 + (order == Order::rgb ? 0 : 2)]),
                        blue = static_cast<float>(from[at * 3 + (order == Order::rgb ? 2 : 0)]);
            y[at] = clip<E>(0.257F * red + 0.504F * green + 0.098F * blue + 16.0F);
            u += static_cast<float>(clip<E>(-0.148F * red - 0.291F * green + 0.439F * blue + 128.0F));
            v += static_cast<float>(clip<E>(0.439F * red - 0.368F * green - 0.071F * blue + 128.0F));
          }
          uv[h / 2 * width + w] = clip<E>(u / 4);
          uv[h / 2 * width + w + 1] = clip<E>(v / 4);
        }
    }
  });
}

}  // namespace ovir::ops::image
