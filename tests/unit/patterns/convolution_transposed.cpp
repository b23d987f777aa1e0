#include "pattern_examples.hpp"

namespace ovir::testing::patterns::convolution_transposed {
namespace {

// --- transposed convolutions

void transposed(Net& n) {
  const auto x = n.input({1, 20, 7, 6}), w = n.weights({20, 18, 4, 4});
  n.result(relu(n, biased(n, n.op("ConvolutionBackpropData-1", {x, w}, windows(2, 2, 1)), 18)));
}
/// A kernel shorter than the stride, of a plane that is shared out by bands: phases without taps have more rows than
/// the plane has.
void transposed_gaps(Net& n) {
  const auto x = n.input({1, 16, 31, 16}), w = n.weights({16, 3, 3, 3});
  auto attributes = windows(2, 2);
  for (auto& [name, value] : attributes)
    if (name == "strides") value = "2,4";
  n.result(relu(n, biased(n, n.op("ConvolutionBackpropData-1", {x, w}, attributes), 3)));
}
void transposed_depthwise(Net& n) {
  const auto x = n.input({2, 19, 7, 5}), w = n.weights({19, 1, 1, 4, 3});
  n.result(relu(n, biased(n, n.op("GroupConvolutionBackpropData-1", {x, w}, windows(2, 2, 1)), 19)));
}
/// A stride that leaves gaps, taps that lie apart.
void transposed_depthwise_wide(Net& n) {
  const auto y = n.op("GroupConvolutionBackpropData-1", {n.input({1, 20, 5, 40}), n.weights({20, 1, 1, 3, 2})},
                      windows(2, 4, 2, 2));
  n.result(n.op("PRelu-1", {n.op("Add-1", {y, n.input({1, 20, 17, 155})}), n.weights({20})}));
}
void transposed_vector(Net& n) {  // of which each output pixel has one tap
  const auto x = n.input({2, 50, 1, 1});
  n.result(relu(n, biased(n, n.op("ConvolutionBackpropData-1", {x, n.weights({50, 40, 4, 4})}, windows(2)), 40)));
}
void transposed_image(Net& n) {
  const auto x = n.input({1, 33, 9, 7}), w = n.weights({33, 3, 4, 4});
  n.result(n.op("Tanh-1", {biased(n, n.op("ConvolutionBackpropData-1", {x, w}, windows(2, 2, 1)), 3)}));
}
void transposed_winograd(Net& n) {
  const auto x = n.input({2, 33, 9, 11});
  const auto y = biased(n, n.op("ConvolutionBackpropData-1", {x, n.weights({33, 20, 4, 4})}, windows(2, 2, 1)), 20);
  n.result(n.op("Swish-4", {n.op("Add-1", {y, n.input({2, 20, 18, 22})})}));
}
void transposed_added(Net& n) {
  const auto y =
      n.op("ConvolutionBackpropData-1", {n.input({1, 33, 9, 7}), n.weights({33, 3, 4, 4})}, windows(2, 2, 1));
  n.result(n.op("Add-1", {y, n.input({1, 3, 18, 14})}));
}
/// An image whose width is the batch before: [n][channels][15] becomes [1][channels][15][n].
int open_plane(Net& n, i64 channels) {
  const auto x = n.op("Transpose-1", {n.input({7, channels, 15}), n.indices({1, 2, 0})});
  return n.op("Unsqueeze-1", {x, n.index(0)});
}
void transposed_open(Net& n) {
  const auto y = n.op("ConvolutionBackpropData-1", {open_plane(n, 20), n.weights({20, 18, 4, 5})}, windows(2, 3, 1));
  n.result(relu(n, biased(n, y, 18)));
}
void transposed_open_longer(Net& n) {
  auto attributes = windows(2, 4);
  attributes.push_back({"output_padding", "1,3"});
  const auto y = n.op("ConvolutionBackpropData-1", {open_plane(n, 20), n.weights({20, 18, 2, 3})}, attributes);
  n.result(relu(n, biased(n, y, 18)));
}
void transposed_open_few(Net& n) {
  const auto x = open_plane(n, 33), w = n.weights({33, 3, 4, 4});
  n.result(n.op("Tanh-1", {biased(n, n.op("ConvolutionBackpropData-1", {x, w}, windows(2, 2, 1)), 3)}));
}
void transposed_open_depthwise(Net& n) {
  const auto x = open_plane(n, 19), w = n.weights({19, 1, 1, 4, 3});
  n.result(relu(n, biased(n, n.op("GroupConvolutionBackpropData-1", {x, w}, windows(2, 2, 1)), 19)));
}
/// Outputs of the size that the third input asks for; of those that are longer than all windows the rest is the bias.
int sized(Net& n, std::string_view operation, int data, const Shape& filters, std::initializer_list<i64> sizes,
          const char* auto_pad, i64 outputs) {
  const auto y = n.op(operation, {data, n.weights(filters), n.indices(sizes)},
                      {{"strides", "2,2"}, {"dilations", "1,1"}, {"auto_pad", auto_pad}});
  return relu(n, biased(n, y, outputs));
}
void transposed_to_lower(Net& n) {
  n.result(sized(n, "ConvolutionBackpropData-1", n.input({1, 20, 7, 6}), {20, 18, 5, 4}, {14, 13}, "same_lower", 18));
}
void transposed_to_longer(Net& n) {
  n.result(sized(n, "ConvolutionBackpropData-1", n.input({2, 20, 7, 6}), {20, 18, 4, 4}, {21, 12}, "same_upper", 18));
}
void transposed_depthwise_to_upper(Net& n) {
  n.result(
      sized(n, "GroupConvolutionBackpropData-1", n.input({1, 19, 7, 5}), {19, 1, 1, 5, 3}, {14, 15}, "same_upper", 19));
}
void transposed_vector_to_shape(Net& n) {
  n.result(sized(n, "ConvolutionBackpropData-1", n.input({2, 50, 1, 1}), {50, 40, 4, 4}, {3, 5}, "same_upper", 40));
}
void transposed_image_to_shape(Net& n) {
  n.result(sized(n, "ConvolutionBackpropData-1", n.input({1, 33, 9, 7}), {33, 3, 4, 4}, {17, 19}, "same_lower", 3));
}
void transposed_winograd_to_shape(Net& n) {
  n.result(sized(n, "ConvolutionBackpropData-1", n.input({2, 33, 9, 11}), {33, 20, 4, 4}, {18, 23}, "same_lower", 20));
}
void transposed_open_to_lower(Net& n) {
  n.result(sized(n, "ConvolutionBackpropData-1", open_plane(n, 20), {20, 18, 5, 4}, {31, 13}, "same_lower", 18));
}
/// The size that is asked for is found by the run.
void transposed_open_to_upper(Net& n) {
  const auto x = open_plane(n, 33);
  const auto plane = n.op("Gather-1", {n.op("ShapeOf-1", {x}), n.indices({2, 3}), n.index(0)});
  const auto y =
      n.op("ConvolutionBackpropData-1", {x, n.weights({33, 18, 3, 4}), n.op("Multiply-1", {plane, n.indices({2, 2})})},
           {{"strides", "2,2"}, {"dilations", "1,1"}, {"auto_pad", "same_upper"}});
  n.result(relu(n, biased(n, y, 18)));
}
void transposed_open_depthwise_to_upper(Net& n) {
  n.result(sized(n, "GroupConvolutionBackpropData-1", open_plane(n, 7), {7, 1, 1, 4, 3}, {28, 14}, "same_upper", 7));
}
/// Pads that auto_pad has nothing to fit to.
void transposed_without_pads(Net& n) {
  const auto y = n.op("ConvolutionBackpropData-1", {n.input({1, 20, 7, 6}), n.weights({20, 18, 3, 3})},
                      {{"strides", "2,2"}, {"dilations", "1,1"}, {"auto_pad", "valid"}, {"output_padding", "1,0"}});
  n.result(relu(n, biased(n, y, 18)));
}
void transposed_row(Net& n) {
  const auto y = n.op("ConvolutionBackpropData-1", {n.input({1, 36, 1500}), n.weights({36, 40, 8})},
                      {{"strides", "4"}, {"dilations", "1"}, {"pads_begin", "2"}, {"pads_end", "2"}});
  n.result(relu(n, n.op("Add-1", {y, n.weights({1, 40, 1})})));
}
/// Of stride 1: convolutions of filters that are turned.
void turned(Net& n) {  // channels that do not fill their blocks, a plane too small for Winograd
  const Texts uneven{{"strides", "1,1"}, {"dilations", "2,1"}, {"pads_begin", "1,0"}, {"pads_end", "2,1"}};
  const auto y = n.op("ConvolutionBackpropData-1", {n.input({2, 20, 9, 6}), n.weights({20, 18, 3, 2})}, uneven);
  n.result(relu(n, biased(n, y, 18)));
}
void turned_winograd(Net& n) {
  const auto y = biased(
      n, n.op("ConvolutionBackpropData-1", {n.input({1, 36, 24, 25}), n.weights({36, 40, 3, 3})}, windows(2, 1, 1)),
      40);
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({1, 40, 24, 25})}));
}
void turned_groups(Net& n) {  // of 24, of which blocks hold parts
  const auto x = n.input({1, 72, 9, 8}), w = n.weights({3, 24, 24, 2, 3});
  n.result(relu(n, biased(n, n.op("GroupConvolutionBackpropData-1", {x, w}, windows(2, 1, 1)), 72)));
}
void turned_to_shape(Net& n) {
  const auto x = n.input({1, 20, 9, 7}), w = n.weights({20, 18, 4, 2});
  const auto y = n.op("ConvolutionBackpropData-1", {x, w, n.indices({10, 7})},
                      {{"strides", "1,1"}, {"dilations", "1,1"}, {"auto_pad", "same_upper"}});
  n.result(relu(n, biased(n, y, 18)));
}
void turned_row(Net& n) {
  const auto y = n.op("ConvolutionBackpropData-1", {n.input({1, 36, 150}), n.weights({36, 40, 5})}, windows(1, 1, 2));
  n.result(relu(n, n.op("Add-1", {y, n.weights({1, 40, 1})})));
}

/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"direct.convolution+bias+Relu", turned},
    {"transposed.convolution+bias+Relu", turned, kOnce},
    {"winograd4.convolution+bias+Swish+residual", turned_winograd, kOften, kFixed, true, kWinograd},
    {"groups.convolution+bias+Relu", turned_groups},
    {"direct.convolution+bias+Relu", turned_to_shape},
    {"direct.convolution+bias+Relu", turned_row},
    {"transposed.convolution+bias+Relu", transposed},
    {"transposed.convolution+bias+Relu", transposed, kOnce, kOpen},
    {"transposed.convolution+bias+Relu", transposed_gaps},
    {"transposed.convolution+bias+Relu", transposed_gaps, kOnce},
    {"transposed.convolution+bias+Relu", transposed_open, kOften, kOpen},
    {"transposed.convolution+bias+Relu", transposed_open, kOnce, kOpen},
    {"transposed.convolution+bias+Relu", transposed_open_longer, kOften, kOpen},
    {"transposed_few.convolution+bias+Tanh", transposed_open_few, kOften, kOpen},
    {"transposed_depthwise.convolution+bias+Relu", transposed_open_depthwise, kOften, kOpen},
    {"transposed_depthwise.convolution+bias+Relu", transposed_open_depthwise, kOnce, kOpen},
    {"transposed_product.convolution+bias+Relu", transposed_vector},
    {"transposed_product.convolution+bias+Relu", transposed_vector, kOnce},
    {"transposed_winograd.convolution+bias+residual+Swish", transposed_winograd},
    {"transposed.convolution+bias+residual+Swish", transposed_winograd, kOnce},
    {"transposed_few.convolution+bias+Tanh", transposed_image},
    {"transposed.convolution+bias+Tanh", transposed_image, kOnce},
    {"transposed.convolution+residual", transposed_added},
    {"transposed.convolution+bias+Relu", transposed_to_lower},
    {"transposed.convolution+bias+Relu", transposed_to_longer, kOnce},
    {"transposed.convolution+bias+Relu", transposed_open_to_lower, kOften, kOpen},
    {"transposed.convolution+bias+Relu", transposed_open_to_lower, kOnce, kOpen},
    {"transposed.convolution+bias+Relu", transposed_open_to_upper, kOften, kOpen},
    {"transposed_depthwise.convolution+bias+Relu", transposed_open_depthwise_to_upper, kOften, kOpen},
    {"transposed.convolution+bias+Relu", transposed_without_pads},
    {"transposed_depthwise.convolution+bias+Relu", transposed_depthwise_to_upper},
    {"transposed_product.convolution+bias+Relu", transposed_vector_to_shape},
    {"transposed_few.convolution+bias+Relu", transposed_image_to_shape},
    {"transposed_winograd.convolution+bias+Relu", transposed_winograd_to_shape},
    {"transposed.convolution+bias+Relu", transposed_row},
    {"transposed_depthwise.convolution+bias+Relu", transposed_depthwise},
    {"transposed_depthwise.convolution+bias+Relu", transposed_depthwise, kOnce, kOpen},
    {"transposed_depthwise.convolution+residual+PRelu", transposed_depthwise_wide},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::convolution_transposed
