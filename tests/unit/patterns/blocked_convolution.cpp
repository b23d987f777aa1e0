#include "pattern_examples.hpp"

namespace ovir::testing::patterns::blocked_convolution {
namespace {

void direct(Net& n) {  // channels that do not fill their blocks, a plane too small for Winograd
  n.result(convolution(n, n.input({1, 20, 5, 4}), {18, 20, 3, 3}, windows(2, 1, 1)));
}
void direct_large(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 17, 24, 26}), {18, 17, 3, 3}, windows(2, 1, 1)), 18)));
}
void direct_strided(Net& n) {
  const auto x = n.input({2, 24, 13, 11});
  const auto y = biased(n, convolution(n, x, {33, 24, 3, 3}, windows(2, 2, 1)), 33);
  n.result(n.op("Clamp-1", {y}, {{"min", "-0.5"}, {"max", "0.75"}}));
}
void pixels_apart(Net& n) {  // those of the kernel are gathered, the others not read
  n.result(relu(n, biased(n, convolution(n, n.input({2, 40, 13, 10}), {33, 40, 1, 1}, windows(2, 2)), 33)));
}
void pixels_apart_grouped(Net& n) {
  n.result(n.op("GroupConvolution-1", {n.input({1, 12, 7, 9}), n.weights({3, 6, 4, 1, 1})}, windows(2, 3)));
}
void groups_joined(Net& n) {
  n.result(n.op("GroupConvolution-1", {n.input({1, 12, 7, 9}), n.weights({3, 6, 4, 3, 3})}, windows(2, 1, 2, 2)));
}
void groups_by_themselves(Net& n) {  // of 24, of which blocks hold parts
  const auto y = biased(
      n, n.op("GroupConvolution-1", {n.input({2, 72, 9, 8}), n.weights({3, 24, 24, 3, 3})}, windows(2, 2, 1)), 72);
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({2, 72, 5, 4})}));
}
void groups_of_eight(Net& n) {  // the last block is not filled
  const auto x = n.input({2, 24, 9, 13});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({3, 8, 8, 3, 3})}, windows(2, 2, 1));
  n.result(relu(n, n.op("Add-1", {biased(n, y, 24), n.input({2, 24, 5, 7})})));
}
void groups_of_four(Net& n) {
  const auto y = n.op("GroupConvolution-1", {n.input({1, 20, 9, 13}), n.weights({5, 4, 4, 5, 5})}, windows(2, 1, 2));
  n.result(n.op("Swish-4", {y}));
}
void groups_of_pixels(Net& n) {
  const auto x = n.op("GroupConvolution-1", {n.input({2, 54, 7, 9}), n.weights({3, 20, 18, 1, 1})}, windows(2));
  n.result(n.op("ReLU-1", {n.op("Add-1", {x, n.weights({1, 60, 1, 1})})}));
}
void groups_of_a_line(Net& n) {  // too few to be shared out
  const auto x = n.op("GroupConvolution-1", {n.input({2, 54, 31}), n.weights({3, 20, 18, 1})}, windows(1));
  n.result(n.op("ReLU-1", {n.op("Add-1", {x, n.weights({1, 60, 1})})}));
}
void groups_of_panels(Net& n) {  // packed as one group, in single runs panel by panel
  const auto x = n.input({1, 64, 5, 7});
  n.result(relu(n, biased(n, n.op("GroupConvolution-1", {x, n.weights({4, 64, 16, 1, 1})}, windows(2)), 256)));
}
void direct_groups_of_panels(Net& n) {
  n.result(n.op("GroupConvolution-1", {n.input({2, 32, 9, 8}), n.weights({2, 32, 16, 5, 5})}, windows(2, 2, 2)));
}
void winograd2(Net& n) {
  const auto x = n.input({1, 40, 9, 7});
  const auto y = biased(n, convolution(n, x, {35, 40, 3, 3}, windows(2, 1, 1)), 35);
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({1, 35, 9, 7})}));
}
void winograd2_once(Net& n) {
  n.result(biased(n, convolution(n, n.input({1, 40, 17, 16}), {35, 40, 3, 3}, windows(2, 1, 1)), 35));
}
void winograd4(Net& n) {
  n.result(n.op("Sigmoid-1", {convolution(n, n.input({2, 32, 25, 26}), {34, 32, 3, 3}, windows(2, 1, 1))}));
}
void winograd_strided(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({2, 40, 41, 40}), {70, 40, 3, 3}, windows(2, 2, 1)), 70)));
}
void winograd_strided_line(Net& n) {
  n.result(n.op("Swish-4", {convolution(n, n.input({1, 130, 58}), {129, 130, 3}, windows(1, 2))}));
}
void winograd_narrow(Net& n) {  // whose outputs are half a panel
  n.result(relu(n, biased(n, convolution(n, n.input({2, 40, 25, 26}), {16, 40, 3, 3}, windows(2, 1, 1)), 16)));
}
void winograd_few_channels(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({2, 17, 25, 26}), {40, 17, 3, 3}, windows(2, 1, 1)), 40)));
}
void winograd_dilated(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 40, 12, 14}), {35, 40, 3, 3}, windows(2, 1, 2, 2)), 35)));
}
void winograd_grouped(Net& n) {
  const auto y = n.op("GroupConvolution-1", {n.input({2, 64, 14, 13}), n.weights({2, 32, 32, 3, 3})}, windows(2, 1, 1));
  n.result(n.op("Swish-4", {n.op("Add-1", {biased(n, y, 64), n.input({2, 64, 14, 13})})}));
}
void winograd_small_groups(Net& n) {
  const auto y = n.op("GroupConvolution-1", {n.input({1, 48, 24, 23}), n.weights({3, 16, 16, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, biased(n, y, 48)));
}
void winograd_line(Net& n) {
  const auto x = n.input({2, 40, 203});
  const auto y = n.op("Add-1", {convolution(n, x, {35, 40, 3}, windows(1, 1, 16, 16)), n.weights({1, 35, 1})});
  n.result(n.op("Add-1", {n.op("Swish-4", {y}), n.input({2, 35, 203})}));
}
void winograd_upright(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 40, 32, 9}), {64, 40, 3, 1}, windows(2, 1)), 64)));
}
void planar(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 3, 23, 21}), {18, 3, 3, 3}, windows(2, 1, 1)), 18)));
}
void patches(Net& n) {  // of more taps than kernels of blocked values take
  n.result(biased(n, convolution(n, n.input({2, 3, 51, 68}), {40, 3, 17, 17}, windows(2, 17)), 40));
}
void patches_overlapping(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 2, 40, 37}), {18, 2, 19, 18}, windows(2, 5, 4)), 18)));
}
void one_output(Net& n) {
  n.result(n.op("Sigmoid-1", {biased(n, convolution(n, n.input({2, 20, 9, 37}), {1, 20, 3, 3}, windows(2, 1, 1)), 1)}));
}
void three_outputs(Net& n) {  // the last pixels do not fill a block
  const auto x = n.input({1, 33, 14, 16});
  n.result(n.op("PRelu-1", {biased(n, convolution(n, x, {3, 33, 2, 5}, windows(2, 1, 2)), 3), n.weights({3})}));
}
void eight_outputs(Net& n) {
  n.result(relu(n, convolution(n, n.input({1, 40, 9, 8}), {8, 40, 6, 6}, windows(2, 2, 2))));
}
void colors(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({2, 3, 9, 13}), {3, 3, 1, 1}, windows(2)), 3)));
}
void image_to_eight(Net& n) {
  n.result(n.op("Swish-4", {biased(n, convolution(n, n.input({2, 3, 20, 35}), {8, 3, 6, 6}, windows(2, 2, 2)), 8)}));
}

/// One row, shared out by bands of columns.
void row(Net& n) {
  const auto y = n.op("Convolution-1", {n.input({1, 20, 3001}), n.weights({40, 20, 7})},
                      {{"strides", "2"}, {"dilations", "3"}, {"pads_begin", "9"}, {"pads_end", "11"}});
  n.result(relu(n, n.op("Add-1", {y, n.weights({1, 40, 1})})));
}

/// So many outputs that a single run packs their filters panel by panel.
void many_outputs(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 20, 5, 4}), {264, 20, 3, 3}, windows(2, 1, 1)), 264)));
}
void winograd2_many_outputs(Net& n) {
  n.result(biased(n, convolution(n, n.input({1, 40, 17, 16}), {260, 40, 3, 3}, windows(2, 1, 1)), 260));
}

/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

void direct_normalized(Net& n) {
  n.result(relu(n, normalized(n, convolution(n, n.input({1, 20, 9, 7}), {18, 20, 3, 3}, windows(2, 2, 1)), 18)));
}
void pointwise_normalized(Net& n) {
  n.result(normalized(n, convolution(n, n.input({1, 20, 9, 7}), {18, 20, 1, 1}, windows(2)), 18));
}
void depthwise_normalized(Net& n) {
  const auto x = n.op("GroupConvolution-1", {n.input({1, 24, 9, 8}), n.weights({24, 1, 1, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, normalized(n, x, 24)));
}
void grouped_normalized(Net& n) {
  const auto x = n.op("GroupConvolution-1", {n.input({1, 12, 7, 9}), n.weights({3, 6, 4, 3, 3})}, windows(2, 1, 2, 2));
  n.result(normalized(n, x, 18));
}
void planar_scaled(Net& n) {  // one number for all channels, before the bias and after it
  auto x = convolution(n, n.input({1, 3, 23, 21}), {18, 3, 3, 3}, windows(2, 1, 1));
  x = biased(n, n.op("Multiply-1", {n.numbers({0.5F}, {1}), x}), 18);
  n.result(relu(n, n.op("Multiply-1", {x, n.numbers({-3}, {})})));
}
/// The constant less the sum is no such thing, and neither is a scale that overflows.
void scaled_by_others(Net& n) {
  const auto x = n.input({1, 20, 5, 4});
  const auto y = convolution(n, x, {18, 20, 3, 3}, windows(2, 1, 1));
  n.result(n.op("Subtract-1", {n.weights({1, 18, 1, 1}), y}));
  const auto z = n.op("Multiply-1", {convolution(n, x, {18, 20, 3, 3}, windows(2, 1, 1)), n.numbers({3e38F}, {})});
  n.result(n.op("Multiply-1", {z, n.numbers({3e38F}, {})}));
}

/// A wide row, and taps that meet only the padding below it.
void direct_above_padding(Net& n) {
  n.result(n.op("Convolution-1", {n.input({1, 32, 1, 600}), n.weights({20, 32, 3, 3})},
                {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,1"}, {"pads_end", "2,1"}}));
}

/// What repeats the output is no residual.
void direct_of_one_pixel(Net& n) {
  const auto y = convolution(n, n.input({1, 33, 3, 3}), {33, 33, 3, 3}, windows(2));
  n.result(n.op("Add-1", {y, n.input({1, 33, 4, 5})}));
}

void dilated(Net& n) {
  n.result(relu(n, biased(n, convolution(n, n.input({1, 40, 14, 15}), {35, 40, 3, 3}, windows(2, 1, 12, 12)), 35)));
}

/// Zeros that a Pad adds become the convolution's own.
int zeros_around(Net& n, int x, std::initializer_list<i64> begin, std::initializer_list<i64> end) {
  return n.op("Pad-1", {x, n.indices(begin), n.indices(end), n.numbers({0}, {})}, {{"pad_mode", "constant"}});
}
void padded(Net& n) {
  const auto x = zeros_around(n, n.input({1, 33, 9, 8}), {0, 0, 0, 1}, {0, 0, 2, 1});
  n.result(relu(n, biased(n, testing::convolution(n, x, {20, 33, 3, 3}, windows(2, 2)), 20)));
}
void padded_more(Net& n) {
  const auto x = zeros_around(n, n.input({1, 24, 9, 8}), {0, 0, 1, 0}, {0, 0, 0, 1});
  n.result(n.op("GroupConvolution-1", {x, n.weights({24, 1, 1, 3, 3})}, windows(2, 1, 1)));
}
/// More zeros than a window has, and zeros that others read.
void padded_far(Net& n) {
  const auto x = zeros_around(n, n.input({1, 33, 9, 8}), {0, 0, 3, 1}, {0, 0, 0, 1});
  n.result(testing::convolution(n, x, {20, 33, 3, 3}, windows(2, 2)));
  const auto y = zeros_around(n, n.input({1, 33, 9, 8}), {0, 0, 1, 1}, {0, 0, 0, 1});
  n.result(testing::convolution(n, y, {20, 33, 3, 3}, windows(2, 2)));
  n.result(y);
}

/// Branches beside a convolution, as networks are trained with.
int scaled(Net& n, int x, i64 channels) {
  return biased(n, n.op("Multiply-1", {x, n.weights({1, channels, 1, 1})}), channels);
}
int by_channel(Net& n, int x, i64 channels, i64 kernel, int stride, int pad, int dilation = 1) {
  return n.op("GroupConvolution-1", {x, n.weights({channels, 1, 1, kernel, kernel})},
              windows(2, stride, pad, dilation));
}
int plus(Net& n, int a, int b) { return n.op("Add-1", {a, b}); }

void branches(Net& n) {  // the first does not lead; one is what is read, scaled
  const auto x = n.input({2, 20, 9, 7});
  const auto one = scaled(n, convolution(n, x, {20, 20, 1, 1}, windows(2)), 20);
  const auto two = plus(n, one, normalized(n, convolution(n, x, {20, 20, 3, 3}, windows(2, 1, 1)), 20));
  n.result(relu(n, plus(n, two, scaled(n, x, 20))));
}
void branches_strided(Net& n) {
  const auto x = n.input({1, 3, 21, 18});
  const auto y = biased(n, convolution(n, x, {18, 3, 3, 3}, windows(2, 2, 1)), 18);
  n.result(relu(n, plus(n, convolution(n, x, {18, 3, 1, 1}, windows(2, 2)), y)));
}
void branches_pointwise(Net& n) {
  const auto x = n.input({1, 24, 9, 8});
  const auto y = plus(n, convolution(n, x, {24, 24, 1, 1}, windows(2)), convolution(n, x, {24, 24, 1, 1}, windows(2)));
  n.result(relu(n, plus(n, plus(n, y, by_channel(n, x, 24, 1, 1, 0)), x)));
}
void branches_by_channel(Net& n) {  // taps of others among a kernel's, some apart; then a residual that is none of them
  const auto x = n.input({1, 21, 13, 12});
  auto y = plus(n, by_channel(n, x, 21, 3, 1, 1), by_channel(n, x, 21, 5, 1, 2));
  y = plus(n, scaled(n, plus(n, y, scaled(n, by_channel(n, x, 21, 3, 1, 2, 2), 21)), 21), x);
  n.result(relu(n, plus(n, passing(n, x), y)));
}
void branches_subtracted(Net& n) {
  const auto x = n.input({1, 24, 9, 8});
  const auto y = n.op("Subtract-1", {by_channel(n, x, 24, 3, 1, 1), scaled(n, x, 24)});
  n.result(plus(n, x, n.op("Multiply-1", {n.weights({24, 1, 1}), y})));
}
void branches_grouped(Net& n) {  // of 3 groups, and by channel
  const auto x = n.input({1, 12, 7, 9});
  const auto y = n.op("GroupConvolution-1", {x, n.weights({3, 4, 4, 3, 3})}, windows(2, 1, 1));
  n.result(plus(n, n.op("Subtract-1", {y, by_channel(n, x, 12, 3, 1, 1)}), x));
}
void branches_padded(Net& n) {
  const auto x = n.input({1, 20, 4, 5});
  const auto y = testing::convolution(n, zeros_around(n, x, {0, 0, 1, 1}, {0, 0, 1, 1}), {20, 20, 3, 3}, windows(2));
  n.result(plus(n, convolution(n, x, {20, 20, 1, 1}, windows(2)), y));
}
void branches_of_rows(Net& n) {
  const auto x = n.input({2, 20, 15});
  const auto y = n.op("Convolution-1", {x, n.weights({20, 20, 5})}, windows(1, 1, 2));
  n.result(plus(n, plus(n, y, n.op("Convolution-1", {x, n.weights({20, 20, 1})}, windows(1))), x));
}
/// A wider kernel by channel, which would make a wide one of all channels.
void branches_wider(Net& n) {
  const auto x = n.input({1, 20, 9, 8});
  n.result(plus(n, by_channel(n, x, 20, 3, 1, 1), convolution(n, x, {20, 20, 1, 1}, windows(2))));
}
/// Neither kernel has the other's taps; of other data; what others read; what repeats the sum;
/// the branch less the sum; what overflows before it is scaled.
void branches_apart(Net& n) {
  const auto x = n.input({1, 20, 9, 8});
  const auto row = n.op("Convolution-1", {x, n.weights({20, 20, 1, 3})},
                        {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,1"}, {"pads_end", "0,1"}});
  const auto full = [&](int from) { return convolution(n, from, {20, 20, 1, 1}, windows(2)); };
  n.result(plus(n,
                n.op("Convolution-1", {x, n.weights({20, 20, 3, 1})},
                     {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,0"}, {"pads_end", "1,0"}}),
                row));
  n.result(plus(n, full(x), full(relu(n, x))));
  const auto read = full(x);
  n.result(plus(n, read, full(x)));
  n.result(read);
  n.result(plus(n, convolution(n, x, {1, 20, 1, 1}, windows(2)), full(x)));
  n.result(n.op("Subtract-1", {scaled(n, x, 20), n.op("Multiply-1", {full(x), n.numbers({3e38F}, {})})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"direct.convolution+sum+bias+Relu", branches},
    {"direct.convolution+residual", branches_padded, kOnce},
    {"direct.convolution", direct_above_padding, kOnce},
    {"planar.convolution+sum+bias+Relu", branches_strided},
    {"pointwise.convolution+sum+Relu", branches_pointwise},
    {"depthwise.convolution+sum+bias+residual+Relu", branches_by_channel},
    {"depthwise.convolution+sum+bias", branches_subtracted},
    {"depthwise.convolution+sum+bias", branches_subtracted, kOften, kOpen},
    {"grouped.convolution+sum", branches_grouped},
    {"direct.convolution+sum", branches_padded},
    {"direct.convolution+sum", branches_of_rows},
    {"direct.convolution+residual", branches_apart},
    {"pointwise.convolution+residual", branches_wider},
    {"direct.convolution+bias+Relu", padded},
    {"direct.convolution+bias+Relu", padded, kOnce},
    {"direct.convolution+bias+Relu", padded, kOften, kOpen},
    {"depthwise.convolution", padded_more},
    {"clipped.convolution+bias+Relu", dilated},
    {"clipped.convolution+bias+Relu", dilated, kOnce},
    {"direct.convolution", padded_far},
    {"direct.convolution", direct},
    {"direct.convolution", direct, kOften, kOpen},
    {"direct.convolution+bias+Relu", direct_large, kOnce},
    {"direct.convolution+bias+Relu", direct_large, kOnce, kOpen},
    {"direct.convolution+bias+Clamp", direct_strided},
    {"groups.convolution", groups_joined},
    {"direct.convolution", direct_groups_of_panels},
    {"direct.convolution", direct_groups_of_panels, kOnce},
    {"groups.convolution+bias+Relu", groups_of_pixels},
    {"groups.convolution+bias+Relu", groups_of_pixels, kOnce},
    {"direct.convolution+bias+Relu", groups_of_a_line},
    {"direct.convolution+bias+Relu", groups_of_a_line, kOnce},
    {"pointwise.convolution+bias+Relu", groups_of_panels},
    {"pointwise.convolution+bias+Relu", groups_of_panels, kOnce},
    {"groups.convolution+bias+Swish+residual", groups_by_themselves},
    {"groups.convolution+bias+Swish+residual", groups_by_themselves, kOnce},
    {"grouped.convolution+bias+residual+Relu", groups_of_eight},
    {"grouped.convolution+bias+residual+Relu", groups_of_eight, kOnce},
    {"grouped.convolution+Swish", groups_of_four, kOften, kOpen},
    {"grouped.convolution+Swish", groups_of_four, kOnce},
    {"direct.convolution+bias+PRelu", direct_row},
    {"direct.convolution+bias+residual+Relu", direct_residual},
    {"direct.convolution+bias+residual+Relu", direct_residual, kOnce},
    {"direct.convolution+bias", direct_residual, kOnce, kOpen},
    {"direct.convolution+bias+PRelu", direct_row, kOnce, kOpen},
    {"direct.convolution+scale+bias+Relu", direct_normalized},
    {"direct.convolution", direct_normalized, kOnce},
    {"groups.convolution+scale+bias", grouped_normalized},
    {"pointwise.convolution+scale+bias", pointwise_normalized, kOften, kOpen},
    {"depthwise.convolution+scale+bias+Relu", depthwise_normalized},
    {"planar.convolution+scale+bias+Relu", planar_scaled},
    {"direct.convolution", scaled_by_others},
    {"direct.convolution", direct_of_one_pixel},
    {"direct.convolution", direct_of_one_pixel, kOnce},
    {"groups.convolution+bias+Elu", small_plane},
    {"groups.convolution+bias+Elu", small_plane, kOnce},
    {"winograd2.convolution+bias+Swish+residual", winograd2, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias", winograd2_once, kOnce, kFixed, true, kWinograd},
    {"direct.convolution+bias+Relu", many_outputs, kOnce},
    {"winograd2.convolution+bias", winograd2_many_outputs, kOnce, kFixed, true, kWinograd},
    {"winograd4.convolution+Sigmoid", winograd4, kOften, kFixed, true, kWinograd},
    {"winograd4.convolution+Sigmoid", winograd4, kOnce, kFixed, true, kWinograd},
    {"winograd_strided.convolution+bias+Relu", winograd_strided, kOften, kFixed, true, kWinograd},
    {"direct.convolution+bias+Relu", winograd_strided, kOnce},
    {"winograd_strided_line.convolution+Swish", winograd_strided_line, kOften, kFixed, true, kWinograd},
    {"winograd4.convolution+bias+Relu", winograd_narrow, kOften, kFixed, true, kWinograd},
    {"winograd4.convolution+bias+Relu", winograd_narrow, kOnce, kFixed, true, kWinograd},
    {"winograd4.convolution+bias+Relu", winograd_few_channels, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias+Relu", winograd_dilated, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias+Relu", winograd_dilated, kOnce, kFixed, true, kWinograd},
    {"winograd4.convolution+bias+residual+Swish", winograd_grouped, kOften, kFixed, true, kWinograd},
    {"winograd4.convolution+bias+Relu", winograd_small_groups, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias+residual+Swish", winograd_grouped, kOnce, kFixed, true, kWinograd},
    {"winograd_line.convolution+bias+Swish+residual", winograd_line, kOften, kFixed, true, kWinograd},
    {"winograd_line.convolution+bias+Swish+residual", winograd_line, kOnce, kFixed, true, kWinograd},
    {"winograd_line.convolution+bias+Relu", winograd_upright, kOften, kFixed, true, kWinograd},
    {"pointwise.convolution+bias+Relu", pixels_apart},
    {"pointwise.convolution+bias+Relu", pixels_apart, kOnce},
    {"groups.convolution", pixels_apart_grouped},
    {"pointwise.convolution+bias+HSwish", pointwise},
    {"pointwise.convolution+bias+HSwish", pointwise, kOnce},
    {"pointwise.convolution+bias+HSwish", pointwise, kOften, kOpen},
    {"few_outputs.convolution+bias+PRelu", three_outputs},
    {"planar.convolution+bias+Relu", planar},
    {"planar.convolution+bias+Relu", planar, kOnce},
    {"planar.convolution+bias", patches},
    {"planar.convolution+bias", patches, kOften, kOpen},
    {"planar.convolution+bias+Relu", patches_overlapping},
    {"planar.convolution", computed_filters},
    {"planar.convolution", computed_filters, kOnce},
    {"depthwise.convolution+bias+Clamp", depthwise},
    {"depthwise.convolution+bias+Clamp", depthwise, kOnce},
    {"few_outputs.convolution+bias+Sigmoid", one_output},
    {"few_outputs.convolution+bias+Sigmoid", one_output, kOften, kOpen},
    {"few_outputs.convolution+bias+Sigmoid", one_output, kOnce},
    {"few_outputs.convolution+Relu", eight_outputs},
    {"few_outputs.convolution+bias+Relu", colors},
    {"few_outputs.convolution+bias+Swish", image_to_eight},
    {"few_outputs.convolution+bias+Swish", image_to_eight, kOnce},
    {"direct.convolution+bias+Relu", row},
    {"direct.convolution+bias+Relu", row, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::blocked_convolution
