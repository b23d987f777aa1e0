// The search over models: what the golden tests of the command line cannot ask for.
#include "tools/reshapeable.hpp"

#include <fstream>

#include "catch.hpp"
#include "ovir.hpp"
#include "temporary.hpp"

using namespace ovir;

namespace {
constexpr auto kConcat = R"(<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="a" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/><output><port id="0" precision="FP32"/></output></layer>
<layer id="1" name="b" type="Parameter" version="opset1"><data shape="2,9223372036854775806" element_type="f32"/><output><port id="0" precision="FP32"/></output></layer>
<layer id="2" name="c" type="Parameter" version="opset1"><data shape="2,?,0" element_type="f32"/><output><port id="0" precision="FP32"/></output></layer>
<layer id="3" name="d" type="ShapeOf" version="opset3"><input><port id="0"/></input><output><port id="1" precision="I64"/></output></layer>
<layer id="4" name="e" type="Concat" version="opset1"><data axis="1"/><input><port id="0"/><port id="1"/></input><output><port id="2" precision="FP32"/></output></layer>
<layer id="5" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="6" name="z" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="2" from-port="0" to-layer="3" to-port="0"/><edge from-layer="3" from-port="1" to-layer="6" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="4" to-port="0"/><edge from-layer="1" from-port="0" to-layer="4" to-port="1"/>
<edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>
</edges></net>)";

tools::Reshapeable found(const std::string& text, i64 budget) {
  const Temporary folder;
  std::ofstream(folder.path("m.xml")) << text;
  Diagnostics diagnostics;
  const auto model = load(folder.path("m.xml"), {}, diagnostics);
  REQUIRE(model);
  return tools::reshapeable(*model, {}, budget);
}
}  // namespace

TEST_CASE("a small budget leaves axes out and says so") {
  for (const i64 budget : {0, 7, 40, 100, 700}) {
    const auto r = found(kConcat, budget);
    CHECK(r.axes.size() == 7);
    CHECK(!r.complete);
    bool marked = false;
    for (const auto& axis : r.axes) marked = marked || !axis.tried || axis.lengths.cut;
    CHECK(marked);
  }
}

TEST_CASE("lengths that cannot grow") {
  const auto r = found(kConcat, 1'000'000);
  CHECK(r.complete);
  CHECK(r.axes[0].together);
  REQUIRE(r.together.size() == 1);
  CHECK(r.together[0].axes == std::vector<tools::InputAxis>{{0, 0}, {1, 0}});
  CHECK(r.axes[3].lengths.only_base());
  CHECK(!r.inputs[2].shape.is_static());
  CHECK(r.inputs[2].tried.is_static());
  CHECK(r.axes[6].lengths.base == 0);
}
