// Names of saved tensors, and which layer of a model they mean.
#include "tools/reference.hpp"
#include <algorithm>

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;
using tools::aliases_of;
using tools::Saved;

namespace {

/// x -> "block/relu" -> "module one" -> out, and a Split of two outputs.
SmallModel model() {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {4});
  const auto relu = m.graph.add("block/relu", "ReLU-1", {x});
  const auto first = m.graph.add("__module.head/aten::abs/Abs", "Abs-1", {relu});
  const auto last = m.graph.add("__module.head/aten::exp/Exp", "Exp-1", {first});
  m.graph.result("out", last);
  return m;
}

std::string found(const Checked& c, const std::string& key, const tools::NameMap& names = {}) {
  const auto reference =
      tools::match(*c.model, {Saved{key, aliases_of(key), {}, [] { return Tensor::scalar(1); }}}, names);
  for (const auto& [place, read] : reference.tensors())
    if (place.at().op->kind != Kind::result) return place.at().layer->name;
  return reference.unmatched.empty() ? "" : "unmatched " + reference.unmatched[0];
}

}  // namespace

TEST_CASE("reference: a layer is found by the names that files and keys have") {
  const auto c = model().check();
  for (const auto* key : {"block/relu", "block/relu.0", "block/relu:0", "block_relu", "12_block_relu.0",
                          "0012_block_relu.0", "block/relu:0.0"})
    CHECK(found(c, key) == "block/relu");
  CHECK(found(c, "block/relu.1") == "unmatched block/relu.1");
  CHECK(found(c, "block") == "unmatched block");
}

TEST_CASE("reference: a module of PyTorch is its last layer") {
  CHECK(found(model().check(), "head") == "__module.head/aten::exp/Exp");
}

TEST_CASE("reference: a map of names goes before the names themselves") {
  const auto names = tools::parse_name_map("# a comment\nmine = block/relu\n\nx\tblock/relu\n", "map");
  const auto c = model().check();
  CHECK(found(c, "mine", names) == "block/relu");
  CHECK(found(c, "x", names) == "block/relu");
  CHECK_THROWS_AS(tools::parse_name_map("no separator\n", "map"), Failure);
}

TEST_CASE("reference: iterations are part of a key") {
  const auto aliases = aliases_of("loop/body/relu@it=3.1.0");
  const auto at =
      std::find_if(aliases.begin(), aliases.end(), [](const auto& a) { return a.name == "loop/body/relu" && a.port; });
  REQUIRE(at != aliases.end());
  CHECK(*at->port == 0);
  CHECK(at->iterations == std::vector<i64>{3, 1});
}

TEST_CASE("reference: an output of the model is its producer's too") {
  const auto c = model().check();
  const auto reference = tools::match(*c.model, {Saved{"0.npy", {}, 0, [] { return Tensor::scalar(1); }}}, {});
  CHECK(reference.tensors().size() == 2);
}
