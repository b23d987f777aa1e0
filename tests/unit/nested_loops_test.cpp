// Bodies are inferred in rounds, and those of nested loops in rounds of rounds: their number must not be multiplied
// level by level.
#include <fmt/format.h>

#include "catch.hpp"
#include "ovir.hpp"

using namespace ovir;

namespace {

constexpr int kLevels = 60;

std::string layer(int id, const std::string& type, const std::string& data, int inputs, const std::string& output,
                  const std::string& more = {}) {
  std::string ports;
  for (int i = 0; i < inputs; ++i) ports += fmt::format(R"(<port id="{}"/>)", i);
  if (inputs > 0) ports = "<input>" + ports + "</input>";
  if (!output.empty()) ports += fmt::format(R"(<output><port id="{}" {}/></output>)", inputs, output);
  return fmt::format(R"(<layer id="{0}" name="{1}{0}" type="{1}" version="opset8"><data {2}/>{3}{4}</layer>)", id, type,
                     data, ports, more);
}

std::string edge(int from, int from_port, int to, int to_port) {
  return fmt::format(R"(<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>)", from, from_port, to,
                     to_port);
}

std::string loop(int level, bool grows);

/// v -> f -> join(v, f) or f -> fed back to v; f is a loop of the next level, or Softmax.
std::string graph(int level, bool grows) {
  const bool whole = level == 0;
  std::string layers =
      layer(0, "Parameter", fmt::format(R"(shape="{}" element_type="f32")", whole ? "1" : "?"), 0,
            R"(precision="FP32")") +
      layer(1, "Const", R"(shape="" element_type="i64" offset="0" size="8")", 0, R"(precision="I64")") +
      layer(2, "Const", R"(shape="" element_type="boolean" offset="8" size="1")", 0, R"(precision="BOOL")") +
      (level < kLevels ? loop(level + 1, grows)
                       : layer(3, "Softmax", grows ? R"(axis="0")" : R"(axis="5")", 1, R"(precision="FP32")")) +
      layer(5, "Result", "", 1, "") + layer(6, "Result", "", 1, "");
  std::string edges = level < kLevels ? edge(1, 0, 3, 0) + edge(2, 0, 3, 1) + edge(0, 0, 3, 2) : edge(0, 0, 3, 0);
  edges += edge(2, 0, 6, 0);
  const int last = level < kLevels ? 3 : 1;  // the output port of layer 3
  if (grows) {
    layers += layer(4, "Concat", R"(axis="0")", 2, R"(precision="FP32")");
    edges += edge(0, 0, 4, 0) + edge(3, last, 4, 1) + edge(4, 2, 5, 0);
  } else {
    edges += edge(3, last, 5, 0);
  }
  return "<layers>" + layers + "</layers><edges>" + edges + "</edges>";
}

std::string loop(int level, bool grows) {
  return layer(3, "Loop", "", 3, R"(precision="FP32")",
               R"(<port_map><input external_port_id="2" internal_layer_id="0"/>)"
               R"(<output external_port_id="3" internal_layer_id="5"/>)"
               R"(<output external_port_id="-1" internal_layer_id="6" purpose="execution_condition"/></port_map>)"
               R"(<back_edges><edge from-layer="5" to-layer="0"/></back_edges><body>)" +
                   graph(level, grows) + "</body>");
}

struct Judged {
  Diagnostics diagnostics;
  i64 layers = 0, inferred = 0;
};

Judged judge(bool grows) {
  const auto text = std::make_shared<std::string>(R"(<net name="nest" version="11">)" + graph(0, grows) + "</net>");
  Judged judged;
  const auto model = load(std::make_shared<SourceFile>(SourceFile{"nest.xml", text, *text}),
                          {.weights = {}, .no_weights = true}, judged.diagnostics);
  REQUIRE(model);
  judged.layers = static_cast<i64>(count_layers(*model));
  infer(*model, {.shapes = {}, .inferred = &judged.inferred}, judged.diagnostics);
  return judged;
}

}  // namespace

TEST_CASE("nested loops whose states grow") {
  const auto judged = judge(true);
  // The constants of the innermost body feed nothing: W0904.
  for (const auto& d : judged.diagnostics.all()) CHECK(d.code == Code::W0904);
  CHECK(judged.layers > 6 * kLevels);
  CHECK(judged.inferred < 100 * judged.layers);
}

TEST_CASE("a fault in the innermost of nested loops is told once") {
  const auto judged = judge(false);
  CHECK(judged.diagnostics.errors() == 1);
  CHECK(judged.inferred < 20 * judged.layers);
}
