// Selectors, on models that are made by hand: they need no operation.
#include "tools/select.hpp"

#include "catch.hpp"
#include "graph/graph.hpp"

using namespace ovir;
using Names = std::vector<std::string>;

namespace {

struct Made {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::shared_ptr<Model> model = std::make_shared<Model>();

  /// A layer that reads the outputs 0 of `inputs`.
  void add(const std::string& name, const std::string& type, std::vector<int> inputs, int outputs = 1) {
    Layer layer;
    layer.id = static_cast<i64>(graph->layers.size());
    layer.name = name;
    layer.type = type;
    for (int o = 0; o < outputs; ++o) {
      Port port;
      port.names = {name + ":out" + std::to_string(o)};
      layer.outputs.push_back(port);
    }
    graph->layers.push_back(std::move(layer));
    sources.push_back(std::move(inputs));
  }
  void finish() {
    model->graph = graph;
    for (std::size_t i = 0; i < graph->layers.size(); ++i) {
      Node node;
      node.layer = &graph->layers[i];
      node.output_count = static_cast<int>(node.layer->outputs.size());
      for (const auto from : sources[i]) node.inputs.push_back({from, 0});
      model->nodes.push_back(std::move(node));
    }
  }
  std::vector<std::vector<int>> sources;
};

/// x -> block/conv1 -> block/relu1 -> loop -> y, and x -> a,b -> z; the loop holds v -> relu.
const Model& sample() {
  static const auto made = [] {
    Made body;
    body.add("v", "Parameter", {});
    body.add("relu", "ReLU", {0});
    body.finish();
    body.model->path = "loop/body/";
    Made m;
    m.add("x", "Parameter", {});
    m.add("block/conv1", "Convolution", {0});
    m.add("block/relu1", "ReLU", {1});
    m.add("loop", "Loop", {2}, 2);
    m.add("y", "Result", {3}, 0);
    m.add("a,b", "ReLU", {0});
    m.add("z*", "Result", {5}, 0);
    m.finish();
    m.model->nodes[3].bodies.push_back(body.model);
    return m.model;
  }();
  return *made;
}

Names names(std::string_view selector) {
  Names list;
  for (const auto& s : tools::select(sample(), selector))
    list.push_back(s.model->path + (*s.model)[s.node].layer->name);
  return list;
}

}  // namespace

TEST_CASE("select: by name, glob and regular expression") {
  CHECK(names("block/conv1") == Names{"block/conv1"});
  CHECK(names("block/*") == Names{"block/conv1", "block/relu1"});
  CHECK(names("*relu?") == Names{"block/relu1"});
  CHECK(names("/relu/") == Names{"block/relu1", "loop/body/relu"});
  CHECK(names("/^(x|y)$/") == Names{"x", "y"});
  CHECK(names("/o{1,2}p$/") == Names{"loop"});  // a comma within
}

TEST_CASE("select: an exact name wins over a pattern") {
  CHECK(names("a,b") == Names{"a,b"});
  CHECK(names("z*") == Names{"z*"});
}

TEST_CASE("select: by type, id and tensor") {
  CHECK(names("type:relu") == Names{"block/relu1", "a,b", "loop/body/relu"});
  CHECK(names("id:2") == Names{"block/relu1"});
  CHECK(names("id:1..3") == Names{"block/conv1", "block/relu1", "loop"});
  CHECK(names("tensor:x:out0") == Names{"x"});
  CHECK(names("x:out0") == Names{"x"});
  const auto port = tools::select(sample(), "tensor:loop:1");
  REQUIRE(port.size() == 1);
  CHECK(port[0].port == 1);
}

TEST_CASE("select: what is before and behind") {
  CHECK(names("from:block/relu1") == Names{"block/relu1", "loop", "y"});
  CHECK(names("to:block/relu1") == Names{"x", "block/conv1", "block/relu1"});
  CHECK(names("to:loop/body/relu") == Names{"loop/body/v", "loop/body/relu"});
}

TEST_CASE("select: either, and without") {
  CHECK(names("y,x") == Names{"x", "y"});
  CHECK(names("x,x") == Names{"x"});
  CHECK(names("block/*,!type:ReLU") == Names{"block/conv1"});
  CHECK(names("!from:x") == Names{"loop/body/v", "loop/body/relu"});
}

TEST_CASE("select: one iteration of a loop") {
  const auto one = tools::select(sample(), "loop/body/relu@it=3");
  REQUIRE(one.size() == 1);
  CHECK(one[0].iteration == 3);
  CHECK_THROWS_AS(names("x@it=3"), tools::SelectorError);
  CHECK_THROWS_AS(names("!*"), tools::SelectorError);
  CHECK_THROWS_AS(names("loop/body/relu@it=-1"), tools::SelectorError);
}

TEST_CASE("select: what selects nothing is an error that says what may be meant") {
  std::string message;
  try {
    names("block/conv2");
  } catch (const tools::SelectorError& error) {
    message = error.what();
  }
  CHECK(message.find("did you mean \"block/conv1\"?") != message.npos);
  for (const auto* text :
       {"", ",", "id:x", "id:99", "type:", "/(/", "tensor:loop:2", "from:nothing", "x,nothing", "!nothing"})
    CHECK_THROWS_AS(names(text), tools::SelectorError);
}

TEST_CASE("glob_match: the whole text, without backtracking for ever") {
  CHECK(tools::glob_match("", ""));
  CHECK(tools::glob_match("*", ""));
  CHECK(tools::glob_match("a*b*c", "aXXbYYc"));
  CHECK_FALSE(tools::glob_match("a*b", "aXXc"));
  CHECK_FALSE(tools::glob_match("a?", "a"));
  CHECK_FALSE(tools::glob_match("*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST_CASE("select: a regular expression takes linear time") {
  Made m;
  m.add(std::string(100'000, 'a'), "ReLU", {});
  m.finish();
  CHECK_THROWS_AS(tools::select(*m.model, "/(a*)*b/"), tools::SelectorError);
  CHECK(tools::select(*m.model, "/(a*)*$/").size() == 1);
}

TEST_CASE("a name that several layers have is told") {
  Made made;
  made.add("x", "Parameter", {});
  made.add("a", "ReLU", {0});
  made.add("a", "ReLU", {1});
  made.finish();
  CHECK(tools::select(*made.model, "a").size() == 2);
  const Names told{"2 layers are named \"a\" (ids 1, 2), and all of them are selected"};
  CHECK(tools::shared_names(*made.model, "a") == told);
  CHECK(tools::shared_names(*made.model, "x,!from:a") == told);
  CHECK(tools::shared_names(*made.model, "x,type:ReLU,id:1").empty());
}
