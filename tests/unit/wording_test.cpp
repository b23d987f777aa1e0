// What diagnostics say of faults of many kinds, and what their carets mark.
#include <string>

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// The message of the one error, and behind " | " what the caret marks.
std::string told(const Checked& c) {
  std::string text;
  for (const auto& d : c.diagnostics.all()) {
    if (d.severity != Severity::error) continue;
    text += text.empty() ? "" : "\n";
    text += d.message;
    if (d.at.file) text += " | " + std::string(d.at.file->text.substr(d.at.offset, d.at.length));
  }
  return text;
}

struct Input {
  ElementType type;
  PartialShape shape;
  std::vector<i64> values = {};  ///< of a constant; empty: a Parameter
};

/// A model of one operation.
std::string fault_of(std::string_view operation, const std::vector<Input>& inputs,
                     const spec::AttributeTexts& attributes, std::vector<std::string>* notes = nullptr) {
  SmallModel m;
  std::vector<int> ids;
  for (const auto& input : inputs) {
    const auto name = "x" + std::to_string(ids.size());
    if (input.values.empty()) {
      ids.push_back(m.graph.parameter(name, input.type, input.shape));
    } else {
      const auto value = Tensor::of<i64>(ElementType::i64, input.shape.to_shape(), input.values);
      ids.push_back(m.graph.constant(name, convert(value, input.type)));
    }
  }
  m.graph.result("y", m.graph.add("op", operation, ids, attributes));
  const auto c = m.check();
  if (notes)
    for (const auto& d : c.diagnostics.all())
      for (const auto& note : d.notes) notes->push_back(note.message);
  return told(c);
}

constexpr auto f32 = ElementType::f32;
constexpr auto i64_ = ElementType::i64;

std::string convolution(std::string strides, std::string begin, std::string end, std::string dilations) {
  return fault_of("Convolution-1", {{f32, {1, 3, 8, 8}}, {f32, {4, 3, 3, 3}}},
                  {{"strides", std::move(strides)},
                   {"pads_begin", std::move(begin)},
                   {"pads_end", std::move(end)},
                   {"dilations", std::move(dilations)}});
}

}  // namespace

TEST_CASE("a caret marks the entry of a list that is at fault") {
  CHECK(convolution("1,1", "0,0", "0,0", "1,0") ==
        "attribute \"dilations\" of Convolution must hold numbers in 1..2147483647, but holds 0 | 0");
  CHECK(convolution("2,one", "0,0", "0,0", "1,1") ==
        "each element of attribute \"strides\" of Convolution must be an integer, but one is \"one\" | one");
  // Where the number of entries is wrong it is the whole list.
  CHECK(convolution("1, 1 ,1", "0,0", "0,0", "1,1") ==
        "attribute \"strides\" of Convolution must hold 2 numbers, one per spatial axis of \"data\", but holds 3 | 1, "
        "1 ,1");
  CHECK(fault_of("StridedSlice-1", {{f32, {2, 3}}, {i64_, {2}}, {i64_, {2}}},
                 {{"begin_mask", "0, 2"}, {"end_mask", "0,0"}}) ==
        "attribute \"begin_mask\" of StridedSlice must hold 0 and 1, but holds 2 | 2");
  CHECK(fault_of("Interpolate-1", {{f32, {1, 3, 4, 4}}, {i64_, {2}, {8, 8}}}, {{"axes", "2,2"}, {"mode", "nearest"}}) ==
        "attribute \"axes\" of Interpolate must name each axis once, but names axis 2 twice | 2");
  CHECK(fault_of("Interpolate-1", {{f32, {1, 3, 4, 4}}, {i64_, {2}, {8, 8}}}, {{"axes", "2,7"}, {"mode", "nearest"}}) ==
        "attribute \"axes\" of Interpolate names axis 7, but rank 4 has axes -4..3 | 7");
}

TEST_CASE("pads that take away too much are at fault, not the kernel") {
  CHECK(
      convolution("1,1", "0,-9", "0,0", "1,1") ==
      "attribute \"pads_begin\" of Convolution must leave 3 elements of \"data\" for the kernel along spatial axis 1, "
      "but -9 leaves 0 of 8 | -9");
  CHECK(convolution("1,1", "0,0", "-6,0", "1,1") ==
        "attribute \"pads_end\" of Convolution must leave 3 elements of \"data\" for the kernel along spatial axis 0, "
        "but "
        "-6 leaves 2 of 8 | -6");
  CHECK(convolution("1,1", "0,0", "0,0", "1,9") ==
        "Convolution kernel is larger than its padded input along spatial axis 1 (19 > 8) | <layer");
}

TEST_CASE("a range names both ends") {
  const auto gather = [](std::string batch_dims, i64 axis) {
    return fault_of("Gather-8", {{f32, {2, 3}}, {i64_, {2}}, {i64_, {1}, {axis}}},
                    {{"batch_dims", std::move(batch_dims)}});
  };
  CHECK(gather("3", 1) ==
        "attribute \"batch_dims\" of Gather must be in -1..1 for \"data\" [2,3] and \"indices\" [2], but is 3 | 3");
  CHECK(gather("-2", 1) ==
        "attribute \"batch_dims\" of Gather must be in -1..1 for \"data\" [2,3] and \"indices\" [2], but is -2 | -2");
  CHECK(gather("1", 0) == "attribute \"batch_dims\" of Gather must not be more than \"axis\" (0), but is 1 | 1");
  CHECK(fault_of("GatherND-8", {{f32, {2, 3}}, {i64_, {2, 1}}}, {{"batch_dims", "2"}}) ==
        "attribute \"batch_dims\" of GatherND must be in 0..1 for \"data\" [2,3] and \"indices\" [2,1], but is 2 | 2");
  CHECK(fault_of("Unsqueeze-1", {{f32, {2, 3}}, {i64_, {1}, {5}}}, {}) ==
        "input \"axes\" of Unsqueeze names axis 5, but the output of rank 3 has axes -3..2 | <layer");
  CHECK(fault_of("Pad-1", {{f32, {1, 4}}, {i64_, {2}, {0, 4}}, {i64_, {2}, {0, 0}}}, {{"pad_mode", "reflect"}}) ==
        "element 1 of input \"pads_begin\" of Pad must be 3 or less in this pad_mode for axis 1 of [1,4], but is 4 | "
        "<layer");
}

TEST_CASE("a port or an attribute goes by its own name") {
  CHECK(fault_of("DFT-7", {{f32, {1, 8, 3}}, {i64_, {1}, {1}}}, {}) ==
        "the last dim of input \"data\" of DFT must be 2 (real and imaginary part), but its shape is [1,8,3] | <layer");
  CHECK(fault_of("ROIPooling-2", {{f32, {1, 3, 8, 8}}, {f32, {4, 5}}}, {{"spatial_scale", "1"}}) ==
        "attribute \"pooled_h\" of ROIPooling is required | <layer");
  CHECK(fault_of("Broadcast-3", {{f32, {2, 3}}, {i64_, {2}, {4, 3}}}, {{"mode", "numpy"}}) ==
        "dim 0 of input \"data\" [2,3] of Broadcast must be 1 or 4, as \"target_shape\" asks for 4 | <layer");
}

TEST_CASE("each string lies within the symbols") {
  const auto pack = [](std::vector<i64> begins, std::vector<i64> ends) {
    return fault_of(
        "StringTensorPack-15",
        {{i64_, {2}, std::move(begins)}, {i64_, {2}, std::move(ends)}, {ElementType::u8, {3}, {65, 66, 67}}}, {});
  };
  CHECK(
      pack({0, 2}, {2, 1}) ==
      "element 1 of input \"ends\" of StringTensorPack must be in 2..3, from where the string begins to the number of "
      "symbols, but is 1 | <layer");
  CHECK(pack({0, 4}, {2, 4}) == "element 1 of input \"begins\" of StringTensorPack must be in 0..3, but is 4 | <layer");
  CHECK(pack({0, 2}, {2, 3}).empty());
}

TEST_CASE("an attribute out of its domain has nothing to do with the inputs") {
  std::vector<std::string> notes;
  const auto message = fault_of("GroupNormalization-12", {{f32, {1, 4, 2}}, {f32, {4}}, {f32, {4}}},
                                {{"num_groups", "0"}, {"epsilon", "1"}}, &notes);
  CHECK(message == "attribute \"num_groups\" of GroupNormalization must be positive, but is 0 | 0");
  CHECK(notes.empty());
  fault_of("GroupNormalization-12", {{f32, {1, 4, 2}}, {f32, {4}}, {f32, {4}}}, {{"num_groups", "3"}, {"epsilon", "1"}},
           &notes);
  CHECK(notes.size() == 1);  // the channels of "data"
}

namespace {

/// A TensorIterator that slices x[2,5,3] along axis 1, with a state that begins as y[2,1,3].
std::string iterator_fault(const std::string& slices, const std::string& back_edge = R"(from-layer="3" to-layer="1")") {
  SmallModel m;
  const auto x = m.graph.parameter("x", f32, {2, 5, 3}), y = m.graph.parameter("y", f32, {2, 1, 3});
  spec::GraphText body(m.bin);
  const auto part = body.parameter("part", f32, {2, 1, 3}), state = body.parameter("state", f32, {2, 1, 3});
  body.result("sum", body.add("add", "Add-1", {part, state}));
  const auto map = R"(<port_map><input external_port_id="0" internal_layer_id="0" )" + slices + R"(/>
<input external_port_id="1" internal_layer_id="1"/><output external_port_id="2" internal_layer_id="3" axis="1"/></port_map>
<back_edges><edge )" +
                   back_edge + "/></back_edges>";
  m.graph.result("z",
                 m.graph.layer("loop", "TensorIterator", "opset1", "", {x, y}, spec::output_port(2, f32),
                               map + "<body>" + body.text() + "</body>"),
                 2);
  return told(m.check());
}

}  // namespace

TEST_CASE("a port map's own entries are marked") {
  CHECK(iterator_fault(R"(axis="1" start="0" end="-1" stride="1" part_size="1")").empty());
  CHECK(
      iterator_fault(R"(axis="5")") ==
      "the port map of TensorIterator slices input \"inputs[0]\" [2,5,3] along axis 5, but rank 3 has axes -3..2 | 5");
  CHECK(iterator_fault(R"(axis="1" start="7")") ==
        "\"start\" of the port map of TensorIterator must be in -6..5 for axis 1 of input \"inputs[0]\" [2,5,3], but "
        "is 7 "
        "| 7");
  CHECK(
      iterator_fault(R"(axis="1" end="-9")") ==
      "\"end\" of the port map of TensorIterator must be in -6..5 for axis 1 of input \"inputs[0]\" [2,5,3], but is -9 "
      "| -9");
  CHECK(
      iterator_fault(R"(axis="1" start="0" end="-1" stride="-1")") ==
      "\"start\" of the port map of TensorIterator must not be before \"end\", as the stride is -1, but they are 0 and "
      "-1 for axis 1 of input \"inputs[0]\" [2,5,3] | 0");
  CHECK(iterator_fault(R"(axis="1" stride="0")") == "\"stride\" of the port map must not be 0 | 0");
  CHECK(iterator_fault(R"(axis="1" part_size="-2")") ==
        "\"part_size\" of the port map must be positive, but is -2 | -2");
}

TEST_CASE("a back edge leads to a Parameter that begins with an input as it is") {
  CHECK(iterator_fault(R"(axis="1")", R"(from-layer="2" to-layer="1")") ==
        "the back edge must name a result, but layer 2 \"add\" of the body has type Add; its only result is 3 | 2");
  CHECK(
      iterator_fault(R"(axis="1")", R"(from-layer="3" to-layer="2")") ==
      "the back edge must name a parameter, but layer 2 \"add\" of the body has type Add; its parameters are 0 and 1 | "
      "2");
}

TEST_CASE("a body without layers is not taken for the model") {
  SmallModel m;
  const auto x = m.graph.parameter("x", f32, {2, 3});
  m.graph.result("y",
                 m.graph.layer("loop", "TensorIterator", "opset1", "", {x}, spec::output_port(1, f32),
                               "<port_map/><back_edges/><body><layers/><edges/></body>"),
                 1);
  const auto c = m.check();
  std::string warning;
  for (const auto& d : c.diagnostics.all())
    if (d.code == Code::W0905) warning += d.message;
  CHECK(warning == "the body of \"loop\" has no layers");
}
