// What OpenVINO's CPU plugin computes otherwise, and a .bin that may be another model's.
#include "tools/portability.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

std::vector<std::string> differences(const Checked& c) {
  Diagnostics diagnostics;
  tools::check_portability(*c.model, c.facts, diagnostics);
  std::vector<std::string> messages;
  for (const auto& d : diagnostics.all()) messages.push_back(d.message);
  return messages;
}

Checked sum_of(ElementType type) {
  SmallModel m;
  const auto x = m.graph.parameter("x", type, {2, 3});
  m.graph.result("y", m.graph.add("sum", "Add-1", {x, x}, {{"auto_broadcast", "numpy"}}));
  return m.check();
}

}  // namespace

TEST_CASE("a layer that the CPU plugin computes otherwise is one note") {
  CHECK(differences(sum_of(ElementType::f32)).empty());
  const auto wide = differences(sum_of(ElementType::i64));
  REQUIRE(wide.size() == 1);
  CHECK(wide[0] == "Add: the plugin computes 64-bit numbers in 32 bits");
  CHECK(differences(sum_of(ElementType::u8)).size() == 1);

  const auto unique_along = [](i64 axis) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
    const auto a = m.graph.constant("axis", Tensor::of<i64>(ElementType::i64, Shape{1}, std::vector{axis}));
    m.graph.result("y", m.graph.add("unique", "Unique-10", {x, a}));
    return differences(m.check()).size();
  };
  CHECK(unique_along(0) == 0);
  CHECK(unique_along(1) == 1);
  CHECK(unique_along(-1) == 1);

  const auto gathered = [](std::string_view type, i64 index) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
    const auto indices = m.graph.constant("indices", Tensor::scalar(index)),
               axis = m.graph.constant("axis", Tensor::scalar(0));
    m.graph.result("y", m.graph.add("gather", type, {x, indices, axis}));
    return differences(m.check()).size();
  };
  CHECK(gathered("Gather-7", 1) == 0);
  CHECK(gathered("Gather-7", -1) == 1);
  CHECK(gathered("Gather-8", -1) == 0);
}

TEST_CASE("a layer with a fault has no notes, nor has one that depends on it") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
  const auto axes = m.graph.constant("axes", Tensor::of<i64>(ElementType::i64, Shape{0}, std::vector<i64>{}));
  const auto unique = m.graph.add("unique", "Unique-10", {x, axes});
  m.graph.result("y", m.graph.add("relu", "ReLU-1", {unique}));
  const auto c = m.check();
  CHECK(c.diagnostics.errors() == 1);
  CHECK(differences(c).empty());
}

TEST_CASE("resampling with antialias is one note where an axis becomes shorter") {
  const auto notes = [](std::string_view mode, i64 width) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {1, 1, 4, 4});
    const auto sizes =
        m.graph.constant("sizes", Tensor::of<i64>(ElementType::i64, Shape{2}, std::vector<i64>{8, width}));
    const auto axes = m.graph.constant("axes", Tensor::of<i64>(ElementType::i64, Shape{2}, std::vector<i64>{2, 3}));
    m.graph.result(
        "y", m.graph.add("resize", "Interpolate-11", {x, sizes, axes},
                         {{"mode", std::string(mode)}, {"shape_calculation_mode", "sizes"}, {"antialias", "true"}}));
    return differences(m.check()).size();
  };
  CHECK(notes("linear", 3) == 1);
  CHECK(notes("linear", 4) == 0);
  CHECK(notes("cubic", 3) == 0);
  CHECK(notes("LINEAR", 3) == 1);  // letter case does not matter in a word
}

TEST_CASE("a product by compressed weights is one note") {
  const auto notes = [](ElementType type) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 4});
    const auto w = m.graph.constant("w", Tensor(type, Shape{4, 3}));
    const auto wide = m.graph.add("wide", "Convert-1", {w}, {{"destination_type", "f32"}});
    const auto scale = m.graph.constant("scale", Tensor(ElementType::f32, Shape{1, 3}));
    const auto scaled = m.graph.add("scaled", "Multiply-1", {wide, scale}, {{"auto_broadcast", "numpy"}});
    m.graph.result("y", m.graph.add("product", "MatMul-1", {x, scaled}));
    return differences(m.check()).size();
  };
  CHECK(notes(ElementType::i8) == 1);
  CHECK(notes(ElementType::u4) == 1);
  CHECK(notes(ElementType::f16) == 0);
}

TEST_CASE("resampling integers is one note, except by the nearest") {
  const auto notes = [](ElementType type, std::string_view mode) {
    SmallModel m;
    const auto x = m.graph.parameter("x", type, {1, 1, 4, 4});
    const auto sizes = m.graph.constant("sizes", Tensor::of<i64>(ElementType::i64, Shape{2}, std::vector<i64>{2, 2}));
    const auto axes = m.graph.constant("axes", Tensor::of<i64>(ElementType::i64, Shape{2}, std::vector<i64>{2, 3}));
    m.graph.result("y", m.graph.add("resize", "Interpolate-11", {x, sizes, axes},
                                    {{"mode", std::string(mode)}, {"shape_calculation_mode", "sizes"}}));
    return differences(m.check()).size();
  };
  CHECK(notes(ElementType::u8, "linear") == 1);
  CHECK(notes(ElementType::u8, "nearest") == 0);
  CHECK(notes(ElementType::f32, "linear") == 0);
}

TEST_CASE("random numbers without a seed are one note") {
  const auto notes = [](const char* global, const char* op) {
    SmallModel m;
    const auto shape = m.graph.constant("shape", Tensor::of<i64>(ElementType::i64, Shape{1}, std::vector<i64>{4}));
    const auto low = m.graph.constant("low", Tensor::of<float>(ElementType::f32, Shape{}, std::vector{0.0F}));
    const auto high = m.graph.constant("high", Tensor::of<float>(ElementType::f32, Shape{}, std::vector{1.0F}));
    m.graph.result("y", m.graph.add("draw", "RandomUniform-8", {shape, low, high},
                                    {{"output_type", "f32"}, {"global_seed", global}, {"op_seed", op}}));
    return differences(m.check()).size();
  };
  CHECK(notes("0", "0") == 1);
  CHECK(notes("0", "1") == 0);
  CHECK(notes("7", "0") == 0);
}

TEST_CASE("an attribute whose default OpenVINO does not apply is one note where it is left out") {
  const auto notes = [](const char* version, std::vector<std::pair<std::string, std::string>> attributes) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
    m.graph.result("y", m.graph.add("layer", version, {x}, attributes));
    return differences(m.check());
  };
  CHECK(notes("Softmax-1", {}) ==
        std::vector<std::string>{
            "Softmax: OpenVINO takes 0 for \"axis\", which is left out; by the specification it is 1 then"});
  CHECK(notes("Softmax-1", {{"axis", "1"}}).empty());
  CHECK(notes("ShapeOf-3", {}) ==
        std::vector<std::string>{
            "ShapeOf: OpenVINO does not read the layer without \"output_type\"; by the specification it is i64 then"});
  CHECK(notes("ShapeOf-1", {}).empty());
}

TEST_CASE("a square constant that is used both ways is a note at the second MatMul") {
  const auto notes = [](const Shape& shape, bool first, bool second) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, shape[0]});
    const auto w = m.graph.constant("w", Tensor(ElementType::f32, shape));
    const auto text = [](bool b) { return b ? "true" : "false"; };
    m.graph.result("a", m.graph.add("one", "MatMul-1", {x, w}, {{"transpose_b", text(first)}}));
    m.graph.result("b", m.graph.add("two", "MatMul-1", {x, w}, {{"transpose_b", text(second)}}));
    return differences(m.check()).size();
  };
  CHECK(notes({4, 4}, false, true) == 1);
  CHECK(notes({4, 4}, true, false) == 1);
  CHECK(notes({4, 4}, true, true) == 0);
  CHECK(notes({4, 3}, false, false) == 0);
}

TEST_CASE("a product by 1/6 rounded to f16 is one note") {
  const auto notes = [](ElementType type, float factor) {
    SmallModel m;
    const auto x = m.graph.parameter("x", type, {2, 3});
    const auto k =
        m.graph.constant("k", convert(Tensor::of<float>(ElementType::f32, Shape{1}, std::vector{factor}), type));
    m.graph.result("y", m.graph.add("product", "Multiply-1", {x, k}, {{"auto_broadcast", "numpy"}}));
    return differences(m.check()).size();
  };
  CHECK(notes(ElementType::f16, 1.0F / 6) == 1);
  CHECK(notes(ElementType::f16, 0.25F) == 0);
  CHECK(notes(ElementType::f32, 1.0F / 6) == 0);
}

TEST_CASE("a slice that adds and drops axes is one note") {
  const auto notes = [](const std::string& added, const std::string& dropped) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {3, 4});
    const auto list = [&](const char* name, std::vector<i64> values) {
      return m.graph.constant(name, Tensor::of<i64>(ElementType::i64, Shape{2}, values));
    };
    const auto begin = list("begin", {0, 0}), end = list("end", {1, 1}), strides = list("strides", {1, 1});
    m.graph.result("y", m.graph.add("slice", "StridedSlice-1", {x, begin, end, strides},
                                    {{"begin_mask", "0,0"},
                                     {"end_mask", "0,0"},
                                     {"new_axis_mask", added},
                                     {"shrink_axis_mask", dropped},
                                     {"ellipsis_mask", "0,0"}}));
    return differences(m.check()).size();
  };
  CHECK(notes("1,0", "0,1") == 1);
  CHECK(notes("1,0", "0,0") == 0);
  CHECK(notes("0,0", "0,1") == 0);
}

TEST_CASE("a TensorIterator that begins inside its input is one note") {
  const auto notes = [](std::string_view slicing) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {4, 3});
    spec::GraphText body(m.bin);
    const auto row = body.parameter("row", ElementType::f32, {1, 3});
    const auto given = body.result("given", body.add("minus", "Negative-1", {row}));
    const auto rows = m.graph.layer(
        "rows", "TensorIterator", "opset1", "", {x}, spec::output_port(1, ElementType::f32),
        fmt::format(R"(<port_map><input external_port_id="0" internal_layer_id="{}" axis="0" {}/>)"
                    R"(<output external_port_id="1" internal_layer_id="{}" axis="0"/></port_map><body>{}</body>)",
                    row, slicing, given, body.text()));
    m.graph.result("y", rows);
    return differences(m.check()).size();
  };
  CHECK(notes("") == 0);
  CHECK(notes(R"(start="0" end="2")") == 0);
  CHECK(notes(R"(start="1")") == 1);
  CHECK(notes(R"(start="-1" stride="-1" end="0")") == 0);
  CHECK(notes(R"(start="-2" stride="-1" end="0")") == 1);
}

TEST_CASE("unused bytes raise the suspicion that a .bin is another model's") {
  const auto notes = [](std::size_t unused) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
    const auto shape = m.graph.constant("shape", Tensor::of<i64>(ElementType::i64, Shape{2}, std::vector<i64>{4, 4}));
    m.bin += std::string(unused, '\0');
    m.graph.result("y", m.graph.add("reshaped", "Reshape-1", {x, shape}, {{"special_zero", "false"}}));
    const auto c = m.check();
    std::string text;
    for (const auto& d : c.diagnostics.all())
      for (const auto& note : d.notes)
        if (note.message.find("may belong to another model") != std::string::npos) text = note.message;
    return text;
  };
  CHECK(notes(0).empty());
  CHECK(notes(100'000).find("100.1 kB of its 100.1 kB belong to no constant") != std::string::npos);
}

TEST_CASE("layers that are not whole are no candidates") {
  SmallModel m;
  m.graph.result("y", m.graph.add("loop", "TensorIterator-1", {}));
  m.graph.result("z", m.graph.add("convert", "Convert-1", {}, {{"destination_type", "f32"}}));
  CHECK(differences(m.check()).empty());
}
