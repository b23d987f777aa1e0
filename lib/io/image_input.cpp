// An image on its way into a model: resized, recolored, laid out, scaled.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "io/image.hpp"

namespace ovir::io {

namespace {

/// For every output position the two source positions and the weight of the second.
struct Tap {
  i64 low, high;
  float weight;
};
std::vector<Tap> taps(i64 from, i64 to) {
  std::vector<Tap> all;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (i64 i = 0; i < to; ++i) {
    const double at = std::clamp((static_cast<double>(i) + 0.5) * scale - 0.5, 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<i64>(at);
    all.push_back({low, std::min(low + 1, from - 1), static_cast<float>(at - static_cast<double>(low))});
  }
  return all;
}

/// Gray is repeated; color becomes luma (ITU-R BT.601), as in most image libraries.
Tensor recolor(const Tensor& image, i64 channels) {
  const auto have = image.dim(2);
  if (have == channels) return image;
  if (!(have == 1 && channels == 3) && !(have == 3 && channels == 1))
    fail(Code::E0703, "the input takes {} channels, but the image has {}", channels, have);
  Tensor out(ElementType::u8, {image.dim(0), image.dim(1), channels});
  const auto* from = image.data<std::uint8_t>();
  auto* to = out.mutable_data<std::uint8_t>();
  for (i64 i = 0; i < image.dim(0) * image.dim(1); ++i) {
    if (have == 1) to = std::fill_n(to, 3, from[i]);
    else
      *to++ = static_cast<std::uint8_t>(
          (from[3 * i] * 19595 + from[3 * i + 1] * 38470 + from[3 * i + 2] * 7471 + 32768) >> 16);
  }
  return out;
}

/// Where each axis of the input gets its length from.
struct Axes {
  i64 batch = -1, channel = -1, height = -1, width = -1;
};

Axes parse_layout(std::string_view layout, const PartialShape& shape) {
  Axes axes;
  for (i64 i = 0; i < std::ssize(layout); ++i) {
    i64* const known[] = {&axes.batch, &axes.channel, &axes.height, &axes.width};
    const auto letter = std::string_view("NCHW").find(layout[i]);
    auto* const axis = letter < 4 ? known[letter] : nullptr;
    if (axis == nullptr || *axis >= 0)
      fail(Code::E0703, "a layout must consist of N, C, H and W, each once, but is {}", layout);
    *axis = i;
  }
  if (axes.height < 0 || axes.width < 0) fail(Code::E0703, "a layout must have H and W, but is {}", layout);
  if (shape.has_rank() && shape.rank() != std::ssize(layout))
    fail(Code::E0703, "layout {} does not fit an input of shape {}", layout, to_string(shape));
  return axes;
}

/// Channels come first or last: where just one of the two axes may have 1 or 3, that is known.
std::string guess_layout(const PartialShape& shape) {
  if (!shape.has_rank()) return "NCHW";
  if (shape.rank() == 2) return "HW";
  if (shape.rank() != 3 && shape.rank() != 4)
    fail(Code::E0703, "an image cannot fill an input of shape {}", to_string(shape));
  const auto batch = shape.rank() - 3;
  const auto is_color = [](const Dim& d) { return d == Dim(1) || d == Dim(3); };
  const bool last = is_color(shape[batch + 2]) && !is_color(shape[batch]);
  return std::string(batch == 1 ? "N" : "") + (last ? "HWC" : "CHW");
}

std::vector<float> per_channel(const std::vector<float>& given, i64 channels, float otherwise, std::string_view what) {
  const std::size_t n = channels;
  if (given.size() > 1 && given.size() != n)
    fail(Code::E0703, "expected 1 {} value{}, but got {}", what,
         n == 1 ? "" : fmt::format(" or {}, one for each channel", n), given.size());
  if (given.size() == n) return given;
  return std::vector<float>(n, given.empty() ? otherwise : given.front());
}

}  // namespace

Tensor resize_image(const Tensor& image, i64 width, i64 height) {
  const auto channels = image.dim(2), row = image.dim(1) * channels;
  if (image.dim(0) == height && image.dim(1) == width) return image;
  Tensor out(ElementType::u8, {height, width, channels});
  const auto across = taps(image.dim(1), width);
  const auto* const from = image.data<std::uint8_t>();
  auto* to = out.mutable_data<std::uint8_t>();
  for (const auto& y : taps(image.dim(0), height)) {
    for (const auto& x : across) {
      for (i64 c = 0; c < channels; ++c) {
        const auto between = [&](i64 line) {
          const float left = from[line * row + x.low * channels + c], right = from[line * row + x.high * channels + c];
          return left + (right - left) * x.weight;
        };
        const float top = between(y.low), bottom = between(y.high);
        *to++ = static_cast<std::uint8_t>(top + (bottom - top) * y.weight + 0.5f);
      }
    }
  }
  return out;
}

Tensor image_input(const Tensor& given, ElementType type, const PartialShape& shape, const ImageOptions& options) {
  const auto axes = parse_layout(options.layout.empty() ? guess_layout(shape) : options.layout, shape);
  const auto wanted = [&](i64 axis) { return axis >= 0 && shape.has_rank() ? shape[axis] : Dim(); };
  const auto width = options.size ? options.size->first : given.dim(1),
             height = options.size ? options.size->second : given.dim(0);
  const Dim channel_dim = axes.channel < 0 ? Dim(1) : wanted(axes.channel);
  const auto channels = channel_dim.is_static() ? channel_dim.length() : given.dim(2);
  const auto rank = std::max({axes.batch, axes.channel, axes.height, axes.width}) + 1;
  Shape out_shape(rank, 1);
  const auto place = [&](i64 axis, i64 length) {
    if (axis >= 0) out_shape[axis] = length;
  };
  place(axes.channel, channels);
  place(axes.height, height);
  place(axes.width, width);
  if (!shape.contains(out_shape)) {
    const Dim h = wanted(axes.height), w = wanted(axes.width);
    const bool size_only = h.is_static() && w.is_static() && (h.length() != height || w.length() != width);
    fail(Code::E0703, "expected shape {}, but the image of {}x{} pixels makes {}{}", to_string(shape), width, height,
         to_string(out_shape), size_only ? fmt::format("; --resize {}x{} would fit it", w.length(), h.length()) : "");
  }
  // Only what fits is resized: it may be asked for in any size.
  const Tensor image = recolor(options.size ? resize_image(given, width, height) : given, channels);

  const auto mean = per_channel(options.mean, channels, 0, "mean"),
             scale = per_channel(options.scale, channels, 1, "scale");
  const Shape strides = strides_of(out_shape);
  const auto step = [&](i64 axis) { return axis < 0 ? 0 : strides[axis]; };
  Tensor out(ElementType::f32, out_shape);
  const auto* from = image.data<std::uint8_t>();
  for (i64 y = 0; y < height; ++y) {
    for (i64 x = 0; x < width; ++x, from += channels) {
      for (i64 c = 0; c < channels; ++c) {
        const auto value = static_cast<float>(from[options.reverse_channels ? channels - 1 - c : c]);
        out.mutable_data<float>()[y * step(axes.height) + x * step(axes.width) + c * step(axes.channel)] =
            (value - mean[c]) / scale[c];
      }
    }
  }
  return convert(out, type);
}

}  // namespace ovir::io
