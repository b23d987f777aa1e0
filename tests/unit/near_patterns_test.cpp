// Nets that are nearly what a pattern takes, and in which it would compute something else.
#include "catch.hpp"
#include "pattern_examples.hpp"

using namespace ovir;
using testing::Net;

namespace {

struct Near {
  std::string_view what;
  void (*build)(Net& net);
};

int product(Net& n, int a, int b, bool transpose_b) {
  return n.op("MatMul-1", {a, b}, {{"transpose_a", "false"}, {"transpose_b", transpose_b ? "true" : "false"}});
}

/// What is added to the scores of attention is made of them.
void scores_as_mask(Net& n) {
  const auto q = n.input({2, 4, 8}), k = n.input({2, 6, 8}), v = n.input({2, 6, 8});
  const auto scores = product(n, q, k, true);
  const auto masked = n.op("Add-1", {scores, n.op("Multiply-1", {scores, n.numbers({0.5F}, {})})});
  n.result(product(n, n.op("Softmax-8", {masked}, {{"axis", "-1"}}), v, false));
}
void scores_twice(Net& n) {
  const auto scores = product(n, n.input({2, 4, 8}), n.input({2, 6, 8}), true);
  n.result(
      product(n, n.op("Softmax-8", {n.op("Add-1", {scores, scores})}, {{"axis", "-1"}}), n.input({2, 6, 8}), false));
}

/// The mean is taken over the columns of a square, which has an axis more than x.
void square_of_more_axes(Net& n) {
  const auto x = n.input({4, 4});
  const auto square = n.op("Power-1", {x, n.numbers({2}, {1, 1, 1})});
  const auto mean = n.op("ReduceMean-1", {square, n.indices({1})}, {{"keep_dims", "true"}});
  const auto column = n.op("Reshape-1", {mean, n.indices({4, 1})}, {{"special_zero", "false"}});
  const auto root = n.op("Power-1", {n.op("Add-1", {column, n.numbers({1e-5F}, {})}), n.numbers({-0.5F}, {})});
  n.result(n.op("Multiply-1", {x, root}));
}

spec::AttributeTexts dilated(std::string_view pads) {
  return {{"kernel", "2,2"},
          {"strides", "1,1"},
          {"dilations", "2,2"},
          {"pads_begin", std::string(pads)},
          {"pads_end", std::string(pads)}};
}
/// All taps of a window are beside the data, which lie between them.
void window_of_padding(Net& n) {
  n.result(n.op("MaxPool-8", {n.op("Abs-1", {n.input({1, 16, 1, 1})})}, dilated("1,1"), 2));
}
void window_of_padding_in_planes(Net& n) {
  n.result(n.op("MaxPool-8", {n.op("Abs-1", {n.input({1, 1, 1, 1})})}, dilated("1,1"), 2));
}
void window_of_zeros(Net& n) {
  const auto pads = n.indices({0, 0, 1, 1});
  const auto padded = n.op("Pad-1", {n.op("Relu-1", {n.input({1, 16, 1, 1})}), pads, pads}, {{"pad_mode", "constant"}});
  n.result(n.op("MaxPool-8", {padded}, dilated("0,0"), 2));
}

/// The other axis, which is not resized, stays as it is.
void one_axis_by_half_pixels(Net& n) {
  n.result(n.op("Interpolate-11", {n.input({1, 2, 4, 4}), n.indices({8}), n.indices({2})},
                {{"mode", "nearest"},
                 {"shape_calculation_mode", "sizes"},
                 {"coordinate_transformation_mode", "tf_half_pixel_for_nn"},
                 {"nearest_mode", "ceil"}}));
}

/// The row that is broadcast takes as many bytes as the result, whose elements are narrower and more.
void row_of_as_many_bytes(Net& n) {
  const auto row = n.op("Softmax-8", {n.input({1, 1024})}, {{"axis", "-1"}});
  const auto large = n.op("Multiply-1", {n.input({4, 1024}), n.numbers({100}, {})});
  const auto sum = n.op("Abs-1", {n.op("Add-1", {row, large})});
  const auto bytes = n.op("Convert-1", {sum}, {{"destination_type", "u8"}});
  n.result(n.op("Transpose-1", {bytes, n.indices({1, 0})}));
}

constexpr Near kNear[] = {
    {"a row of as many bytes as the result", row_of_as_many_bytes},
    {"the scores of attention and a part of them", scores_as_mask},
    {"the scores of attention twice", scores_twice},
    {"a square of more axes", square_of_more_axes},
    {"a window of padding", window_of_padding},
    {"a window of padding in planes", window_of_padding_in_planes},
    {"a window of zeros", window_of_zeros},
    {"one axis by half pixels", one_axis_by_half_pixels},
};

}  // namespace

TEST_CASE("what is nearly a pattern is computed as it is") {
  for (const auto& near : kNear)
    for (const auto runs : {testing::kOnce, testing::kOften}) {
      INFO(near.what << (runs > 1 ? ", often" : ", once"));
      Net net(ElementType::f32, testing::kFixed);
      near.build(net);
      const auto c = net.model.check();
      for (const auto& d : c.diagnostics.all()) UNSCOPED_INFO(d.message);
      REQUIRE(c.diagnostics.errors() == 0);
      Options fast, reference;
      fast.expected_runs = runs;
      reference.tier = Tier::reference;
      const auto inputs = some_inputs(c, 1);
      const auto expected = to_f64(compile(c.model, c.facts, reference).run(inputs).at(0));
      auto session = compile(c.model, c.facts, fast);
      for (int run = 0; run < 3; ++run) {
        const auto y = to_f64(session.run(inputs).at(0));
        REQUIRE(y.size() == expected.size());
        for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
      }
    }
}
