// Layers that an older OpenVINO does not read, and what they are lowered to.
#include "tools/lower.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "ovir.hpp"
#include "tools/fix.hpp"

using namespace ovir;

namespace {

/// x -> the layer -> y.
struct Chain {
  Diagnostics diagnostics;
  std::shared_ptr<const Model> model;

  /// `planes` is the shape that the layer declares, as <dim>s.
  Chain(std::string_view type, std::string_view version, std::string_view data, std::string_view element = "f32",
        std::string_view planes = "") {
    const auto port = [&](int id) {
      return fmt::format(R"(<port id="{}" precision="{}"/>)", id, element == "boolean" ? "BOOL" : "FP32");
    };
    auto text = std::make_shared<std::string>(fmt::format(
        R"(<net name="m" version="10"><layers>
<layer id="0" name="x" type="Parameter" version="opset1">
<data element_type="{3}" shape="1,3,8,8"/><output>{4}</output></layer>
<layer id="1" name="l" type="{0}" version="{1}"><data {2}/><input>{4}{5}</input><output><port id="2" precision="{8}">{6}</port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input>{4}</input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>{7}
<edge from-layer="1" from-port="2" to-layer="2" to-port="0"/></edges></net>)",
        type, version, data, element, port(0), type.starts_with("Bitwise") ? port(1) : "", planes,
        type.starts_with("Bitwise") ? R"(<edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>)" : "",
        element == "boolean" ? "BOOL" : "FP32"));
    model = load(std::make_shared<const SourceFile>(SourceFile{"m.xml", text, *text}),
                 {.weights = {}, .no_weights = true}, diagnostics);
  }

  /// "opset8", "opset1 LogicalAnd"; empty where the layer cannot be lowered.
  std::string lowered_for(std::string_view release) const {
    for (const auto& node : model->nodes) {
      if (node.layer->name != "l") continue;
      const auto remedies = tools::lowered(*model, node, release);
      std::string text;
      if (!remedies.empty())
        for (const auto& change : remedies.front()) text += (text.empty() ? "" : " ") + change.value;
      return text;
    }
    return "no layer";
  }
};

constexpr std::string_view kPool =
    R"(kernel="2,2" strides="2,2" pads_begin="0,0" pads_end="0,0" exclude-pad="true" rounding_type="{}"
dilations="{}")";

}  // namespace

TEST_CASE("a version goes by the newest set that the release reads") {
  const Chain relu("ReLU", "opset15", "");
  CHECK(relu.lowered_for("2026.4") == "opset16");
  CHECK(relu.lowered_for("2024.0") == "opset14");
  CHECK(relu.lowered_for("2020.1") == "opset1");
  CHECK(Chain("ScaledDotProductAttention", "opset13", "").lowered_for("2023.2").empty());
}

TEST_CASE("an older version computes the same under its condition only") {
  const auto softmax = [](int axis) {
    return Chain("SoftMax", "opset8", fmt::format(R"(axis="{}")", axis)).lowered_for("2021.4");
  };
  CHECK(softmax(1) == "opset7");
  CHECK(softmax(-1).empty());
  const auto pool = [](std::string_view type, int set, std::string_view rounding, std::string_view dilations) {
    return Chain(type, fmt::format("opset{}", set), fmt::format(fmt::runtime(kPool), rounding, dilations))
        .lowered_for("2023.3");
  };
  CHECK(pool("AvgPool", 14, "ceil", "1,1") == "opset13");
  CHECK(pool("AvgPool", 14, "ceil_torch", "1,1").empty());
  CHECK(pool("AvgPool", 16, "floor", "1,1") == "opset13");
  CHECK(pool("AvgPool", 16, "floor", "2,1").empty());
  CHECK(pool("MaxPool", 14, "ceil", "1,1") == "opset13");
  CHECK(pool("MaxPool", 14, "ceil_torch", "1,1").empty());
}

TEST_CASE("the rounding of PyTorch becomes the usual one where the lengths agree") {
  // 8 + 1 with a window of 2: 5 windows, of which PyTorch leaves out the last, as it begins in the padding
  const auto fixes = [](std::string_view type, int kernel, int padding, int planes) {
    const auto data = fmt::format(
        R"(kernel="{0},{0}" strides="2,2" pads_begin="{1},{1}" pads_end="{1},{1}" rounding_type="ceil_torch" {2})",
        kernel, padding,
        type == "MaxPool" ? R"(dilations="1,1" index_element_type="i64" axis="0")" : R"(exclude-pad="false")");
    const Chain chain(type, "opset14", data, "f32",
                      fmt::format("<dim>1</dim><dim>3</dim><dim>{0}</dim><dim>{0}</dim>", planes));
    REQUIRE(chain.diagnostics.errors() == 0);
    const tools::CheckedModel subject{chain.model->graph->source, {.weights = {}, .no_weights = true}, {}, "2022.3"};
    return tools::find_fixes(*chain.model, subject, tools::check(subject, {})).list.size();
  };
  for (const auto* type : {"MaxPool", "AvgPool"}) {
    CHECK(fixes(type, 3, 0, 4) == 1);
    CHECK(fixes(type, 1, 1, 5) == 0);
  }
}

TEST_CASE("indices that may count from the end keep a scatter as it is") {
  // The plugin of 2022.3 refuses them in version 3.
  CHECK(Chain("ScatterElementsUpdate", "opset12", R"(reduction="none")").lowered_for("2022.3").empty());
}

TEST_CASE("OneHot becomes an older one where negative indices are left out") {
  // Tried with 2023.3 and indices that are negative: as the cases of OneHot-16 have it.
  const auto one_hot = [](std::string_view mode) {
    return Chain("OneHot", "opset16", fmt::format(R"(axis="-1" negative_indices_mode="{}")", mode))
        .lowered_for("2023.3");
  };
  CHECK(one_hot("ignore_negative") == "opset13");
  CHECK(one_hot("normalize").empty());
}

TEST_CASE("an operation of another name may be the same") {
  CHECK(Chain("BitwiseAnd", "opset13", "", "boolean").lowered_for("2021.4") == "opset7 LogicalAnd");
  CHECK(Chain("BitwiseAnd", "opset13", "").lowered_for("2021.4").empty());
}

TEST_CASE("a lowered layer is a verified fix") {
  const Chain softmax("SoftMax", "opset8", R"(axis="1")");
  REQUIRE(softmax.diagnostics.errors() == 0);
  const tools::CheckedModel subject{softmax.model->graph->source, {.weights = {}, .no_weights = true}, {}, "2021.4"};
  const auto diagnostics = tools::check(subject, {});
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.all()[0].code == Code::E0606);
  CHECK(diagnostics.all()[0].message == "OpenVINO 2021.4 does not read Softmax-8; 2022.1 is the first that does");
  const auto fixes = tools::find_fixes(*softmax.model, subject, diagnostics);
  REQUIRE(fixes.list.size() == 1);
  CHECK(fixes.errors == 0);
  CHECK(tools::check(subject, fixes.edits).errors() == 0);

  const auto text = std::make_shared<std::string>(tools::apply(subject.source->text, fixes.edits.texts));
  Diagnostics unused;
  const auto older = load(std::make_shared<const SourceFile>(SourceFile{"m.xml", text, *text}),
                          {.weights = {}, .no_weights = true}, unused);
  Tensor x(ElementType::f32, Shape{1, 3, 8, 8});
  for (i64 i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 7) - 3;
  CHECK_FALSE(tools::differing_output(softmax.model, older, {&x, 1}));
  CHECK(tools::differing_output(softmax.model, Chain("SoftMax", "opset8", R"(axis="2")").model, {&x, 1}) == "l");
}
