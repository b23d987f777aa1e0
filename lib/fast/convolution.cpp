// Convolution-1 and GroupConvolution-1 of one and two spatial axes, in f32, on the file's own weights: nothing is
// compiled or repacked first, which is what a single run wants.
#include "fast/own.hpp"
#include "fast/product.hpp"
#include "op/window.hpp"

namespace ovir::fast {
namespace {

/// A plane's window; one spatial axis is a plane of height 1.
struct Plane {
  std::int64_t height, width, out_height, out_width, kernel_height, kernel_width;
  Window rows, columns;
  bool is_pointwise() const {
    return kernel_height == 1 && kernel_width == 1 && rows.stride == 1 && columns.stride == 1 && rows.pad_begin == 0 &&
           columns.pad_begin == 0 && height == out_height && width == out_width;
  }
};

Plane plane_of(const ConvolutionAttrs& attrs, const Shape& data, const Shape& filters, const Shape& out) {
  const auto spatial = data.size() - 2;
  const auto window = [&](std::size_t axis) {
    return Window{filters[filters.size() - spatial + axis],
                  nth_or(attrs.strides, axis, 1),
                  nth_or(attrs.dilations, axis, 1),
                  nth_or(attrs.pads_begin, axis, 0),
                  nth_or(attrs.pads_end, axis, 0),
                  attrs.auto_pad,
                  Rounding::floor}
        .resolved(data[axis + 2]);
  };
  const auto columns = window(spatial - 1);
  const auto rows = spatial == 2 ? window(0) : Window{};
  return {spatial == 2 ? data[2] : 1,
          data.back(),
          spatial == 2 ? out[2] : 1,
          out.back(),
          rows.kernel,
          columns.kernel,
          rows,
          columns};
}

/// y[i] = x[first + i·step] for i < n, zero outside of [0, width).
void take(const float* x, std::int64_t width, std::int64_t first, std::int64_t step, std::int64_t n, float* y) {
  const auto begin = std::clamp<std::int64_t>(first >= 0 ? 0 : (-first + step - 1) / step, 0, n);
  const auto end = std::clamp<std::int64_t>(first >= width ? 0 : (width - 1 - first) / step + 1, begin, n);
  std::fill(y, y + begin, 0.0f);
  if (step == 1) std::copy(x + first + begin, x + first + end, y + begin);
  else
    for (auto i = begin; i < end; ++i) y[i] = x[first + i * step];
  std::fill(y + end, y + n, 0.0f);
}

/// One group of one batch element as a product: filters [m][channels·kernel] by the columns under each window.
void by_product(const Plane& p, const float* x, const float* w, float* y, std::int64_t channels, std::int64_t m) {
  const auto taps = p.kernel_height * p.kernel_width, pixels = p.out_height * p.out_width, plane = p.height * p.width;
  const auto fill = [&](std::int64_t k0, std::int64_t count, std::int64_t column, float* panel) {
    const auto n = std::min(kPanel, pixels - column);
    for (std::int64_t i = 0; i < count; ++i, panel += kPanel) {
      const auto channel = (k0 + i) / taps, tap = (k0 + i) % taps;
      const auto* source = x + channel * plane;
      if (p.is_pointwise()) {
        std::copy(source + column, source + column + n, panel);
      } else {
        const auto down = tap / p.kernel_width * p.rows.dilation - p.rows.pad_begin,
                   right = tap % p.kernel_width * p.columns.dilation - p.columns.pad_begin;
        for (std::int64_t done = 0; done < n;) {  // the panel's part of one output row after another
          const auto out_row = (column + done) / p.out_width, out_column = (column + done) % p.out_width;
          const auto run = std::min(n - done, p.out_width - out_column);
          const auto row = out_row * p.rows.stride + down;
          if (row < 0 || row >= p.height) std::fill(panel + done, panel + done + run, 0.0f);
          else
            take(source + row * p.width, p.width, out_column * p.columns.stride + right, p.columns.stride, run,
                 panel + done);
          done += run;
        }
      }
      std::fill(panel + n, panel + kPanel, 0.0f);
    }
  };
  const auto store = [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                         const float* tile) {
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy(tile + i * kPanel, tile + i * kPanel + columns, y + (row + i) * pixels + column);
  };
  product(w, channels * taps, m, pixels, channels * taps, fill, store);
}

/// One channel by one filter.
void depthwise(const Plane& p, const float* x, const float* w, float* y) {
  const auto& table = isa();
  std::fill(y, y + p.out_height * p.out_width, 0.0f);
  for (std::int64_t i = 0; i < p.out_height; ++i)
    for (std::int64_t r = 0; r < p.kernel_height; ++r) {
      const auto row = i * p.rows.stride + r * p.rows.dilation - p.rows.pad_begin;
      if (row < 0 || row >= p.height) continue;
      for (std::int64_t c = 0; c < p.kernel_width; ++c) {
        const auto first = c * p.columns.dilation - p.columns.pad_begin, step = p.columns.stride;
        const auto begin = std::min(p.out_width, first >= 0 ? 0 : (-first + step - 1) / step);
        const auto end =
            std::clamp<std::int64_t>(first >= p.width ? 0 : (p.width - 1 - first) / step + 1, begin, p.out_width);
        table.axpy(w[r * p.kernel_width + c], x + row * p.width + first + begin * step, step,
                   y + i * p.out_width + begin, end - begin);
      }
    }
}

void convolve(EvalContext& c, const ConvolutionAttrs& attrs, bool grouped) {
  const auto &data = c.in(0), &filters = c.in(1);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  const auto p = plane_of(attrs, data.shape(), filters.shape(), out.shape());
  const auto batch = data.dim(0), groups = grouped ? filters.dim(0) : 1, channels = data.dim(1) / groups,
             outputs = out.dim(1) / groups;
  const auto in_plane = p.height * p.width, out_plane = p.out_height * p.out_width,
             taps = p.kernel_height * p.kernel_width;
  const auto *x = data.data<float>(), *w = filters.data<float>();
  auto* y = out.mutable_data<float>();
  if (channels == 1 && outputs == 1) {
    pool().run(batch * groups,
               [&](std::int64_t i) { depthwise(p, x + i * in_plane, w + i % groups * taps, y + i * out_plane); });
    return;
  }
  for (std::int64_t i = 0; i < batch * groups; ++i)
    by_product(p, x + i * channels * in_plane, w + i % groups * outputs * channels * taps, y + i * outputs * out_plane,
               channels, outputs);
}

Kernel prepare(const NodeView& node, bool grouped) {
  const auto& shape = node.inputs[0].shape;
  if (node.repeated || lifted_type(node.inputs[0].type) != ElementType::f32 || !shape.has_rank() || shape.rank() < 3 ||
      shape.rank() > 4)
    return {};
  return [attrs = node.as<ConvolutionAttrs>(), grouped](EvalContext& c) { convolve(c, attrs, grouped); };
}

}  // namespace

ThreadPool& pool() {
  static ThreadPool threads(available_processors());
  return threads;
}

Kernel prepare_convolution(const NodeView& node) { return prepare(node, false); }
Kernel prepare_group_convolution(const NodeView& node) { return prepare(node, true); }

}  // namespace ovir::fast
