// Models with very many faults are judged in time that grows with the file: with its square, ctest's time limit would
// end these.
#include <fmt/format.h>

#include "catch.hpp"
#include "ovir.hpp"

using namespace ovir;

namespace {

constexpr int kLayers = 20'000;

std::string relu(int id, const std::string& type = "ReLU") {
  return fmt::format(
      R"(<layer id="{0}" name="l{0}" type="{1}" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim></port></input>)"
      R"(<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>)",
      id, type);
}

std::string edge(int from, int from_port, int to, int to_port) {
  return fmt::format(R"(<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>)", from, from_port, to,
                     to_port);
}

/// A chain of layers, all on one line.
template <class Layer, class Edge>
std::string chain(Layer layer, Edge edge_of) {
  std::string
      layers =
          R"(<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/><output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>)",
      edges;
  for (int i = 1; i < kLayers; ++i) layers += layer(i);
  for (int i = 0; i + 1 < kLayers; ++i) edges += edge_of(i);
  return fmt::format(R"(<net name="m" version="11"><layers>{}</layers><edges>{}</edges></net>)", layers, edges);
}

std::size_t faults(std::string xml) {
  const auto text = std::make_shared<std::string>(std::move(xml));
  Diagnostics diagnostics;
  const auto model = load(std::make_shared<SourceFile>(SourceFile{"m.xml", text, *text}),
                          {.weights = {}, .no_weights = true}, diagnostics);
  if (model) infer(*model, {}, diagnostics);
  const LineIndex lines(SourceFile{"m.xml", text, *text});
  for (const auto& d : diagnostics.all())
    if (d.at) lines(d.at.offset);
  return diagnostics.all().size();
}

const auto as_it_should = [](int i) { return edge(i, 1, i + 1, 0); };
const auto a_relu = [](int i) { return relu(i); };

}  // namespace

TEST_CASE("very many faults") {
  CHECK(faults(chain(a_relu, as_it_should)) == 1);  // W0904
  CHECK(faults(chain(a_relu, [](int i) { return edge(i + kLayers, 1, i + 1, 0); })) == kLayers - 1);
  CHECK(faults(chain(a_relu, [](int i) { return edge(i, 1, i + kLayers, 0); })) == kLayers - 1);
  CHECK(faults(chain(a_relu, [](int i) { return edge(i, 1, i + 1, 5); })) == kLayers - 1);
  CHECK(faults(chain(a_relu, [](int) { return std::string(); })) == kLayers - 1);
  CHECK(faults(chain([](int i) { return relu(i, "ReLUU"); }, as_it_should)) == kLayers - 1);
  CHECK(faults(chain([](int) { return relu(5); }, as_it_should)) > kLayers - 3);
}

TEST_CASE("a layer of very many inputs") {
  std::string ports, edges;
  for (int i = 0; i < kLayers; ++i) {
    ports += fmt::format(R"(<port id="{}"/>)", i);
    edges += edge(0, 1, 1, i);
  }
  const auto net = [&](const std::string& inputs) {
    return fmt::format(
        R"(<net name="m" version="11"><layers><layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/><output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>)"
        R"(<layer id="1" name="c" type="Concat" version="opset1"><data axis="0"/><input>{}</input><output><port id="{}" precision="FP32"/></output></layer></layers><edges>{}</edges></net>)",
        inputs, kLayers, edges);
  };
  CHECK(faults(net(ports)) == 1);  // W0904
  std::string same;
  for (int i = 0; i < kLayers; ++i) same += R"(<port id="0"/>)";
  CHECK(faults(net(same)) < 10 + kLayers);
}
