// What `ovir explain` shows as an example of a code is a model with that fault.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "catch.hpp"
#include "diag/codes.hpp"
#include "small_model.hpp"
#include "tools/portability.hpp"

using namespace ovir;

namespace {

std::ptrdiff_t count_of(const Diagnostics& diagnostics, Code code) {
  return std::count_if(diagnostics.all().begin(), diagnostics.all().end(),
                       [&](const Diagnostic& d) { return d.code == code; });
}

/// Without the remark behind it.
std::string_view without_remark(std::string_view example) {
  example = example.substr(0, std::min(example.find("  <!--"), example.find("  #")));
  return trim(example);
}

// --- "Add of f32[1,3] and f16[3]", "Transpose of f32[1,3,8] by {0, 2, 2}", "Softmax of f32[1,1000] with axis="2""

spec::AttributeTexts attributes_of(std::string_view type) {
  if (type == "Convolution")
    return {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  if (type == "Reshape") return {{"special_zero", "false"}};
  return {};
}

Diagnostics check_words(std::string_view text) {
  const auto after = [&](std::string_view word) {
    const auto at = text.find(word);
    if (at == text.npos) return std::string_view();
    const auto rest = text.substr(at + word.size());
    text = text.substr(0, at);
    return rest;
  };
  SmallModel m;
  auto by = after(" by ");
  if (by.empty()) by = after(" to ");
  const auto with = after(" with ");
  const auto inputs = after(" of ");
  const std::string type(text);

  std::vector<int> ids;
  for (auto rest = inputs; !rest.empty();) {
    const auto end = std::min(rest.find(" and "), rest.size());
    const auto fact = rest.substr(0, end);
    rest = rest.substr(std::min(end + 5, rest.size()));
    const auto bracket = std::min(fact.find('['), fact.size());
    const auto element = parse_element_type(fact.substr(0, bracket));
    const auto shape = bracket < fact.size() ? parse_shape(fact.substr(bracket)) : PartialShape{};
    REQUIRE(element);
    REQUIRE(shape);
    ids.push_back(m.graph.parameter(fmt::format("input{}", ids.size()), *element, *shape));
  }
  if (!by.empty()) {
    std::vector<i64> values;
    for (const auto word : split(by.substr(1, by.size() - 2), ','))
      values.push_back(parse_number<i64>(trim(word)).value());
    const Shape shape{std::ssize(values)};
    ids.push_back(m.graph.constant("by", Tensor::of<i64>(ElementType::i64, shape, values)));
  }
  auto attributes = attributes_of(type);
  if (const auto equals = with.find('='); equals != with.npos)
    attributes.emplace_back(with.substr(0, equals), with.substr(equals + 2, with.size() - equals - 3));
  const auto* const op = operations().find(type);
  REQUIRE(op);
  m.graph.result("y", m.graph.add("layer", fmt::format("{}-{}", type, op->versions.back().since), ids, attributes));
  auto checked = m.check();
  tools::check_portability(*checked.model, checked.facts, checked.diagnostics);
  return checked.diagnostics;
}

// --- Parts of a file, in the place of a part of this one; what they leave out ("...") is filled in.

constexpr std::string_view kFile = R"(<net name="m" version="11">
<layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="1,64"/>
<output><port id="0" precision="FP32"/></output></layer>
<layer id="1" name="first" type="ReLU" version="opset1"><input><port id="0"/></input>
<output><port id="1" precision="FP32"/></output></layer>
<layer id="2" name="a" type="ReLU" version="opset1"><input><port id="0"/></input>
<output><port id="1" precision="FP32"/></output></layer>
<layer id="3" name="b" type="ReLU" version="opset1"><input><port id="0"/></input>
<output><port id="1" precision="FP32"/></output></layer>
</layers>
<edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
</edges>
</net>)";

struct Part {
  std::string_view instead_of;          ///< of kFile; where it begins with "</", the example is put before it
  std::vector<std::string_view> fills;  ///< for each "..."
  std::string_view before, behind;      ///< what is around the example
};

constexpr std::string_view kConst = R"(<layer id="8" name="c" type="Const" version="opset1">)",
                           kEndConst = R"(<output><port id="0" precision="FP32"/></output></layer>)",
                           kPool = R"(<layer id="8" name="p" type="MaxPool" version="opset1">)",
                           kFirst = R"(<layer id="1" name="first" type="ReLU" version="opset1">)";

const std::map<Code, Part>& parts() {
  static const std::map<Code, Part> list{
      {Code::E0101, {R"(<layer id="0" name="x" type="Parameter" version="opset1">)", {}, {}, {}}},
      {Code::E0103, {kFirst, {}, {}, {}}},
      {Code::E0104, {R"(<port id="0" precision="FP32"/>)", {}, {}, {}}},
      {Code::E0201, {"</layers>", {R"(type="ReLU" version="opset1")", R"(type="ReLU" version="opset1")"}, {}, {}}},
      {Code::E0202, {"</edges>", {}, {}, {}}},
      {Code::E0203, {"</edges>", {R"(to-layer="3" to-port="0")"}, {}, {}}},
      {Code::E0204, {"</edges>", {}, {}, {}}},
      {Code::E0205, {R"(<input><port id="0"/></input>)", {}, {}, {}}},
      {Code::E0206, {"</edges>", {R"(from-port="1")", R"(to-port="0")", R"(from-port="1")", R"(to-port="0")"}, {}, {}}},
      {Code::E0207,
       {R"(<output><port id="1" precision="FP32"/></output>)", {R"(precision="FP32")", R"(precision="FP32")"}, {}, {}}},
      {Code::E0208,
       {"</layers>",
        {},
        R"(<layer id="8" name="t" type="TensorIterator" version="opset1"><input><port id="0"/></input>)",
        R"(<body><layers><layer id="0" name="x" type="Parameter" version="opset1">
<data element_type="f32" shape="1"/><output><port id="0" precision="FP32"/></output></layer></layers><edges/></body>
</layer>)"}},
      {Code::E0302, {"</layers>", {}, kConst, kEndConst}},
      {Code::E0303, {"</layers>", {}, kConst, kEndConst}},
      {Code::E0401, {"</layers>", {}, {}, "</layer>"}},
      {Code::E0402, {"</layers>", {""}, kPool, "</layer>"}},
      {Code::E0403, {"</layers>", {""}, kPool, "</layer>"}},
      {Code::E0601, {R"(<net name="m" version="11">)", {}, {}, {}}},
      {Code::E0602, {kFirst, {}, {}, {}}},
      {Code::E0603, {kFirst, {}, {}, {}}},
      {Code::W0901, {R"(<output><port id="1" precision="FP32"/></output>)", {"</output>"}, {}, {}}},
      {Code::W0902, {"</layers>", {""}, kPool, "</layer>"}},
      {Code::E0209,
       {"</layers>", {R"(id="8" name="s" version="opset6")", R"(<input><port id="0"/></input></layer>)"}, {}, {}}},
      {Code::W0907, {R"(<net name="m" version="11">)", {}, {}, {}}},
      {Code::W0908, {"</layers>", {}, R"(<layer id="8" name="s" type="Softmax" version="opset8">)", "</layer>"}},
      {Code::N0901, {"</layers>", {R"(id="8" name="c" version="opset1")", ""}, {}, "</layer>"}},
  };
  return list;
}

Diagnostics check_file(const std::string& file) {
  const MemoryFile xml(file), weights(std::string(6000, '\0'));
  return check_model(xml.path(), {.weights = weights.path()}).diagnostics;
}

/// The example is what a file begins with: the model, or its weights.
Diagnostics check_other_file(Code code, std::string_view example) {
  const MemoryFile wrong{std::string(without_remark(example.substr(0, example.find('\n')))) + "\n"};
  if (code == Code::E0102) return check_model(wrong.path()).diagnostics;
  std::string file(kFile);
  const auto data =
      fmt::format("{}<data element_type=\"f32\" shape=\"1\" offset=\"0\" size=\"4\"/>{}", kConst, kEndConst);
  file.insert(file.find("</layers>"), data);
  const MemoryFile xml(file);
  return check_model(xml.path(), {.weights = wrong.path()}).diagnostics;
}

Diagnostics check_part(const Part& part, std::string_view example) {
  std::string text(part.before);
  auto fill = part.fills.begin();
  // A remark ends each line.
  for (const auto line : split(example, '\n')) text += std::string(without_remark(line)) + '\n';
  for (std::size_t at = 0; (at = text.find("...", at)) != text.npos;) {
    REQUIRE(fill != part.fills.end());
    text.replace(at, 3, *fill++);
  }
  CHECK(fill == part.fills.end());
  text += part.behind;

  std::string file(kFile);
  const auto at = file.find(part.instead_of);
  REQUIRE(at != file.npos);
  file.replace(at, part.instead_of.starts_with("</") ? 0 : part.instead_of.size(), text);
  return check_file(file);
}

}  // namespace

TEST_CASE("the examples of explain have the fault that they are shown for") {
  // Commands are tried in tests/cli/examples.test; these need other files or input data, and are in its neighbors.
  // E0604 cannot be reached.
  constexpr Code kElsewhere[] = {Code::E0004, Code::E0604, Code::E0605, Code::E0703, Code::E0704,
                                 Code::W0903, Code::W0904, Code::W0905, Code::W0909};
  const auto unchanged = check_file(std::string(kFile));
  for (const auto& entry : all_codes()) {
    INFO(to_string(entry.code) << ": " << entry.example);
    if (entry.example.starts_with("ovir ")) continue;
    if (std::find(std::begin(kElsewhere), std::end(kElsewhere), entry.code) != std::end(kElsewhere)) continue;
    if (entry.code == Code::E0102 || entry.code == Code::E0304) {
      CHECK(count_of(check_other_file(entry.code, entry.example), entry.code) == 1);
      continue;
    }
    if (entry.code == Code::W0906) {  // only models without errors are warned of
      auto file = std::string(kFile);
      file.erase(file.find("<layer id=\"3\""), file.find("</layers>") - file.find("<layer id=\"3\""));
      file.insert(file.find("</edges>"), "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"2\" to-port=\"0\"/>");
      CHECK(count_of(check_file(file), entry.code) == 0);
      const std::string_view old = R"(<layer id="2" name="a" type="ReLU" version="opset1">)";
      file.replace(file.find(old), old.size(), without_remark(entry.example));
      CHECK(count_of(check_file(file), entry.code) == 1);
      continue;
    }
    const auto part = parts().find(entry.code);
    const auto diagnostics =
        part != parts().end() ? check_part(part->second, entry.example) : check_words(without_remark(entry.example));
    CHECK(count_of(diagnostics, entry.code) > (part != parts().end() ? count_of(unchanged, entry.code) : 0));
  }
}
