#include "pattern_examples.hpp"

namespace ovir::testing::patterns::convolution_in_batches {
namespace {

int relu_of_row(Net& n, int x, i64 channels) { return relu(n, n.op("Add-1", {x, n.weights({1, channels, 1})})); }

// --- dilated convolutions as those of images of the pixels that lie apart

/// What SpaceToBatch adds and BatchToSpace crops, along each axis.
struct Cut {
  std::initializer_list<i64> blocks, begin, end, crop_begin, crop_end;
};
int images_of(Net& n, int x, const Cut& c) {
  return n.op("SpaceToBatch-2", {x, n.indices(c.blocks), n.indices(c.begin), n.indices(c.end)});
}
int from_images(Net& n, int x, const Cut& c) {
  return n.op("BatchToSpace-2", {x, n.indices(c.blocks), n.indices(c.crop_begin), n.indices(c.crop_end)});
}
/// Of rows, which are planes for the convolution itself.
int row_of_images(Net& n, int images, const Cut& c, const Shape& filters) {
  const auto planes = n.op("Unsqueeze-1", {images, n.indices({2})});
  const auto y = n.op("Convolution-1", {planes, n.weights(filters)}, windows(2));
  return from_images(n, n.op("Squeeze-1", {y, n.indices({2})}), c);
}
constexpr i64 kRow = 50;
/// Taps 3 apart, of what comes before. What is added behind fills up the last block and is cropped again.
const Cut kCausal{{1, 1, 3}, {0, 0, 6}, {0, 0, 1}, {0, 0, 0}, {0, 0, 1}};

void row(Net& n) {
  const auto images = images_of(n, n.input({2, 20, kRow}), kCausal);
  n.result(relu_of_row(n, row_of_images(n, images, kCausal, {33, 20, 1, 3}), 33));
}
void row_padded(Net& n) {  // by a node of its own
  const Cut c{{1, 1, 3}, {0, 0, 0}, {0, 0, 1}, {0, 0, 0}, {0, 0, 1}};
  const auto x = n.op("Pad-1", {n.input({2, 20, kRow}), n.indices({0, 0, 6}), n.indices({0, 0, 0}), n.numbers({0}, {})},
                      {{"pad_mode", "constant"}});
  n.result(relu_of_row(n, row_of_images(n, images_of(n, x, c), c, {33, 20, 1, 3}), 33));
}
void row_between_views(Net& n) {  // the first view does not keep the channels
  const auto images = images_of(n, n.input({1, 20, kRow}), kCausal);
  const auto before = n.op("Reshape-1", {images, n.indices({3, 1, 20, -1})}, {{"special_zero", "false"}});
  n.result(relu_of_row(n, row_of_images(n, n.op("Squeeze-1", {before, n.indices({1})}), kCausal, {33, 20, 1, 3}), 33));
}
void plane(Net& n) {  // another block along each axis
  const Cut c{{1, 1, 2, 3}, {0, 0, 2, 3}, {0, 0, 3, 4}, {0, 0, 0, 0}, {0, 0, 1, 1}};
  const auto y = testing::convolution(n, images_of(n, n.input({1, 20, 13, 14}), c), {33, 20, 3, 3}, windows(2));
  n.result(relu(n, biased(n, from_images(n, y, c), 33)));
}
void plane_padded_inside(Net& n) {  // by the convolution, as blocks; crops at both sides
  const Cut c{{1, 1, 2, 2}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 2}, {0, 0, 0, 1}};
  const auto x = images_of(n, n.input({2, 24, 11, 13}), c);
  const auto y = n.op("GroupConvolution-1", {x, n.weights({24, 1, 1, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, from_images(n, y, c)));
}
void dilated_inside(Net& n) {
  const Cut c{{1, 1, 2, 2}, {0, 0, 4, 4}, {0, 0, 4, 4}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  const auto x = images_of(n, n.input({1, 20, 14, 16}), c);
  const auto y = testing::convolution(n, x, {33, 20, 3, 3}, windows(2, 1, 0, 2));
  n.result(relu(n, biased(n, from_images(n, y, c), 33)));
}
/// Two convolutions of the same images, as of a gate.
void row_shared(Net& n) {
  const auto images = images_of(n, n.input({1, 20, kRow}), kCausal);
  const auto half = [&](const char* function) {
    const auto y = row_of_images(n, images, kCausal, {33, 20, 1, 3});
    return n.op(function, {n.op("Add-1", {y, n.weights({1, 33, 1})})});
  };
  n.result(n.op("Multiply-1", {half("Tanh-1"), half("Sigmoid-1")}));
}
void branches_shared(Net& n) {
  const auto images = images_of(n, n.input({1, 20, kRow}), kCausal);
  const auto half = [&] { return row_of_images(n, images, kCausal, {33, 20, 1, 3}); };
  n.result(n.op("Add-1", {half(), half()}));
}
void row_and_its_images(Net& n) {
  const auto images = images_of(n, n.input({1, 20, kRow}), kCausal);
  n.result(relu_of_row(n, row_of_images(n, images, kCausal, {33, 20, 1, 3}), 33));
  n.result(images);
}
/// Other blocks behind than before; strides; more cropped than was added; padding of the axis that views add; what
/// others read between; all of which would have the activation with them.
void others(Net& n) {
  const auto x = n.input({1, 20, 12, 12});
  const auto between = [&](const Cut& c, const Cut& results, const Texts& attributes) {
    const auto y = testing::convolution(n, images_of(n, x, c), {33, 20, 3, 3}, attributes);
    n.result(relu(n, from_images(n, y, results)));
    return y;
  };
  const Cut c{{1, 1, 2, 2}, {0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  between(c, {{1, 1, 4, 1}, {}, {}, {0, 0, 0, 0}, {0, 0, 0, 0}}, windows(2));
  between(c, c, windows(2, 2));
  between(c, {c.blocks, {}, {}, {0, 0, 3, 0}, {0, 0, 0, 0}}, windows(2));
  n.result(between(c, c, windows(2)));
}
void row_padded_across(Net& n) {
  const auto images = images_of(n, n.input({1, 20, kRow}), kCausal);
  const auto y = n.op("Convolution-1", {n.op("Unsqueeze-1", {images, n.indices({2})}), n.weights({33, 20, 3, 3})},
                      {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,0"}, {"pads_end", "1,0"}});
  n.result(relu_of_row(n, from_images(n, n.op("Squeeze-1", {y, n.indices({2})}), kCausal), 33));
}

/// Winograd multiplies by up to 8 on the way there and back.
constexpr float kWinograd = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"direct.convolution+bias+Relu", row},
    {"direct.convolution+bias+Relu", row, kOnce},
    {"direct.convolution+bias+Relu", row, kOften, kOpen},
    {"direct.convolution+bias+Relu", row_padded},
    {"direct.convolution+bias+Relu", row_between_views},
    {"winograd2.convolution+bias+Relu", plane, kOften, kFixed, true, kWinograd},
    {"winograd2.convolution+bias+Relu", plane, kOnce, kFixed, true, kWinograd},
    {"depthwise.convolution+Relu", plane_padded_inside},
    {"depthwise.convolution+Relu", plane_padded_inside, kOnce},
    {"winograd4.convolution+bias+Relu", dilated_inside, kOften, kFixed, true, kWinograd},
    {"direct.convolution+bias+Tanh", row_shared},
    {"direct.convolution+bias+Sigmoid", row_shared, kOnce},
    {"direct.convolution+residual", branches_shared},
    {"direct.convolution+bias+Relu", row_and_its_images},
    {"direct.convolution", others},
    {"direct.convolution", row_padded_across},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"blocked_convolution", kExamples};

}  // namespace ovir::testing::patterns::convolution_in_batches
