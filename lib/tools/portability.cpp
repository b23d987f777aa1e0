// The list of ops/NOTES.md as data: where the specification and the CPU plugin of OpenVINO 2026.4 differ in results.
#include "tools/portability.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.hpp"
#include "model/report.hpp"

namespace ovir::tools {
namespace {

struct Candidate {
  const Node& node;
  const std::vector<Fact>& outputs;
  std::vector<Fact> inputs;
  bool turned;      ///< see SquareWeights
  bool compressed;  ///< see has_compressed_weights
  ElementType type() const { return inputs.empty() ? ElementType::dynamic : inputs[0].type; }
  std::string attribute(std::string_view name) const { return attribute_of(node, name); }
};

/// Square constants that MatMul uses as they are and transposed.
class SquareWeights {
 public:
  /// Whether the constant at the second input was used the other way round before.
  bool turned(const Model& model, const Node& node) {
    if (!node.op || node.op->type != "MatMul" || node.inputs.size() != 2) return false;
    const auto* weights = constant_at(model, node.inputs[1]);
    if (!weights) return false;
    const auto& shape = weights->shape();
    const auto rank = shape.rank();
    if (rank < 2 || shape[rank - 1] != shape[rank - 2] || shape[rank - 1] < 2) return false;
    const bool transposed = attribute_of(node, "transpose_b") == "true";
    return transposed_.try_emplace(weights->bytes(), transposed).first->second != transposed;
  }

 private:
  /// The constant, perhaps converted, that feeds an input; null where none does.
  static const Tensor* constant_at(const Model& model, ValueRef from) {
    if (from.node < 0) return nullptr;
    const auto* node = &model[from.node];
    if (node->op && node->op->type == "Convert") node = &model[node->inputs.front().node];
    return node->constant ? &node->constant : nullptr;
  }

  std::map<const std::byte*, bool> transposed_;  ///< by the bytes of the constant: as its first MatMul has it
};

/// Whether a MatMul multiplies numbers that nothing quantized by a constant of 8 bits or fewer.
bool has_compressed_weights(const Model& model, const Node& node) {
  constexpr auto kSmall = set_of(ElementType::i8, ElementType::u8, ElementType::i4, ElementType::u4);
  constexpr std::string_view kBetween[] = {"Convert", "Multiply", "Reshape", "Subtract", "Transpose"};
  if (!node.op || node.op->type != "MatMul" || node.inputs.size() != 2) return false;
  const auto data = node.inputs[0].node;
  if (data < 0 || (model[data].op && model[data].op->type == "FakeQuantize")) return false;
  for (auto from = node.inputs[1].node; from >= 0; from = model[from].inputs.front().node) {
    if (model[from].inputs.empty()) return model[from].constant && contains(kSmall, model[from].constant.type());
    if (!model[from].op || std::ranges::find(kBetween, model[from].op->type) == std::end(kBetween)) return false;
  }
  return false;
}

struct Difference {
  std::string_view type;
  bool (*applies)(const Candidate&);
  std::string_view what;  ///< what the plugin does, what the specification says
};

bool always(const Candidate&) { return true; }
template <TypeSet set>
bool of_types(const Candidate& layer) {
  return contains(set, layer.type());
}
/// Whether the second input may name the last of several axes.
bool along_last_axis(const Candidate& layer) {
  if (layer.inputs.size() < 2) return false;
  const auto& shape = layer.inputs[0].shape;
  if (!shape.has_rank() || !layer.inputs[1].value) return true;
  const auto axis = to_i64(layer.inputs[1].value).front();
  return shape.rank() > 1 && (axis == -1 || axis == shape.rank() - 1);
}
/// Whether indices of data that only a run knows count from the end, before the version that says so.
bool counts_from_end_early(const Candidate& layer) {
  if (layer.node.version->since >= 8 || layer.outputs[0].value || !layer.inputs[1].value) return false;
  return std::ranges::any_of(to_i64(layer.inputs[1].value), [](i64 index) { return index < 0; });
}
bool nms_eta(const Candidate& layer) { return parse_number<double>(layer.attribute("nms_eta")).value_or(1) != 1; }
bool adds_and_drops_axes(const Candidate& layer) {
  const auto any = [&](std::string_view mask) { return layer.attribute(mask).find('1') != std::string::npos; };
  return any("new_axis_mask") && any("shrink_axis_mask");
}
bool is_compressed(const Candidate& layer) { return layer.compressed; }
bool turns_weights(const Candidate& layer) { return layer.turned; }
/// The last factor of HSwish as f16 has it: 0.16663 instead of 1/6.
bool by_a_sixth_in_f16(const Candidate& layer) {
  constexpr double kSixth = 0x1.554p-3;
  return layer.type() == ElementType::f16 && std::any_of(layer.inputs.begin(), layer.inputs.end(), [](const Fact& f) {
           return f.value && f.value.size() == 1 && to_f64(f.value).front() == kSixth;
         });
}
/// Pads of the file that differ from those which the output_shape asks for: half of what is too much, rounded down.
bool pads_of_the_file(const Candidate& layer) {
  const auto mode = layer.attribute("auto_pad");
  return layer.inputs.size() > 2 && (mode == "explicit" || mode == "valid");
}
/// Lines are resampled with the filter that antialias widens where there become fewer of them.
bool shrinks_with_antialias(const Candidate& layer) {
  if (layer.attribute("mode") != "linear" || layer.attribute("antialias") != "true") return false;
  const auto &from = layer.inputs[0].shape, &to = layer.outputs[0].shape;
  if (!from.is_static() || !to.is_static() || from.rank() != to.rank()) return true;
  for (i64 i = 0; i < from.rank(); ++i)
    if (to[i].max < from[i].min) return true;
  return false;
}
/// Whether an input is cut into parts that do not begin at its first element, or at its last one backwards.
bool begins_inside(const Candidate& layer) {
  const auto is_inside = [](const PortMap& entry) {
    return entry.direction == PortMap::Direction::input && entry.axis && entry.start != (entry.stride > 0 ? 0 : -1);
  };
  return std::ranges::any_of(layer.node.layer->bodies,
                             [&](const auto& body) { return std::ranges::any_of(body.port_map, is_inside); });
}
/// Means of neighbours, stored in integers.
bool resamples_integers(const Candidate& layer) {
  return contains(kInteger, layer.type()) && layer.attribute("mode") != "nearest";
}
bool has_no_seeds(const Candidate& layer) {
  const auto is_zero = [&](std::string_view seed) {
    return parse_number<double>(layer.attribute(seed)).value_or(0) == 0;
  };
  return is_zero("global_seed") && is_zero("op_seed");
}
bool other_gate_order(const Candidate& layer) {
  const auto order = layer.attribute("weights_format");
  return !order.empty() && order != "fico";
}
constexpr auto k64 = set_of(ElementType::i64, ElementType::u64, ElementType::f64);
constexpr auto kBytes = set_of(ElementType::i8, ElementType::u8);

constexpr std::string_view kIn32Bits = "the plugin computes 64-bit numbers in 32 bits";
constexpr std::string_view kSaturates = "the plugin saturates 8-bit integers; by the specification they wrap around";
constexpr std::string_view kNaNIsGreater = "in the plugin a comparison with NaN is true; by IEEE 754 it is false",
                           kNaNIsZero = "the plugin turns NaN into the lower bound; here it stays NaN";
constexpr std::string_view kPads =
    "the plugin takes pads_begin and pads_end of the file; by the specification they follow from output_shape";
constexpr std::string_view kHalves =
    "the plugin rounds results halfway between two integers to the even one; here they are rounded away from 0";
constexpr std::string_view kNaN = "with NaN the plugin's result depends on the order of the operands; it is NaN here";

constexpr Difference kDifferences[] = {
    {"Abs", of_types<k64>, kIn32Bits},
    {"Add", of_types<k64>, kIn32Bits},
    {"Add", of_types<kBytes>, kSaturates},
    {"Clamp", of_types<kFloat>, kNaNIsZero},
    {"Clamp", of_types<set_of(ElementType::u8)>,
     "the plugin truncates a fractional min; by the specification it is rounded up"},
    {"ConvolutionBackpropData", pads_of_the_file, kPads},
    {"CumSum", of_types<k64>, kIn32Bits},
    {"Divide", of_types<k64>, kIn32Bits},
    {"Divide", of_types<kInteger>,
     "the plugin truncates integer quotients whatever m_pythondiv says; by the specification they are floored"},
    {"Exp", of_types<kFloat>, "Exp(NaN) is not NaN in the plugin"},
    {"FloorMod", of_types<k64>, kIn32Bits},
    {"Gather", counts_from_end_early,
     "for negative indices of this version the plugin gives zeros or wrong numbers; here they count from the end"},
    {"GenerateProposals", nms_eta, "OpenVINO refuses an nms_eta other than 1"},
    {"Greater", of_types<kFloat>, kNaNIsGreater},
    {"GreaterEqual", of_types<kFloat>, kNaNIsGreater},
    {"GroupConvolutionBackpropData", pads_of_the_file, kPads},
    {"I420toBGR", of_types<kInteger>, kHalves},
    {"I420toRGB", of_types<kInteger>, kHalves},
    {"Interpolate", resamples_integers, kHalves},
    {"Interpolate", shrinks_with_antialias, "the plugin ignores antialias in mode \"linear\""},
    {"LSTMCell", other_gate_order, "OpenVINO ignores weights_format and takes the gates in the order fico"},
    {"MatMul", is_compressed,
     "the plugin quantizes the data to 8 bits too (results about 1 % apart), unless DYNAMIC_QUANTIZATION_GROUP_SIZE is "
     "0; here they stay as they are"},
    {"MatMul", turns_weights,
     "the plugin multiplies by a square constant the same way wherever it is used; an earlier MatMul has another "
     "transpose_b"},
    {"Maximum", of_types<k64>, kIn32Bits},
    {"Maximum", of_types<kFloat>, kNaN},
    {"Minimum", of_types<k64>, kIn32Bits},
    {"Minimum", of_types<kFloat>, kNaN},
    {"Mod", of_types<k64>, kIn32Bits},
    {"MatrixNms", always,
     "the plugin leaves the count of an image without boxes unwritten, and fails where no image has any"},
    {"MulticlassNms", nms_eta,
     "the plugin applies the lowered threshold (nms_eta) to all boxes; by the specification each box is held against "
     "the threshold at its turn"},
    {"Multinomial", always, "the plugin draws other random numbers than the specification's generator"},
    {"Multiply", of_types<k64>, kIn32Bits},
    {"Multiply", of_types<kBytes>, kSaturates},
    {"Multiply", by_a_sixth_in_f16,
     "where the product is an HSwish the plugin takes 1/6 for its factor, not the f16 number in the file (0.02 % "
     "less)"},
    {"Negative", of_types<k64>, kIn32Bits},
    {"NV12toBGR", of_types<kInteger>, kHalves},
    {"NV12toRGB", of_types<kInteger>, kHalves},
    {"NonMaxSuppression", always,
     "the plugin treats scores that equal a threshold differently, and never cuts soft suppression short"},
    {"NormalizeL2",
     [](const Candidate& l) { return l.inputs.size() > 1 && l.inputs[1].value && l.inputs[1].value.size() == 0; },
     "with no axes the plugin computes x / sqrt(x*x + eps); by the specification the result is 1"},
    {"Power", of_types<k64>, kIn32Bits},
    {"RandomUniform", has_no_seeds,
     "with both seeds 0 OpenVINO draws other numbers in every run; ovir draws the same ones"},
    {"RandomUniform",
     [](const Candidate& l) {
       return !l.outputs.empty() &&
              contains(set_of(ElementType::f16, ElementType::bf16, ElementType::f64), l.outputs[0].type);
     },
     "the plugin draws f16, bf16 and f64 numbers in f32"},
    {"ReduceMax", of_types<k64>, kIn32Bits},
    {"ReduceMax", of_types<kFloat>, kNaN},
    {"ReduceMin", of_types<k64>, kIn32Bits},
    {"ReduceMin", of_types<kFloat>, kNaN},
    {"ReduceProd", of_types<k64>, kIn32Bits},
    {"ReduceSum", of_types<k64>, kIn32Bits},
    {"Relu", of_types<kFloat>, kNaNIsZero},
    {"SquaredDifference", of_types<k64>, kIn32Bits},
    {"SquaredDifference", of_types<kBytes>,
     "the plugin saturates inside the difference of 8-bit integers; by the specification the result wraps around"},
    {"StridedSlice", adds_and_drops_axes,
     "the plugin reads the wrong elements where new_axis_mask and shrink_axis_mask are both set"},
    {"Subtract", of_types<k64>, kIn32Bits},
    {"Subtract", of_types<kBytes>, kSaturates},
    {"TensorIterator", begins_inside, "the plugin takes parts of an input from its edge on, whatever start says"},
    {"Unique", along_last_axis, "the plugin misses equal slices along the last axis"},
};

/// An attribute with a default that OpenVINO's reader does not apply.
struct LeftOut {
  std::string_view type, attribute;
  std::string_view becomes;  ///< what it is in OpenVINO; empty: OpenVINO does not read the layer
};

constexpr LeftOut kLeftOut[] = {
    {"Bucketize", "output_type", ""},
    {"CTCLoss", "ctc_merge_repeated", "false"},
    {"Col2Im", "dilations", ""},
    {"Col2Im", "pads_begin", ""},
    {"Col2Im", "pads_end", ""},
    {"Col2Im", "strides", ""},
    {"DeformableConvolution", "deformable_group", ""},
    {"DeformableConvolution", "group", ""},
    {"DepthToSpace", "block_size", ""},
    {"PSROIPooling", "mode", ""},
    {"RegionYolo", "do_softmax", "false"},
    {"ShapeOf", "output_type", ""},
    {"Softmax", "axis", "0"},
    {"SpaceToDepth", "block_size", ""},
};

/// What a layer's missing attributes mean to OpenVINO.
void check_left_out(const Model& model, const Node& node, Diagnostics& diagnostics) {
  for (const auto& [type, attribute, becomes] : kLeftOut) {
    if (type != node.op->type || node.layer->attribute(attribute)) continue;
    const auto* def = node.version->attrs.find(attribute);
    if (!def) continue;
    const auto usual = node.version->attrs.default_of(*def).value_or("");
    const auto what = becomes.empty()
                          ? fmt::format("OpenVINO does not read the layer without \"{}\"", attribute)
                          : fmt::format("OpenVINO takes {} for \"{}\", which is left out", becomes, attribute);
    report(diagnostics, model, *node.layer,
           diagnose(Code::N0902, usual.empty()
                                     ? fmt::format("{}: {}", type, what)
                                     : fmt::format("{}: {}; by the specification it is {} then", type, what, usual)));
  }
}

}  // namespace

void check_portability(const Model& model, const Facts& facts, Diagnostics& diagnostics) {
  SquareWeights weights;
  for (std::size_t i = 0; i < facts.outputs.size(); ++i) {
    const auto& node = model.nodes[i];
    if (facts.unknown[i]) continue;
    Candidate layer{node, facts.outputs[i], {}, weights.turned(model, node), has_compressed_weights(model, node)};
    for (const auto& v : node.inputs) layer.inputs.push_back(facts.of(v));
    // What follows from constants is computed once, when the model is read.
    const bool known = !layer.outputs.empty() && std::all_of(layer.outputs.begin(), layer.outputs.end(),
                                                             [](const Fact& f) { return static_cast<bool>(f.value); });
    check_left_out(model, node, diagnostics);
    for (const auto& difference : kDifferences) {
      if (known || difference.type != node.op->type || !difference.applies(layer)) continue;
      auto d = diagnose(Code::N0902, fmt::format("{}: {}", node.op->type, difference.what));
      report(diagnostics, model, *node.layer, std::move(d));
    }
    for (std::size_t b = 0; b < node.bodies.size() && i < facts.bodies.size() && b < facts.bodies[i].size(); ++b)
      if (!facts.bodies[i][b].outputs.empty()) check_portability(*node.bodies[b], facts.bodies[i][b], diagnostics);
  }
}

}  // namespace ovir::tools
