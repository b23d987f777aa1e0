#include <algorithm>
#include <filesystem>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "temporary.hpp"
#include "tensor/tensor.hpp"
#include "xml/read.hpp"

using namespace ovir;

namespace {

/// A model of one Parameter, one operation and one Result, with a slot for further attributes and children.
std::string net(const std::string& relu, const std::string& more_layers = "", const std::string& more_edges = "") {
  return R"(<?xml version="1.0"?>
<net name="m" version="11">
 <layers>
  <layer id="0" name="x" type="Parameter" version="opset1">
   <data shape="?,3" element_type="f32"/>
   <output><port id="0" precision="FP32" names="a,b\,c"><dim>-1</dim><dim>3</dim></port></output>
  </layer>
  )" + relu +
         more_layers +
         R"(
  <layer id="9" name="r" type="Result" version="opset1" output_names="y"><input><port id="0" precision="FP32"/></input></layer>
 </layers>
 <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>)" +
         more_edges + R"(</edges>
</net>
)";
}

constexpr auto kRelu = R"(<layer id="1" name="relu" type="ReLU" version="opset1"><input><port id="0"/></input>
   <output><port id="1" precision="FP32"/></output></layer>)";
constexpr auto kConst =
    R"(<layer id="2" name="c" type="Const" version="opset1"><data element_type="f32" shape="2" offset="0" size="8"/>
   <output><port id="0" precision="fp32"><dim>2</dim></port></output></layer>)";

struct Outcome {
  std::shared_ptr<const Graph> graph;
  Diagnostics diagnostics;

  std::vector<std::string> codes() const {
    std::vector<std::string> list;
    for (const auto& d : diagnostics.all()) list.push_back(to_string(d.code));
    return list;
  }
  /// The text that the first diagnostic points at, behind its line and column.
  std::string place() const {
    const auto& at = diagnostics.all().at(0).at;
    const auto [line, column] = line_column(at);
    return fmt::format("{}:{} {}", line, column, at.file->text.substr(at.offset, at.length));
  }
};

Outcome read(const std::string& xml, const std::string& bin = "", xml::ReadOptions options = {}) {
  const Temporary folder;
  write_file(folder.path("m.xml"), xml);
  if (!bin.empty()) write_file(folder.path("m.bin"), bin);
  Outcome outcome;
  outcome.graph = xml::read(folder.path("m.xml"), options, outcome.diagnostics);
  return outcome;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_CASE("a graph as the file has it") {
  const auto [graph, diagnostics] = read(net(kRelu));
  REQUIRE(graph);
  CHECK(diagnostics.all().empty());
  CHECK(graph->name == "m");
  CHECK(graph->ir_version == 11);
  REQUIRE(graph->layers.size() == 3);
  const auto& x = graph->layers[0];
  CHECK(x.name == "x");
  CHECK(x.type == "Parameter");
  CHECK(x.version == "opset1");
  CHECK(x.attribute("shape")->value == "?,3");
  CHECK(x.attribute("missing") == nullptr);
  REQUIRE(x.outputs.size() == 1);
  CHECK(x.outputs[0].declared_type == ElementType::f32);
  CHECK(to_string(*x.outputs[0].declared_shape) == "[?,3]");
  CHECK(x.outputs[0].names == std::vector<std::string>{"a", "b,c"});
  CHECK(graph->layers[2].output_names == std::vector<std::string>{"y"});
  REQUIRE(graph->edges.size() == 1);
  CHECK(graph->edges[0].to_layer == 1);
  CHECK_FALSE(graph->damaged);
}

TEST_CASE("places are those of the file, entities or not") {
  const auto [graph, diagnostics] =
      read(net(R"(<layer id="1" name="a&lt;b&#x41;" type="ReLU" version="opset1"><data k="&amp;v" l=''/></layer>)"));
  REQUIRE(graph);
  const auto& layer = graph->layers[1];
  CHECK(layer.name == "a<bA");
  const auto text = graph->source->text;
  CHECK(text.substr(layer.at.offset, layer.at.length) == "<layer");
  const auto& k = *layer.attribute("k");
  CHECK(k.value == "&v");
  CHECK(text.substr(k.at.offset, k.at.length) == "&amp;v");
  CHECK(layer.attribute("l")->at.length == 1);
}

TEST_CASE("what is missing or malformed is told, all of it") {
  const auto out = read(net(R"(<layer id="one" name="relu" version="opset1"><input><port/></input>
    <output><port id="-1" precision="FP31"><dim>1x3</dim><dim>-2</dim><dim>99999999999999999999</dim></port></output></layer>)",
                            "", R"(<edge from-layer="0" from-port="zero" to-layer="9"/>)"));
  REQUIRE(out.graph);
  CHECK(out.codes() == Codes{"E0104", "E0103", "E0103", "E0104", "E0104", "E0104", "E0104", "E0104", "E0104", "E0103"});
  CHECK(out.place() == "8:14 one");
  CHECK(out.diagnostics.all()[0].layer->id == "one");
  CHECK(out.graph->damaged);
  CHECK(out.graph->layers[1].damaged);
  CHECK(out.graph->layers[1].id < 0);
  CHECK_FALSE(out.graph->layers[1].outputs[0].declared_shape);
  CHECK_FALSE(out.graph->layers[0].damaged);
  CHECK(out.graph->edges.size() == 1);
}

TEST_CASE("parts of the format that a net must have") {
  CHECK(read(R"(<net name="m" version="11"/>)").codes() == Codes{"E0103", "E0103"});
  CHECK(read(R"(<net name="m"><layers/><edges/></net>)").codes() == Codes{"E0103"});
  CHECK(read(R"(<net version="x"><layers/><edges/></net>)").codes() == Codes{"E0104"});
  CHECK(read(R"(<NET version="11"><layers/><edges/></NET>)").codes().empty());
}

TEST_CASE("versions of the format") {
  for (const auto* version : {"2", "7", "9", "12", "9223372036854775807"}) {
    INFO(version);
    const auto out = read(fmt::format(R"(<net name="m" version="{}"><layers><layer/></layers></net>)", version));
    CHECK_FALSE(out.graph);
    CHECK(out.codes() == Codes{"E0601"});  // and nothing that follows from it
  }
  CHECK(read(R"(<net version="10"><layers/><edges/></net>)").graph->ir_version == 10);
}

TEST_CASE("files that are no model") {
  const auto message = [](const std::string& content) {
    const auto out = read(content);
    CHECK_FALSE(out.graph);
    CHECK(out.codes() == Codes{"E0102"});
    return out.diagnostics.all().at(0).message;
  };
  using Catch::Matchers::EndsWith;
  CHECK_THAT(message(""), EndsWith("is empty"));
  CHECK_THAT(message("\n \n"), EndsWith("is blank"));
  CHECK_THAT(message("\n\n<!DOCTYPE html>\n<html></html>"), EndsWith("is a web page"));
  CHECK_THAT(message("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
             EndsWith("is a git-LFS pointer, not the file it stands for"));
  CHECK_THAT(message(std::string("\x08\x07\x12\x07pytorch", 11)), EndsWith("is an ONNX model"));
  CHECK_THAT(message(std::string("PK\x03\x04\0\0", 6)), EndsWith("a zip archive (maybe a PyTorch or Keras model)"));
  CHECK_THAT(message("{\"a\": 1}"), EndsWith("is JSON"));
  CHECK_THAT(message(std::string("\1\0\0\0", 4)), EndsWith("is binary data"));
  CHECK_THAT(message("hello"), EndsWith("is not an XML document"));
  CHECK_THAT(message("<network/>"), EndsWith("must be <net>, but is <network>"));
}

TEST_CASE("files that cannot be opened") {
  Diagnostics diagnostics;
  CHECK_FALSE(xml::read("/nonexistent/m.xml", {}, diagnostics));
  CHECK_FALSE(xml::read("/", {}, diagnostics));
  REQUIRE(diagnostics.all().size() == 2);
  CHECK(diagnostics.all()[0].code == Code::E0001);
  CHECK(diagnostics.all()[1].code == Code::E0001);
}

TEST_CASE("XML that is not well-formed") {
  const auto check = [](const std::string& xml, const std::string& message, const std::string& place) {
    const auto out = read(xml);
    CHECK_FALSE(out.graph);
    REQUIRE(out.codes() == Codes{"E0101"});
    CHECK(out.diagnostics.all()[0].message == "malformed XML: " + message);
    CHECK(out.place() == place);
  };
  check("<net>\n <layers>\n </edges>\n</net>", "</edges> where </layers> was expected", "3:2 </edges");
  check("<net>\n <layers>", "the file ends before <layers> is closed", "2:10 ");
  check("<net>\n <!-- <a> --><b c='>'/><lay", "the file ends within a tag", "2:24 <lay");
  check("<net version=11/>", "an attribute's value has no quotes", "1:14 1");
  check("<net version='11/>", "an attribute is malformed", "1:15 1");
  check("<net/>\n<x", "something follows the end of the outermost element", "2:2 x");
  check(std::string("<net>\0</net>", 12), "NUL byte; XML text cannot contain one", std::string("1:6 \0", 5));
  check("<net version=\"11\"/>\n<net/>", "something follows the end of the outermost element", "2:1 <net");
  check("<net>\n <!-- <layers/>\n</net>", "a comment is malformed", "2:2 <!--");
}

TEST_CASE("an attribute twice") {
  const auto out = read(net(R"(<layer id="1" name="relu" id="2" type="ReLU" version="opset1"/>)"));
  REQUIRE(out.graph);
  CHECK(out.codes() == Codes{"E0101"});
  CHECK(out.graph->layers[1].id == 1);
}

TEST_CASE("what OpenVINO tolerates") {
  CHECK(read("\xef\xbb\xbf" + net(kRelu)).codes().empty());
  CHECK(read(net(R"(<layer id="1" name="a & b \xff" type="ReLU" version="opset1"/>)")).codes() == Codes{"W0907"});
  CHECK(read(R"(<!DOCTYPE net [<!ENTITY a "b">]><net name="&a;" version="11"><layers/><edges/></net>)").codes() ==
        Codes{"W0907"});
}

TEST_CASE("weights") {
  const std::string model = net(kRelu, kConst), values(8, '\1');
  const auto good = read(model, values);
  CHECK(good.codes().empty());
  REQUIRE(good.graph->weights);
  CHECK(good.graph->weights->text() == values);

  const auto missing = read(model);
  CHECK(missing.codes() == Codes{"E0301"});
  CHECK(missing.graph);
  CHECK(read(net(kRelu)).codes().empty());  // nothing lies in it
  xml::ReadOptions options;
  options.weights = "/nonexistent/m.bin";
  CHECK(read(net(kRelu), "", options).codes() == Codes{"E0301"});  // but it was asked for
  options = {};
  options.no_weights = true;
  const auto without = read(model, values, options);
  CHECK(without.codes().empty());
  CHECK_FALSE(without.graph->weights);

  for (const auto* content :
       {"version https://git-lfs.github.com/spec/v1\n", "<!doctype HTML>\n", "<?xml version=\"1.0\"?>\n<net/>"}) {
    const auto out = read(model, content);
    CHECK(out.codes() == Codes{"E0304"});
    CHECK_FALSE(out.graph->weights);
  }
}

TEST_CASE("bodies") {
  const std::string inner = R"(<layers><layer id="0" name="p" type="Parameter" version="opset1"/></layers><edges/>)";
  const auto out =
      read(net(R"(<layer id="1" name="loop" type="Loop" version="opset5"><body>)" + inner + R"(</body><port_map>
    <input external_port_id="-1" internal_layer_id="0" purpose="current_iteration"/>
    <output axis="-1" external_port_id="3" internal_layer_id="7" start="-1" end="0" stride="-2" part_size="2"/></port_map>
    <back_edges><edge from-layer="7" to-layer="0"/></back_edges></layer>)",
               kConst),
           "12345678");
  CHECK(out.codes().empty());
  REQUIRE(out.graph->layers[1].bodies.size() == 1);
  const auto& body = out.graph->layers[1].bodies[0];
  CHECK(body.role == "body");
  CHECK(body.graph->weights == out.graph->weights);
  CHECK(body.graph->source == out.graph->source);
  REQUIRE(body.port_map.size() == 2);
  CHECK(body.port_map[0].external_port == -1);
  CHECK(body.port_map[0].purpose == "current_iteration");
  CHECK_FALSE(body.port_map[0].axis);
  CHECK(body.port_map[1].direction == PortMap::Direction::output);
  CHECK(body.port_map[1].axis == -1);
  CHECK(body.port_map[1].start == -1);
  CHECK(body.port_map[1].stride == -2);
  REQUIRE(body.back_edges.size() == 1);
  CHECK(body.back_edges[0].from_layer == 7);
}

TEST_CASE("branches of an If, in one order, and faults in them") {
  const std::string inner =
      R"(<layers><layer id="0" name="p" type="Parameter" version="opset1"/><layer id="x" name="q" type="Relu" version="opset1"/></layers><edges/>)";
  const auto out = read(net(R"(<layer id="1" name="if" type="If" version="opset8"><else_body>)" + inner +
                            "</else_body><then_body><layers/><edges/></then_body></layer>"));
  CHECK(out.codes() == Codes{"E0104"});
  CHECK(out.diagnostics.all()[0].layer->path == "if/else_body/");
  const auto& bodies = out.graph->layers[1].bodies;
  REQUIRE(bodies.size() == 2);
  CHECK(bodies[0].role == "then_body");
  CHECK(bodies[1].role == "else_body");
  CHECK(bodies[1].graph->damaged);
  CHECK_FALSE(out.graph->damaged);
  CHECK(read(net(R"(<layer id="1" name="loop" type="Loop" version="opset5"><port_map/></layer>)")).codes() ==
        Codes{"E0208"});
}

TEST_CASE("nesting without end") {
  std::string deep, elements;
  for (int i = 0; i < 3000; ++i) deep += R"(<layer id="0" name="l" type="Loop" version="opset5"><body><layers>)";
  for (int i = 0; i < 3000; ++i) deep += "</layers><edges/></body></layer>";
  CHECK(read(net(deep)).codes() == Codes{"E0208"});
  for (int i = 0; i < 50000; ++i) elements += "<a>";
  for (int i = 0; i < 50000; ++i) elements += "</a>";
  CHECK(read(net("<rt_info>" + elements + "</rt_info>")).codes().empty());
  CHECK(read(R"(<net version="11"><layers/><edges/><rt_info>)" + elements + "</rt_info></net>").codes().empty());
}

TEST_CASE("information about the model") {
  const auto entries = [](const std::string& info) {
    std::vector<std::string> list;
    const auto out = read(R"(<net version="11"><layers/><edges/>)" + info + "</net>");
    for (const auto& e : out.graph->rt_info) list.push_back(e.path + "=" + e.value);
    return list;
  };
  CHECK(
      entries(
          R"(<rt_info><a value="1"/><b><info name="c d" value="2"/><unset unset_cli_parameters="e, f"/></b></rt_info>)") ==
      Codes{"a=1", "b/c d=2", "b/unset=e, f"});
  CHECK(entries(R"(<meta_data><MO_version value="1"/><cli_parameters><x value="2"/></cli_parameters></meta_data>
                   <quantization_parameters><config>{} </config></quantization_parameters>)") ==
        Codes{"MO_version=1", "conversion_parameters/x=2", "optimization/config={}"});
}

namespace {

/// An input "x" of this shape, read by a Result, and the means of its channels.
std::string with_means(const std::string& shape, const std::string& block, const std::string& type = "f32") {
  return R"(<net name="m" version="10"><layers><layer id="0" name="x" type="Parameter" version="opset1">
<data shape=")" +
         shape + R"(" element_type=")" + type + R"("/><output><port id="0" precision="FP32"/></output></layer>
<layer id="9" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="9" to-port="0"/></edges>)" +
         block + "</net>";
}

std::string channel(const std::string& id, const std::string& mean) {
  return "<channel" + id + "><mean " + mean + "/></channel>";
}

}  // namespace

TEST_CASE("mean values beside the graph become a subtraction in it") {
  const auto one = channel(" id=\"1\"", "value=\"2.5\""), zero = channel(" id=\"0\"", "value=\"-1\"");
  const auto out = read(with_means("4,2,5,5", "<pre-process>" + one + zero + "</pre-process>"));
  CHECK(out.codes().empty());
  REQUIRE(out.graph->layers.size() == 4);
  const auto &mean = out.graph->layers[2], &difference = out.graph->layers[3];
  CHECK(mean.type == "Const");
  CHECK(mean.name == "x/mean");
  REQUIRE(mean.value);
  CHECK(mean.value->shape() == Shape{2, 1, 1});
  CHECK(mean.value->values<float>()[0] == -1);
  CHECK(mean.value->values<float>()[1] == 2.5F);
  CHECK(difference.type == "Subtract");
  CHECK(difference.name == "x/subtract_mean");
  REQUIRE(out.graph->edges.size() == 3);
  CHECK(out.graph->edges[0].from_layer == difference.id);
  CHECK(out.graph->edges[1].from_layer == 0);
  CHECK(out.graph->edges[2].from_layer == mean.id);
}

TEST_CASE("mean images are read from the .bin, one a channel") {
  const auto images = "<pre-process reference-layer-name=\" x \">" + channel("", "offset=\"3\" size=\"2\"") +
                      channel("", "offset=\"0\" size=\"2\"") + "</pre-process>";
  const auto out = read(with_means("1,2,1,2", images, "u8"), "abcde");
  CHECK(out.codes().empty());
  REQUIRE(out.graph->layers.size() == 4);
  REQUIRE(out.graph->layers[2].value);
  const auto& value = *out.graph->layers[2].value;
  CHECK(value.shape() == Shape{2, 1, 2});
  CHECK(std::string(reinterpret_cast<const char*>(value.bytes()), 4) == "deab");
}

TEST_CASE("faulty means are refused, not forgotten") {
  const auto codes = [](const std::string& shape, const std::string& means, const std::string& name = "x") {
    return read(with_means(shape, "<pre-process reference-layer-name=\"" + name + "\">" + means + "</pre-process>"),
                "abcd")
        .codes();
  };
  const auto one = channel("", "value=\"1\"");
  CHECK(codes("1,1,2,2", one).empty());
  CHECK(codes("1,1,2,2", one, "y") == Codes{"E0104"});
  CHECK(codes("?,1,2,2", one) == Codes{"E0605"});
  CHECK(codes("1", one) == Codes{"E0605"});
  CHECK(codes("1,2,2,2", one) == Codes{"E0104"});
  CHECK(codes("1,2,2,2", one + channel(" id=\"0\"", "value=\"1\"")) == Codes{"E0104"});
  CHECK(codes("1,2,2,2", one + channel(" id=\"2\"", "value=\"1\"")) == Codes{"E0104"});
  CHECK(codes("1,1,2,2", channel("", "value=\"one\"")) == Codes{"E0104"});
  CHECK(codes("1,1,2,2", channel("", "")) == Codes{"E0103", "E0103"});
  CHECK(codes("1,1,1,1", channel("", "value=\"1\" size=\"4\" offset=\"0\"")) == Codes{"E0104"});
  CHECK(codes("1,1,1,1", channel("", "size=\"4\" offset=\"0\"")).empty());
  CHECK(codes("1,1,1,2", channel("", "size=\"4\" offset=\"0\"")) == Codes{"E0303"});
  CHECK(codes("1,1,1,1", channel("", "size=\"4\" offset=\"1\"")) == Codes{"E0302"});
}

TEST_CASE("the .bin lies beside a link to the .xml, or beside what the link leads to") {
  const Temporary folder;
  std::filesystem::create_directories(folder.path("store"));
  write_file(folder.path("store/real.xml"), net(kRelu, kConst));
  write_file(folder.path("store/real.bin"), "12345678");
  std::filesystem::create_symlink("store/real.xml", folder.path("m.xml"));
  Diagnostics diagnostics;
  auto graph = xml::read(folder.path("m.xml"), {}, diagnostics);
  REQUIRE(graph->weights);
  CHECK(graph->weights->text() == "12345678");
  write_file(folder.path("m.bin"), "abcdefgh");
  graph = xml::read(folder.path("m.xml"), {}, diagnostics);
  CHECK(graph->weights->text() == "abcdefgh");
  CHECK(diagnostics.errors() == 0);
}

TEST_CASE("a dim with a fraction of zeros is an integer; one warning tells of all") {
  const auto declared = [](const std::string& dims) {
    const auto relu = std::string(kRelu);
    const auto at = relu.find("FP32\"/>");
    return read(net(relu.substr(0, at) + "FP32\">" + dims + "</port></output></layer>"));
  };
  const auto out = declared("<dim>2.0</dim><dim>3.</dim>");
  CHECK(out.codes() == Codes{"W0908"});
  CHECK_FALSE(out.graph->layers[1].damaged);
  CHECK(out.graph->layers[1].outputs[0].declared_shape == PartialShape{2, 3});
  CHECK(declared("<dim>2.5</dim>").codes() == Codes{"E0104"});
  CHECK(declared("<dim>.0</dim>").codes() == Codes{"E0104"});
}

TEST_CASE("characters that other XML readers refuse are a warning each, at the first place") {
  const auto warned = [](const std::string& attributes) {
    return read("<net " + attributes + R"( version="11"><!-- a & b --><layers/><edges/></net>)").codes();
  };
  CHECK(warned(R"(name="a &amp; b &#38; c &lt;")").empty());
  CHECK(warned(R"(name="a & b & c")") == Codes{"W0907"});
  CHECK(warned(R"(name="a &nope; b")") == Codes{"W0907"});
  CHECK(warned("name=\"\xC3\xA4\"").empty());
  CHECK(warned("name=\"\xE4 & \xE4\"") == Codes{"W0907", "W0907"});
}
