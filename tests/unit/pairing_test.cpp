#include "tools/pairing.hpp"
#include "catch.hpp"
#include "small_model.hpp"
#include "tools/diff.hpp"

using namespace ovir;

namespace {

/// x -> first -> second -> y, with names of one's own.
Checked chain(const std::string& x, const std::string& first, const std::string& second, float weight = 1) {
  SmallModel m;
  const auto input = m.graph.parameter(x, ElementType::f32, {2});
  const auto a = m.graph.add(first, "ReLU-1", {input});
  const auto w = m.graph.constant("w" + second, floats({2}, {weight, 2}));
  const auto b = m.graph.add(second, "Add-1", {a, w}, {{"auto_broadcast", "numpy"}});
  m.graph.result("y" + second, b);
  return m.check();
}

}  // namespace

TEST_CASE("layers whose names all differ are paired by their neighbors") {
  const auto a = chain("x", "relu", "sum"), b = chain("p", "q", "r");
  const auto pairs = tools::pair_layers(*a.model, *b.model);
  for (int i = 0; i < std::ssize(pairs.of_first); ++i) {
    REQUIRE(pairs.of_first[i] >= 0);
    CHECK((*a.model)[i].layer->type == (*b.model)[pairs.of_first[i]].layer->type);
  }
  const auto difference = tools::diff({*a.model, a.facts}, {*b.model, b.facts});
  CHECK(difference.changes.size() == 5);  // names, and nothing else
  for (const auto& change : difference.changes) CHECK(change.kind == tools::ModelChange::Kind::renamed);
}

TEST_CASE("values that differ are counted") {
  const auto a = chain("x", "relu", "sum"), b = chain("x", "relu", "sum", -3);
  const auto difference = tools::diff({*a.model, a.facts}, {*b.model, b.facts});
  REQUIRE(difference.changes.size() == 1);
  CHECK(difference.changes[0].delta->changed == 1);
  CHECK(difference.changes[0].delta->elements == 2);
  CHECK(difference.changes[0].delta->max_abs == 4);
  CHECK(tools::diff({*a.model, a.facts}, {*a.model, a.facts}).equal());
}
