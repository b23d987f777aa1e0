// The least release of OpenVINO that reads a model, on models that are made by hand.
#include "tools/releases.hpp"

#include "catch.hpp"
#include "graph/graph.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

struct Made {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Model model;
  Made(i64 ir, const std::vector<std::pair<std::string, std::string>>& layers) {
    graph->ir_version = ir;
    for (const auto& [type, version] : layers) {
      graph->layers.emplace_back();
      graph->layers.back().type = type;
      graph->layers.back().version = version;
      graph->layers.back().name = std::to_string(graph->layers.size());
    }
    model.graph = graph;
    for (const auto& layer : graph->layers) {
      model.nodes.emplace_back();
      model.nodes.back().layer = &layer;
    }
  }
};

std::string release(i64 ir, const std::vector<std::pair<std::string, std::string>>& layers) {
  return std::string(tools::minimum_release(Made(ir, layers).model).release);
}
std::string text(i64 ir, const std::vector<std::pair<std::string, std::string>>& layers) {
  return to_string(tools::minimum_release(Made(ir, layers).model));
}

}  // namespace

TEST_CASE("every operation set asks for its release") {
  CHECK(release(10, {{"ReLU", "opset1"}}) == "2020.1");
  CHECK(release(10, {{"ReLU", "opset3"}, {"ReLU", "opset1"}}) == "2020.4");
  CHECK(release(10, {{"ReLU", "opset7"}}) == "2021.4");
  CHECK(release(11, {{"ReLU", "opset7"}}) == "2022.1");
  CHECK(release(11, {{"ReLU", "opset14"}}) == "2024.0");
  CHECK(release(11, {{"ReLU", "opset15"}}) == "2024.5");
  CHECK(release(11, {{"ReLU", "opset16"}}) == "2026.0");
}

TEST_CASE("what a release has of a set that is not whole") {
  CHECK(release(11, {{"Col2Im", "opset15"}}) == "2024.2");
  CHECK(release(11, {{"col2im", "opset15"}, {"SliceScatter", "opset15"}}) == "2024.4");
  CHECK(release(11, {{"STFT", "opset15"}}) == "2024.5");
  CHECK(release(11, {{"Identity", "opset16"}}) == "2025.0");
  CHECK(release(11, {{"ErfInv", "opset17"}}) == "2026.2");
  CHECK(release(11, {{"ReLU", "opset17"}}).empty());
  CHECK(release(11, {{"ReLU", "opset99"}}).empty());
  CHECK(release(11, {{"Gelu", "opset1"}}).empty());
}

TEST_CASE("types that the reader takes under a set that does not hold them") {
  // Read by the wheels of 2022.3 and 2026.4.
  CHECK(release(10, {{"MVN", "opset1"}}) == "2020.2");
  CHECK(release(10, {{"ROIPooling", "opset1"}, {"ReorgYolo", "opset1"}}) == "2020.2");
  CHECK(text(10, {{"RNNCell", "experimental"}}) ==
        "read by OpenVINO 2021.3 and later (for RNNCell of experimental in 1 layer)");
}

TEST_CASE("names that layers share") {
  // By the wheels of 2022.3, 2023.3 and 2024.0, which refuse it but for Results, and that of 2024.3.
  const auto release_with = [](std::string_view type) {
    Made made(11, {{"ReLU", "opset1"}, {std::string(type), "opset1"}});
    made.graph->layers[1].name = made.graph->layers[0].name;
    return std::string(tools::minimum_release(made.model).release);
  };
  CHECK(release_with("Exp") == "2024.1");
  CHECK(release_with("Result") == "2022.1");
}

TEST_CASE("sets that came or grew otherwise") {
  CHECK(release(11, {{"ScaledDotProductAttention", "opset13"}}) == "2023.3");
  CHECK(release(11, {{"FakeConvert", "opset13"}}) == "2023.3");
  CHECK(release(11, {{"ReLU", "opset13"}}) == "2023.2");
  CHECK(release(10, {{"ShuffleChannels", "opset1"}}) == "2020.1");
  CHECK(release(10, {{"ShuffleChannels", "opset2"}}).empty());
  CHECK(release(10, {{"ShuffleChannels", "opset3"}}) == "2020.4");
}

TEST_CASE("element types ask for their release") {
  const auto of = [](ElementType type) {
    Made made(11, {{"Parameter", "opset1"}});
    made.graph->layers[0].outputs.emplace_back();
    made.graph->layers[0].outputs[0].declared_type = type;
    return std::string(tools::minimum_release(made.model).release);
  };
  CHECK(of(ElementType::f32) == "2022.1");
  CHECK(of(ElementType::u4) == "2022.1");
  CHECK(of(ElementType::nf4) == "2023.2");
  CHECK(of(ElementType::string) == "2023.3");
  CHECK(of(ElementType::f8e5m2) == "2024.0");
  CHECK(of(ElementType::u2) == "2024.1");
  CHECK(of(ElementType::f8e8m0) == "2024.3");
}

TEST_CASE("what older readers refuse of operations that they have") {
  const auto of = [](int inputs, i64 dim) {
    SmallModel m;
    m.graph.parameter("x", ElementType::f32, {dim, 2});
    const auto value = m.graph.constant("value", floats({1}, {1}));
    const auto read = m.graph.add("read", "ReadValue-6", inputs == 0 ? std::vector<int>{} : std::vector{value},
                                  {{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "1"}});
    m.graph.sink("assign", "Assign-6", read, {{"variable_id", "v"}});
    return std::string(tools::minimum_release(*m.check().model).release);
  };
  CHECK(of(1, 3) == "2022.1");
  CHECK(of(0, 3) == "2023.3");
  CHECK(of(1, 0) == "2023.2");
}

TEST_CASE("a sink came to ScaledDotProductAttention later than the operation") {
  const auto of = [](bool sunk) {
    SmallModel m;
    m.graph.parameter("x", ElementType::f32, {1, 3, 4});
    std::vector<int> inputs(3, 0);
    if (sunk) {
      inputs.push_back(m.graph.constant("mask", floats({}, {0})));
      inputs.push_back(m.graph.constant("scale", floats({}, {1})));
      inputs.push_back(m.graph.constant("sink", floats({1, 1, 1}, {2})));
    }
    m.graph.add("attention", "ScaledDotProductAttention-13", inputs, {{"causal", "false"}});
    return std::string(tools::minimum_release(*m.check().model).release);
  };
  CHECK(of(false) == "2023.3");
  CHECK(of(true) == "2025.4");
}

TEST_CASE("the words for it") {
  CHECK(text(10, {{"ReLU", "opset1"}}) == "read by OpenVINO 2020.1 and later");
  CHECK(text(11, {{"ReLU", "opset1"}}) == "read by OpenVINO 2022.1 and later (for IR 11)");
  CHECK(text(11, {{"ReLU", "opset17"}, {"ReLU", "opset17"}}) ==
        "read by no OpenVINO up to 2026.4 (for ReLU of opset17 in 2 layers)");
  CHECK(text(10, {{"Abs", "opset2"},
                  {"Acos", "opset2"},
                  {"Add", "opset2"},
                  {"Add", "opset2"},
                  {"Sub", "extension"},
                  {"Gelu", "custom"},
                  {"Abs", "opset2"},
                  {"Tan", "opset2"},
                  {"Sin", "opset2"}}) ==
        "read by OpenVINO 2020.2 and later (for Abs of opset2 in 2 layers, Add of opset2 in 2 layers, Acos of opset2 "
        "in 1 layer and 2 more), with an extension for Gelu, Sub");
}

TEST_CASE("a model that ends within the first 512 bytes of its file") {
  // Tried: models padded to 512 and 513 bytes, with the wheels of 2022.3 to 2026.0.
  const auto release_with = [](std::size_t size) {
    Made made(11, {{"ReLU", "opset1"}});
    const auto text = std::make_shared<const std::string>(std::string(size - 6, ' ') + "</net>\n");
    made.graph->source = std::make_shared<const SourceFile>(SourceFile{"model.xml", text, *text});
    return std::string(tools::minimum_release(made.model).release);
  };
  CHECK(release_with(512) == "2024.5");
  CHECK(release_with(513) == "2022.1");
}
