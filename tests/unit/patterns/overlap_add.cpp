#include "pattern_examples.hpp"

namespace ovir::testing::patterns::overlap_add {
namespace {

using Texts = spec::AttributeTexts;

void line(Net& n) {
  n.result(n.op("ConvolutionBackpropData-1", {n.input({1, 12, 9}), n.weights({12, 3, 400})},
                {{"strides", "100"}, {"dilations", "1"}, {"pads_begin", "150"}, {"pads_end", "37"}}));
}
/// Strides beyond the kernel, and an output that is longer than all patches.
void apart(Net& n) {
  n.result(n.op("ConvolutionBackpropData-1", {n.input({1, 5, 30}), n.weights({5, 2, 70}), n.indices({2500})},
                {{"strides", "80"}, {"dilations", "1"}, {"pads_begin", "0"}, {"pads_end", "0"}}));
}
void dilated(Net& n) {
  n.result(n.op("ConvolutionBackpropData-1", {n.input({1, 4, 5, 6}), n.weights({4, 3, 17, 18})},
                {{"strides", "3,4"},
                 {"dilations", "2,3"},
                 {"pads_begin", "5,7"},
                 {"pads_end", "6,1"},
                 {"output_padding", "2,1"}}));
}
void few_outputs(Net& n) {
  n.result(n.op("ConvolutionBackpropData-1", {n.input({2, 30, 21}), n.weights({30, 1, 64})},
                {{"strides", "20"}, {"dilations", "1"}, {"pads_begin", "30"}, {"pads_end", "30"}}));
}
void groups(Net& n) {
  n.result(n.op("GroupConvolutionBackpropData-1",
                {n.input({1, 6, 4, 3}), n.weights({3, 2, 2, 32, 32}), n.indices({64, 48})},
                {{"strides", "16,16"},
                 {"dilations", "1,1"},
                 {"auto_pad", "same_upper"},
                 {"pads_begin", "0,0"},
                 {"pads_end", "0,0"}}));
}
/// Of a line as long as the batch before.
void open_line(Net& n) {
  const auto x = n.op("Transpose-1", {n.input({9, 12, 2}), n.indices({2, 1, 0})});
  n.result(n.op("ConvolutionBackpropData-1", {x, n.weights({12, 3, 400})},
                {{"strides", "100"}, {"dilations", "1"}, {"pads_begin", "150"}, {"pads_end", "37"}}));
}
void open_line_sized(Net& n) {
  const auto x = n.op("Transpose-1", {n.input({9, 12, 2}), n.indices({2, 1, 0})});
  const auto length = n.op("Gather-1", {n.op("ShapeOf-1", {x}), n.indices({2}), n.index(0)});
  n.result(n.op("ConvolutionBackpropData-1",
                {x, n.weights({12, 3, 400}), n.op("Multiply-1", {length, n.indices({100})})},
                {{"strides", "100"}, {"dilations", "1"}, {"auto_pad", "same_lower"}}));
}

constexpr Example kExamples[] = {
    {"overlap_add.convolution", line},
    {"overlap_add.convolution", line, kOnce, kOpen},
    {"overlap_add.convolution", apart},
    {"overlap_add.convolution", dilated},
    {"overlap_add.convolution", few_outputs},
    {"overlap_add.convolution", groups, kOnce},
    {"overlap_add.convolution", open_line, kOften, kOpen},
    {"overlap_add.convolution", open_line_sized, kOften, kOpen},
};

}  // namespace

extern constinit const Examples examples{"overlap_add", kExamples};

}  // namespace ovir::testing::patterns::overlap_add
