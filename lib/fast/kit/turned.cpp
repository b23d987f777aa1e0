#include "fast/kit/turned.hpp"

#include <algorithm>

#include "fast/kernels/convolution/transposed_product.hpp"

namespace ovir::fast {

std::optional<StaticConvolution> turned(const Graphlet& graph, int root, const StaticConvolution& transposed) {
  if (!transposed.transposed || transposed.open || transposed_product_pays(transposed.shape)) return std::nullopt;
  const auto filters = graph.fact(graph.input(root, 1)).shape.to_shape();
  const auto &data = graph.fact(transposed.data).shape, &out = graph.fact({root, 0}).shape;
  auto result = transposed;
  std::vector<i64> from{1, result.shape.channels}, to{1, result.shape.outputs};
  ConvolutionAttrs attrs;
  for (i64 axis = 2; axis < transposed.rank; ++axis) {
    from.push_back(data[axis].length());
    to.push_back(out[axis].length());
    const auto window = transposed.windows.along(
        static_cast<std::size_t>(axis - 2), filters[filters.rank() - transposed.rank + axis], from.back(), to.back());
    if (window.stride != 1) return std::nullopt;
    const auto pad = window.extent() - 1 - window.pad_begin;
    attrs.strides.push_back(1);
    attrs.dilations.push_back(window.dilation);
    attrs.pads_begin.push_back(pad);
    attrs.pads_end.push_back(to.back() - from.back() + window.extent() - 1 - pad);
  }
  if (attrs.crops()) return std::nullopt;
  result.windows = {std::move(attrs)};
  result.shape = with_planes(result.windows, result.shape, from, to);
  result.transposed = false;
  return result;
}

Tensor turned_filters(const ConvolutionShape& s, const Tensor& filters) {
  const auto channels = s.group_channels(), outputs = s.group_outputs(),
             taps = filters.size() / (s.groups * channels * outputs);
  Tensor result(ElementType::f32, Shape{s.groups, outputs, channels, taps});
  const auto* from = filters.data<float>();
  auto* to = result.mutable_data<float>();
  for (i64 group = 0; group < s.groups; ++group, from += channels * outputs * taps)
    for (i64 o = 0; o < outputs; ++o)
      for (i64 c = 0; c < channels; ++c, to += taps)
        std::reverse_copy(from + (c * outputs + o) * taps, from + (c * outputs + o + 1) * taps, to);
  return result;
}

}  // namespace ovir::fast
