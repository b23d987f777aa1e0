#include "pattern_examples.hpp"

namespace ovir::testing::patterns::volume_by_slices {
namespace {

void grouped(Net& n) {
  n.result(n.op("GroupConvolution-1", {n.input({1, 32, 4, 5, 6}), n.weights({2, 32, 16, 2, 3, 3})}, windows(3, 1, 1)));
}
/// Sums that are finished in a pass of their own.
void finished(Net& n) {
  const auto x =
      n.op("GroupConvolution-1", {n.input({2, 32, 4, 5, 6}), n.weights({2, 32, 16, 2, 3, 3})}, windows(3, 1, 1));
  n.result(n.op("Add-1", {n.op("Swish-4", {x}), n.input({2, 64, 5, 5, 6})}));
}
/// Groups whose channels begin and end within blocks.
void groups(Net& n) {
  const auto x =
      n.op("GroupConvolution-1", {n.input({2, 30, 4, 9, 10}), n.weights({3, 22, 10, 3, 3, 3})}, windows(3, 1, 1));
  n.result(n.op("Add-1", {n.op("Swish-4", {x}), n.input({2, 66, 4, 9, 10})}));
}
/// Each output slice has a plane of its own, or one or two, or there are some without any.
void transposed(Net& n) {
  const auto x =
      n.op("ConvolutionBackpropData-1", {n.input({2, 20, 3, 6, 7}), n.weights({20, 18, 2, 2, 2})}, windows(3, 2));
  n.result(n.op("ReLU-1", {n.op("Add-1", {x, n.weights({1, 18, 1, 1, 1})})}));
}
void transposed_overlapping(Net& n) {
  const auto x =
      n.op("ConvolutionBackpropData-1", {n.input({1, 20, 3, 4, 5}), n.weights({20, 18, 3, 4, 3})}, windows(3, 2, 1));
  n.result(n.op("Add-1", {n.op("Swish-4", {x}), n.input({1, 18, 5, 8, 9})}));
}
void transposed_apart(Net& n) {
  const auto x =
      n.op("GroupConvolutionBackpropData-1", {n.input({1, 8, 3, 9, 8}), n.weights({2, 4, 3, 1, 2, 2})}, windows(3, 3));
  n.result(n.op("Swish-4", {n.op("Add-1", {x, n.weights({1, 6, 1, 1, 1})})}));
}
/// Of as many slices as the batch before.
void transposed_open(Net& n) {
  const auto from = n.op("Transpose-1", {n.input({3, 20, 6, 7}), n.indices({1, 0, 2, 3})});
  const auto x = n.op("ConvolutionBackpropData-1",
                      {n.op("Unsqueeze-1", {from, n.index(0)}), n.weights({20, 18, 3, 2, 2})}, windows(3, 2));
  n.result(n.op("ReLU-1", {n.op("Add-1", {x, n.weights({1, 18, 1, 1, 1})})}));
}
/// To sizes that are asked for, of which the run finds one.
void transposed_open_sized(Net& n) {
  const auto from = n.op("Transpose-1", {n.input({3, 20, 6, 7}), n.indices({1, 0, 2, 3})});
  const auto x = n.op("Unsqueeze-1", {from, n.index(0)});
  const auto slices = n.op("Gather-1", {n.op("ShapeOf-1", {x}), n.indices({2}), n.index(0)});
  const auto wanted =
      n.op("Concat-1", {n.op("Multiply-1", {slices, n.indices({2})}), n.indices({12, 13})}, {{"axis", "0"}});
  const auto y = n.op("ConvolutionBackpropData-1", {x, n.weights({20, 18, 3, 4, 2}), wanted},
                      {{"strides", "2,2,2"}, {"dilations", "1,1,1"}, {"auto_pad", "same_upper"}});
  n.result(n.op("ReLU-1", {n.op("Add-1", {y, n.weights({1, 18, 1, 1, 1})})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"volume.direct.convolution", grouped},
    {"volume.direct.convolution+Swish+residual", finished},
    {"volume.groups.convolution+Swish+residual", groups},
    {"volume.transposed.convolution+bias+Relu", transposed},
    {"volume.transposed.convolution+bias+Relu", transposed, kOnce, kOpen},
    {"volume.transposed.convolution+bias+Relu", transposed_open, kOften, kOpen},
    {"volume.transposed.convolution+bias+Relu", transposed_open, kOnce, kOpen},
    {"volume.transposed.convolution+bias+Relu", transposed_open_sized, kOften, kOpen},
    {"volume.transposed_product.convolution+Swish+residual", transposed_overlapping},
    {"volume.transposed.convolution+bias+Swish", transposed_apart},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"volume_by_slices", kExamples};

}  // namespace ovir::testing::patterns::volume_by_slices
