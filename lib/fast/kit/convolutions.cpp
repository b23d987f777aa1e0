#include "fast/kit/convolutions.hpp"

#include <algorithm>

#include "fast/kernels/convolution/direct.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast {

ConvolutionShape with_planes(const ConvolutionAttrs& attrs, const ConvolutionShape& known, std::span<const i64> data,
                             std::span<const i64> out) {
  auto s = known;
  const auto spatial = data.size() - 2;
  const auto window = [&](std::size_t axis, i64 kernel) { return attrs.window(axis, kernel).resolved(data[axis + 2]); };
  s.batch = data[0];
  s.channels = data[1];
  s.outputs = out[1];
  const auto columns = window(spatial - 1, known.kernel_width);
  s.width = data[spatial + 1];
  s.out_width = out[spatial + 1];
  s.stride_x = columns.stride;
  s.dilation_x = columns.dilation;
  s.pad_left = columns.pad_begin;
  if (spatial > 1) {
    const auto rows = window(spatial - 2, known.kernel_height);
    s.height = data[spatial];
    s.out_height = out[spatial];
    s.stride_y = rows.stride;
    s.dilation_y = rows.dilation;
    s.pad_top = rows.pad_begin;
  }
  return s;
}

bool keeps_plane(const View& data, const ConvolutionShape& s) {
  return data.dim(1) == s.channels && data.size() == data.dim(0) * s.channels * s.plane() &&
         data.dim(data.rank() - 1) == s.width;
}

std::optional<StaticConvolution> static_convolution(const Graphlet& graph, int root, i64 max_rank) {
  const auto data = graph.input(root, 0), filters = graph.input(root, 1);
  const auto &in = graph.fact(data).shape, &out = graph.fact({root, 0}).shape;
  const bool grouped = graph.type(root).starts_with("Group"), transposed = graph.type(root).ends_with("BackpropData");
  const auto& attrs = graph.attrs<ConvolutionAttrs>(root);
  // Data that are cropped, pads that follow from a wanted output, and an output of given size are for the reference
  // kernel.
  if (attrs.crops()) return std::nullopt;
  if (transposed && (attrs.auto_pad != AutoPad::given || graph.input(root, 2).node >= 0)) return std::nullopt;
  if (!is_f32(graph, data) || !is_f32(graph, filters) || !graph.fact(filters).shape.is_static() || !in.has_rank() ||
      in.rank() < 3 || in.rank() > max_rank || !in[1].is_static() || !out.has_rank())
    return std::nullopt;
  const auto dims = graph.fact(filters).shape.to_shape();
  if (dims.rank() != in.rank() + grouped || dims.count() == 0) return std::nullopt;
  const bool open = [&] {
    for (i64 i = 2; i < in.rank(); ++i)
      if (!in[i].is_static() || !out[i].is_static()) return true;
    return false;
  }();
  if (open && transposed) return std::nullopt;
  ConvolutionShape known;
  known.groups = grouped ? dims[0] : 1;
  known.channels = in[1].length();
  // [groups,] outputs, channels, taps; transposed: [groups,] channels, outputs, taps.
  const auto group_outputs = dims[grouped + transposed], group_channels = dims[grouped + !transposed];
  known.outputs = known.groups * group_outputs;
  known.kernel_width = dims[dims.rank() - 1];
  known.kernel_height = in.rank() > 3 ? dims[dims.rank() - 2] : 1;
  if (known.channels != known.groups * group_channels || known.taps() > kMaxTaps) return std::nullopt;
  // The transposed kernel goes over the phases of its strides one by one; those beyond the kernel have no tap.
  if (transposed && std::any_of(attrs.strides.begin(), attrs.strides.end(), [](i64 n) { return n > kMaxStride; }))
    return std::nullopt;
  // The batch makes no difference to the filters. Of planes that are not known a small one is assumed, which leaves
  // out Winograd.
  std::vector<i64> from{1, known.channels}, to{1, known.outputs};
  for (i64 i = 2; i < in.rank(); ++i) {
    from.push_back(open ? 1 : in[i].length());
    to.push_back(open ? 1 : out[i].length());
  }
  return StaticConvolution{attrs, with_planes(attrs, known, from, to), in.rank(), open, transposed};
}

int convolution_after(const Graphlet& graph, int last, std::string_view type) {
  const auto next = graph.only_user({last, 0});
  return graph.type(next) == type && graph.input(next, 0).node == last ? next : -1;
}

}  // namespace ovir::fast
