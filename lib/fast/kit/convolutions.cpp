#include "fast/kit/convolutions.hpp"

#include <algorithm>

#include "fast/kernels/convolution/direct.hpp"
#include "fast/kit/convolution_in_batches.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/zeros.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {

Window ConvolutionWindows::along(std::size_t axis, i64 kernel, i64 data, i64 out) const {
  const auto own = attrs.window(axis, kernel);
  return fits_output ? own.fitted(data, nth_or(attrs.output_padding, axis, 0), out) : own.resolved(data);
}

namespace {

/// Of three spatial axes as one plane, where `known` has the planes of filters.
ConvolutionShape with_slices(const ConvolutionWindows& windows, const ConvolutionShape& known,
                             std::span<const i64> data, std::span<const i64> out) {
  auto slice = known;
  slice.kernel_height = known.plane_height();
  slice.slices = {};
  auto s = with_planes(windows, slice, data, out);
  const auto depth = windows.along(0, known.slices.planes, data[2], out[2]);
  s.slices = {data[2], out[2], known.slices.planes, depth.stride, depth.dilation, depth.pad_begin};
  s.height *= s.slices.count;
  s.out_height *= s.slices.out;
  s.kernel_height = known.kernel_height;
  return s;
}

}  // namespace

ConvolutionShape with_planes(const ConvolutionWindows& windows, const ConvolutionShape& known,
                             std::span<const i64> data, std::span<const i64> out) {
  if (known.is_volume()) return with_slices(windows, known, data, out);
  auto s = known;
  const auto spatial = data.size() - 2;
  const auto window = [&](std::size_t axis, i64 kernel) {
    return windows.along(axis, kernel, data[axis + 2], out[axis + 2]);
  };
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

std::optional<StaticConvolution> static_convolution(const Graphlet& graph, int root, i64 max_rank, bool spelled_out,
                                                    i64 max_taps, ElementType type) {
  const auto filters = graph.input(root, 1);
  const bool grouped = graph.type(root).starts_with("Group"), transposed = graph.type(root).ends_with("BackpropData");
  ConvolutionWindows windows{graph.attrs<ConvolutionAttrs>(root)};
  auto& attrs = windows.attrs;
  if (graph.stored(filters) != type || !graph.fact(filters).shape.is_static()) return std::nullopt;
  auto dims = graph.fact(filters).shape.to_shape();
  std::vector<int> nodes{root};
  std::size_t shared = 0;
  if (spelled_out && !transposed && dims.rank() > 2 + grouped) {
    const auto kernel = [&] { return std::span(dims.begin() + 2 + grouped, dims.end()); };
    if (auto batches = convolution_in_batches(graph, root, kernel())) {
      nodes = std::move(batches->nodes);
      shared = batches->shared;
      attrs = std::move(batches->attrs);
      dims.erase(dims.begin() + 2 + grouped, dims.begin() + 2 + grouped + batches->ones);
    }
    if (auto zeros = zeros_before(graph, nodes.front(), attrs, kernel())) {
      nodes.insert(nodes.begin(), zeros->node);
      shared += shared > 0;
      attrs.pads_begin = std::move(zeros->begin);
      attrs.pads_end = std::move(zeros->end);
      attrs.auto_pad = AutoPad::given;
    }
  }
  const auto data = graph.input(nodes.front(), 0);
  const auto &in = graph.fact(data).shape, &out = graph.fact({nodes.back(), 0}).shape;
  if (graph.stored(data) != type || !in.has_rank() || in.rank() < 3 || in.rank() > max_rank || !in[1].is_static() ||
      !out.has_rank())
    return std::nullopt;
  if (dims.rank() != in.rank() + grouped || dims.count() == 0) return std::nullopt;
  const bool open = [&] {
    for (i64 i = 2; i < in.rank(); ++i)
      if (!in[i].is_static() || !out[i].is_static()) return true;
    return false;
  }();
  windows.fits_output = transposed && graph.input(root, 2).node >= 0;
  if (windows.fits_output || (transposed && attrs.auto_pad != AutoPad::given)) {
    // Pads that are given do not count, and without a wanted output there is nothing to fit to.
    attrs.pads_begin.clear();
    attrs.pads_end.clear();
    if (!windows.fits_output) attrs.auto_pad = AutoPad::given;
  }
  if (attrs.crops()) return std::nullopt;  // for the reference kernel
  ConvolutionShape known;
  known.groups = grouped ? dims[0] : 1;
  known.channels = in[1].length();
  // [groups,] outputs, channels, taps; transposed: [groups,] channels, outputs, taps.
  const auto group_outputs = dims[grouped + transposed], group_channels = dims[grouped + !transposed];
  known.outputs = known.groups * group_outputs;
  known.kernel_width = dims[dims.rank() - 1];
  known.kernel_height = in.rank() > 3 ? dims[dims.rank() - 2] : 1;
  if (known.channels != known.groups * group_channels || known.taps() > max_taps) return std::nullopt;
  // The batch makes no difference to the filters. Of planes that are not known a small one is assumed, which leaves
  // out Winograd.
  std::vector<i64> from{1, known.channels}, to{1, known.outputs};
  for (i64 i = 2; i < in.rank(); ++i) {
    from.push_back(open ? 1 : in[i].length());
    to.push_back(open ? 1 : out[i].length());
  }
  const auto shape = with_planes(windows, known, from, to);
  return StaticConvolution{std::move(windows), shape, in.rank(), open, transposed, data, std::move(nodes), shared};
}

std::optional<StaticConvolution> static_volume(const Graphlet& graph, int root) {
  constexpr i64 kRank = 5;
  auto convolution = static_convolution(graph, root, kRank);
  if (!convolution || convolution->rank != kRank || convolution->open || convolution->transposed) return std::nullopt;
  const auto &in = graph.fact(convolution->data).shape, &out = graph.fact({root, 0}).shape;
  auto& s = convolution->shape;
  std::vector<i64> from{1, s.channels}, to{1, s.outputs};
  for (i64 i = 2; i < kRank; ++i) {
    from.push_back(in[i].length());
    to.push_back(out[i].length());
  }
  if (from[2] == 0 || to[2] == 0) return std::nullopt;
  const auto& filters = graph.fact(graph.input(root, 1)).shape;
  s.slices.planes = filters[filters.rank() - 3].length();
  s.kernel_height *= s.slices.planes;
  s = with_slices(convolution->windows, s, from, to);
  if (s.taps() > kMaxTaps) return std::nullopt;
  return convolution;
}

bool has_long_strides(const StaticConvolution& convolution) {
  return std::ranges::any_of(convolution.windows.attrs.strides, [](i64 n) { return n > kMaxStride; });
}

int behind_pad(const Graphlet& graph, int node) {
  return graph.type(node) == "Pad" ? graph.only_user({node, 0}) : node;
}

int convolution_after(const Graphlet& graph, int last, std::string_view type) {
  const auto user = graph.only_user({last, 0}), next = behind_pad(graph, user);
  return graph.type(next) == type && graph.input(next, 0).node == (next == user ? last : user) ? next : -1;
}

}  // namespace ovir::fast
