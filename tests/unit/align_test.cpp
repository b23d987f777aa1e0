// Alignment of two models whose names, weights' types or layers differ.
#include "tools/align.hpp"
#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// x · a, relu, + b, relu, · c: `names` tells the layers' names, `type` that of the weights.
SmallModel chain(const std::string& names, ElementType type) {
  SmallModel m;
  const auto weight = [&](const std::string& name, const std::vector<float>& values) {
    const auto id = m.graph.constant(names + name, convert(floats({2, 4}, values), type));
    return type == ElementType::f32
               ? id
               : m.graph.add(names + name + "/wide", "Convert-1", {id}, {{"destination_type", "f32"}});
  };
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 4});
  const auto a = weight("a", {1, 2, 3, 4, 5, 6, 7, 8}), b = weight("b", {8, 7, 6, 5, 4, 3, 2, 1});
  const auto c = weight("c", {1, 3, 5, 7, 2, 4, 6, 8});
  const spec::AttributeTexts numpy{{"auto_broadcast", "numpy"}};
  const auto first = m.graph.add(names + "first", "Multiply-1", {x, a}, numpy);
  const auto relu = m.graph.add(names + "one", "ReLU-1", {first});
  const auto second = m.graph.add(names + "second", "Multiply-1", {relu, b}, numpy);
  const auto other = m.graph.add(names + "two", "ReLU-1", {second});
  m.graph.result("out", m.graph.add(names + "third", "Multiply-1", {other, c}, numpy));
  return m;
}

/// What the layers of the second model are called in the first.
std::map<std::string, std::string> pairs(const Checked& first, const Checked& second) {
  std::map<std::string, std::string> list;
  const auto alignment = tools::align(*first.model, *second.model);
  for (const auto& [node, target] : alignment.to_first)
    list.emplace(node->layer->name, (*target.model)[target.node].layer->name);
  return list;
}

}  // namespace

TEST_CASE("align: by names, whatever the weights' types") {
  const auto first = chain("", ElementType::f16).check(), second = chain("", ElementType::f32).check();
  const auto found = pairs(first, second);
  for (const auto* name : {"x", "first", "one", "second", "two", "third", "out"}) CHECK(found.at(name) == name);
}

TEST_CASE("align: by structure and the values of constants where names differ") {
  const auto first = chain("", ElementType::f16).check(), second = chain("other/", ElementType::f32).check();
  const auto found = pairs(first, second);
  for (const auto* name : {"first", "one", "second", "two", "third", "a", "b", "c"})
    CHECK(found.at(std::string("other/") + name) == name);
}

TEST_CASE("align: made-up names do not go before structure") {
  // The two models number their layers in another order.
  const auto build = [](const std::string& relu, const std::string& abs) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {4});
    const auto one = m.graph.add(relu, "ReLU-1", {m.graph.add("exp", "Exp-1", {x})});
    m.graph.result("out", m.graph.add(abs, "ReLU-1", {m.graph.add("tanh", "Tanh-1", {one})}));
    return m.check();
  };
  const auto first = build("ReLU_1", "ReLU_2"), second = build("ReLU_2", "ReLU_1");
  const auto found = pairs(first, second);
  CHECK(found.at("ReLU_2") == "ReLU_1");
  CHECK(found.at("ReLU_1") == "ReLU_2");
}
