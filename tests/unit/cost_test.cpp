// cost: multiply-accumulates, bytes and peaks of models small enough to count by hand.
#include "tools/cost.hpp"
#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// A cost names layers of the model, which must outlive it.
struct Counted {
  Checked checked;
  tools::Cost cost;
};

Counted counted(const SmallModel& m) {
  Counted c{m.check(), {}};
  CHECK(c.checked.diagnostics.all().empty());
  c.cost = tools::cost_of(*c.checked.model, c.checked.facts);
  return c;
}

/// The MACs of one operation on constants and Parameters of zeros; the first input is a Parameter.
i64 macs(const std::string& operation, const std::vector<Shape>& shapes, const spec::AttributeTexts& attributes = {}) {
  SmallModel m;
  std::vector<int> ids;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto name = fmt::format("x{}", i);
    if (i == 0) {
      ids.push_back(m.graph.parameter(name, ElementType::f32, PartialShape(shapes[i])));
      continue;
    }
    const std::vector<float> zeros(static_cast<std::size_t>(shapes[i].count()));
    ids.push_back(m.graph.constant(name, floats(shapes[i], zeros)));
  }
  m.graph.result("y", m.graph.add("node", operation, ids, attributes));
  return counted(m).cost.macs;
}

const spec::AttributeTexts kWindow{
    {"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};

}  // namespace

TEST_CASE("multiply-accumulates of each formula") {
  // out [1,16,8,8], each of 3 * 3 * 3
  CHECK(macs("Convolution-1", {{1, 3, 8, 8}, {16, 3, 3, 3}}, kWindow) == 16 * 8 * 8 * 27);
  // 4 groups of 2 in, 3 out
  CHECK(macs("GroupConvolution-1", {{1, 8, 8, 8}, {4, 3, 2, 3, 3}}, kWindow) == 12 * 8 * 8 * 2 * 9);
  // every input element goes to 5 * 3 * 3
  CHECK(macs("ConvolutionBackpropData-1", {{1, 4, 6, 6}, {4, 5, 3, 3}}, kWindow) == 4 * 36 * 45);
  CHECK(macs("MatMul-1", {{2, 3, 4}, {4, 5}}) == 2 * 3 * 5 * 4);
  CHECK(macs("MatMul-1", {{2, 4, 3}, {4, 5}}, {{"transpose_a", "true"}}) == 2 * 3 * 5 * 4);
  CHECK(macs("Einsum-7", {{2, 3, 4}, {2, 4, 5}}, {{"equation", "bij,bjk->bik"}}) == 2 * 3 * 4 * 5);
  // 4 gates of 5, from 3 inputs and 5 of the state, in 2 rows
  CHECK(macs("LSTMCell-4", {{2, 3}, {2, 5}, {2, 5}, {20, 3}, {20, 5}, {20}}, {{"hidden_size", "5"}}) == 2 * 20 * 8);
  CHECK(macs("GRUCell-3", {{2, 3}, {2, 5}, {15, 3}, {15, 5}, {15}}, {{"hidden_size", "5"}}) == 2 * 15 * 8);
  // 2 heads, 3 queries of 4, 5 keys, values of 6
  CHECK(macs("ScaledDotProductAttention-13", {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}}, {{"causal", "false"}}) ==
        2 * 3 * 5 * (4 + 6));
  CHECK(macs("Relu-1", {{100}}) == 0);
}

TEST_CASE("parameters, bytes moved and the peak") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 4});
  const auto weights = m.graph.constant("weights", floats({4, 8}, std::vector<float>(32)));
  const auto wide = m.graph.add("wide", "MatMul-1", {x, weights});
  const auto relu = m.graph.add("relu", "Relu-1", {wide});
  const auto flat = m.graph.add("flat", "Reshape-1", {relu, m.graph.constant("shape", Tensor::vector({16}))},
                                {{"special_zero", "false"}});
  m.graph.result("y", m.graph.add("sigmoid", "Sigmoid-1", {flat}));
  const auto held = counted(m);
  const auto& cost = held.cost;
  CHECK(cost.parameters == 32);  // not the shape
  CHECK(cost.macs == 2 * 8 * 4);
  CHECK(cost.weights == 32 * 4 + 8);
  // x and weights in, 16 out; in and out of relu and of sigmoid; the Reshape is a view
  CHECK(cost.moved == (8 + 32 + 16) * 4 + 2 * 16 * 4 + 2 * 16 * 4);
  // two of 16 elements: what relu reads and gives; or its output, under another shape, and sigmoid's
  CHECK(cost.peak == 2 * 16 * 4);
  REQUIRE(cost.alive.size() == 2);
  CHECK((*cost.peak_model)[cost.peak_node].layer->name == "relu");
  CHECK(cost.open.empty());
}

TEST_CASE("what decompresses weights belongs to the layer that reads them") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 4});
  const auto half = m.graph.constant("half", convert(floats({4, 2}, std::vector<float>(8)), ElementType::f16));
  const auto wide = m.graph.add("wide", "Convert-1", {half}, {{"destination_type", "f32"}});
  m.graph.result("y", m.graph.add("product", "MatMul-1", {x, wide}));
  const auto held = counted(m);
  const auto& cost = held.cost;
  CHECK(cost.weights == 16);
  REQUIRE(!cost.layers.empty());
  CHECK((*cost.layers.back().model)[cost.layers.back().node].layer->name == "product");
  CHECK(cost.layers.back().parameters == 8);
}

TEST_CASE("demands") {
  tools::Cost cost;
  cost.macs = 300'000'000;
  cost.peak = 64 << 20;
  const auto holds = [&](std::string_view text) { return tools::parse_demands(text).at(0).holds(cost); };
  CHECK(holds("macs<=300M"));
  CHECK(!holds("macs<300M"));
  CHECK(holds("macs < 0.31G"));
  CHECK(holds("macs==3e8"));
  CHECK(holds("peak<=64MiB"));
  CHECK(!holds("peak<=64MB"));
  CHECK(tools::parse_demands("macs<1k, peak>2").size() == 2);
  for (const auto* const wrong : {"macs", "macs<", "flops<3", "macs<3q", "macs<>3", "macs=3"})
    CHECK_THROWS_AS(tools::parse_demands(wrong), std::invalid_argument);
}
