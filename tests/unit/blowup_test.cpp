// A file of a kilobyte whose operations ask for gigabytes or hours: the limits that a run has where nobody gives others
// refuse each of them.
#include "catch.hpp"
#include "hex.hpp"
#include "op/work.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

constexpr i64 kMany = i64{1} << 33, kWide = 100'000;

/// How a run of the model ends: "refused" by the limit on memory or work, with another code, or with "none".
std::string end_of(const SmallModel& m) {
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  const auto inputs = some_inputs(c);
  const Options options{
      .runtime = {.threads = 0, .memory = 1'000'000'000, .time = {}, .work = default_work_limit(1000)}};
  const auto code = code_of([&] { compile(c.model, c.facts, options).run(inputs); });
  return code == "E0003" || code == "E0004" ? "refused" : code;
}

/// One operation on a Parameter of this shape (none where it has no rank) and constants.
std::string end_of(const std::string& operation, const PartialShape& shape, const std::vector<Tensor>& constants,
                   const spec::AttributeTexts& attributes = {}) {
  SmallModel m;
  std::vector<int> ids;
  if (shape.has_rank()) ids.push_back(m.graph.parameter("x", ElementType::f32, shape));
  for (const auto& constant : constants) ids.push_back(m.graph.constant("c", constant));
  m.graph.result("y", m.graph.add("node", operation, ids, attributes));
  return end_of(m);
}

const PartialShape kNothing = PartialShape::unknown_rank();

}  // namespace

TEST_CASE("blow-ups: outputs of gigabytes") {
  CHECK(end_of("Tile-1", {1}, {Tensor::vector({kMany})}) == "refused");
  CHECK(end_of("Broadcast-3", {1, 1}, {Tensor::vector({kWide, kWide})}, {{"mode", "numpy"}}) == "refused");
  CHECK(end_of("Range-4", kNothing, {Tensor::scalar(0), Tensor::scalar(kMany), Tensor::scalar(1)},
               {{"output_type", "f32"}}) == "refused");
  CHECK(end_of("Pad-1", {1}, {Tensor::vector({kMany}), Tensor::vector({0})}, {{"pad_mode", "constant"}}) == "refused");
  CHECK(end_of("SpaceToBatch-2", {1, 1},
               {Tensor::vector({1, 2}), Tensor::vector({0, kMany}), Tensor::vector({0, 1})}) == "refused");
  CHECK(end_of("OneHot-1", kNothing, {Tensor::vector({0}), Tensor::scalar(kMany), floats({}, {1}), floats({}, {0})},
               {{"axis", "0"}}) == "refused");
  CHECK(end_of("AdaptiveAvgPool-8", {1, 1, 1, 1}, {Tensor::vector({kWide, kWide})}) == "refused");
  CHECK(end_of("RandomUniform-8", kNothing, {Tensor::vector({kWide, kWide}), floats({}, {0}), floats({}, {1})},
               {{"output_type", "f32"}}) == "refused");
  CHECK(end_of("Multinomial-13", {1, 2}, {Tensor::vector({kMany})},
               {{"convert_type", "i64"}, {"with_replacement", "true"}, {"log_probs", "false"}}) == "refused");
  CHECK(end_of("SegmentMax-16", {1}, {Tensor::vector({0}), Tensor::scalar(kMany)}, {{"fill_mode", "ZERO"}}) ==
        "refused");
  CHECK(end_of("Col2Im-15", {1, 1, 1}, {Tensor::vector({kWide, kWide}), Tensor::vector({1, 1})},
               {{"strides", "100000,100000"}}) == "refused");
  CHECK(end_of("PriorBox-8", kNothing, {Tensor::vector({kWide, kWide}), Tensor::vector({1, 1})},
               {{"min_size", "1"}, {"offset", "0"}}) == "refused");
  CHECK(end_of("Interpolate-11", {1, 1, 1, 1}, {Tensor::vector({kWide, kWide}), Tensor::vector({2, 3})},
               {{"mode", "cubic"}, {"shape_calculation_mode", "sizes"}}) == "refused");
  CHECK(end_of("ConvolutionBackpropData-1", {1, 1, 2, 2}, {floats({1, 1, 1, 1}, {1})},
               {{"strides", "100000,100000"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"dilations", "1,1"}}) ==
        "refused");
}

TEST_CASE("blow-ups: rows of zeros, and signals of frames far apart") {
  SmallModel rows;
  const auto c = [&](const Tensor& t) { return rows.graph.constant("c", t); };
  rows.graph.result("y", rows.graph.add("node", "SparseFillEmptyRows-16",
                                        {c(floats({0}, {})), c(Tensor::vector({kMany, 1})),
                                         c(Tensor(ElementType::i64, {0, 2})), c(floats({}, {1}))}));
  CHECK(end_of(rows) == "refused");
  CHECK(end_of("ISTFT-16", {2, 2, 2}, {floats({2}, {1, 1}), Tensor::scalar(2), Tensor::scalar(kMany)},
               {{"center", "false"}, {"normalized", "false"}}) == "refused");
}

TEST_CASE("blow-ups: a value that doubles layer by layer") {
  SmallModel m;
  auto last = m.graph.parameter("x", ElementType::f32, {1});
  for (int i = 0; i < 40; ++i)
    last = m.graph.add(fmt::format("double{}", i), "Concat-1", {last, last}, {{"axis", "0"}});
  m.graph.result("y", last);
  CHECK(end_of(m) == "refused");
}

TEST_CASE("blow-ups: strides and kernels far beyond the data cost nothing") {
  CHECK(end_of("ConvolutionBackpropData-1", {1, 1, 1, 1}, {floats({1, 1, 1, 1}, {1})},
               {{"strides", "100000,100000"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"dilations", "1,1"}}) ==
        "none");
  CHECK(end_of("MaxPool-1", {1, 1, 1, 1}, {},
               {{"strides", "1,1"},
                {"pads_begin", "90000,90000"},
                {"pads_end", "0,0"},
                {"kernel", "90001,90001"},
                {"rounding_type", "floor"}}) == "none");
}

TEST_CASE("blow-ups: outer products") {
  CHECK(end_of("MatMul-1", {kWide, 1}, {floats({1, 100'000}, std::vector<float>(100'000, 1))}) == "refused");
}

TEST_CASE("blow-ups: hours of work on a little data") {
  const spec::AttributeTexts pooled{{"strides", "1,1"},      {"pads_begin", "0,0"},   {"pads_end", "0,0"},
                                    {"kernel", "1500,1500"}, {"exclude-pad", "true"}, {"rounding_type", "floor"}};
  CHECK(end_of("AvgPool-1", {1, 1, 3000, 3000}, {}, pooled) == "refused");
  CHECK(end_of("LRN-1", {1, 1'000'000}, {Tensor::vector({1})},
               {{"alpha", "1"}, {"beta", "1"}, {"bias", "1"}, {"size", "2000001"}}) == "refused");
  CHECK(end_of("ROIAlign-3", {1, 1, 2, 2}, {floats({1, 4}, {0, 0, 1, 1}), Tensor::vector({0})},
               {{"pooled_h", "2000"},
                {"pooled_w", "2000"},
                {"sampling_ratio", "4000"},
                {"spatial_scale", "1"},
                {"mode", "avg"}}) == "refused");
}

TEST_CASE("blow-ups: a length beside one of 0 costs nothing") {
  constexpr i64 huge = 2147483647;
  CHECK(end_of("NV12toRGB-8", {huge, 0, 4, 1}, {}) == "none");
  CHECK(end_of("I420toBGR-8", {huge, 0, 4, 1}, {}) == "none");
  CHECK(end_of("ReorgYolo-2", {huge, 4, 2, 0}, {}, {{"stride", "2"}}) == "none");
  CHECK(
      end_of("RegionYolo-1", {huge, 14, 2, 0}, {},
             {{"anchors", "1,2"}, {"axis", "1"}, {"coords", "4"}, {"classes", "2"}, {"end_axis", "3"}, {"num", "2"}}) ==
      "none");
  CHECK(end_of("Softmax-8", {huge, 0}, {}, {{"axis", "1"}}) == "none");
  CHECK(end_of("ScaledDotProductAttention-13", {huge, 0, 2},
               {floats({1, 3, 2}, {1, 2, 3, 4, 5, 6}), floats({1, 3, 2}, {1, 2, 3, 4, 5, 6})},
               {{"causal", "false"}}) == "none");
}
