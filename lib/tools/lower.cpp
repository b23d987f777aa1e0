#include "tools/lower.hpp"

#include <algorithm>
#include <iterator>

#include "model/report.hpp"
#include "op/known_types.hpp"
#include "op/lookup.hpp"
#include "ovir.hpp"
#include "tools/releases.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {
namespace {

bool has(const Node& node, std::string_view attribute, std::string_view value) {
  return attribute_of(node, attribute) == value;
}

/// The value of an input that is a Constant, else nothing.
std::optional<std::vector<i64>> constant(const Model& model, const Node& node, std::size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].node < 0) return std::nullopt;
  const auto& value = model[node.inputs[input].node].constant;
  if (!value || value.type() == ElementType::string) return std::nullopt;
  return to_i64(value.unpacked());
}

bool is_not_negative(const Model& model, const Node& node, std::size_t input) {
  const auto values = constant(model, node, input);
  return values && std::all_of(values->begin(), values->end(), [](i64 v) { return v >= 0; });
}

/// Older versions of the scatters only replace, and their indices don't count from the end.
bool writes_from_the_front(const Model& model, const Node& node) {
  return has(node, "reduction", "none") && is_not_negative(model, node, 1);
}

bool is_boolean(const Model& model, const Node& node) {
  if (node.inputs.empty() || node.inputs[0].node < 0) return false;
  const auto& from = node.inputs[0];
  const auto& ports = model[from.node].layer->outputs;
  return from.port < std::ssize(ports) && ports[from.port].declared_type == ElementType::boolean;
}

/// An older version that computes the same where the condition holds.
struct Lowering {
  std::string_view type;
  int version;                  ///< the opset that introduced the version the layer has
  std::string_view older_type;  ///< mostly the same
  int older;                    ///< an opset that holds the older version
  bool (*same)(const Model&, const Node&);
  std::string_view attribute = {}, becomes = {};  ///< what else changes; empty: nothing
};

bool rounds_as_torch(const Node& node) { return has(node, "rounding_type", "ceil_torch"); }

/// Whether the lengths of the planes are declared. Where "ceil" gives others than "ceil_torch", the change is refused
/// then, because they contradict what the layer declares; where it does not, the windows are the same.
bool declares_planes(const Model&, const Node& node) {
  const auto& ports = node.layer->outputs;
  if (ports.empty() || !ports[0].declared_shape || !ports[0].declared_shape->has_rank()) return false;
  const auto& shape = *ports[0].declared_shape;
  if (shape.rank() < 3) return false;
  for (i64 axis = 2; axis < shape.rank(); ++axis)
    if (!shape[axis].is_static()) return false;
  return true;
}

constexpr Lowering kLowerings[] = {
    {"AvgPool", 14, "AvgPool", 1, [](const Model&, const Node& n) { return !rounds_as_torch(n); }},
    {"AvgPool", 14, "AvgPool", 1, declares_planes, "rounding_type", "ceil"},
    {"AvgPool", 16, "AvgPool", 14,
     [](const Model&, const Node& n) {
       return attribute_of(n, "dilations").find_first_not_of("1,") == std::string::npos;
     }},
    {"BitwiseAnd", 13, "LogicalAnd", 1, is_boolean},
    {"BitwiseNot", 13, "LogicalNot", 1, is_boolean},
    {"BitwiseOr", 13, "LogicalOr", 1, is_boolean},
    {"BitwiseXor", 13, "LogicalXor", 1, is_boolean},
    {"Broadcast", 3, "Broadcast", 1, [](const Model&, const Node& n) { return !has(n, "mode", "bidirectional"); }},
    {"DeformableConvolution", 8, "DeformableConvolution", 1,
     [](const Model&, const Node& n) { return n.inputs.size() == 3 && has(n, "bilinear_interpolation_pad", "false"); }},
    // A default_index of -1 means the same in both texts, but 2022.3 refuses it in version 3.
    {"EmbeddingBagOffsets", 15, "EmbeddingBagOffsetsSum", 3,
     [](const Model& m, const Node& n) {
       return has(n, "reduction", "sum") && (n.inputs.size() < 4 || is_not_negative(m, n, 3));
     }},
    {"EmbeddingBagPacked", 15, "EmbeddingBagPackedSum", 3,
     [](const Model&, const Node& n) { return has(n, "reduction", "sum"); }},
    // Version 8 counts negative indices from the end, 7 takes them for out of range.
    {"Gather", 8, "Gather", 7, [](const Model& m, const Node& n) { return is_not_negative(m, n, 1); }},
    {"Gather", 7, "Gather", 1, [](const Model&, const Node& n) { return has(n, "batch_dims", "0"); }},
    {"Gelu", 7, "Gelu", 2, [](const Model&, const Node& n) { return has(n, "approximation_mode", "erf"); }},
    {"MaxPool", 14, "MaxPool", 8, [](const Model&, const Node& n) { return !rounds_as_torch(n); }},
    {"MaxPool", 14, "MaxPool", 8, declares_planes, "rounding_type", "ceil"},
    {"MulticlassNms", 9, "MulticlassNms", 8, [](const Model&, const Node& n) { return n.inputs.size() == 2; }},
    // Version 1 leaves out the indices that are out of range, 0 to depth - 1.
    {"OneHot", 16, "OneHot", 1,
     [](const Model&, const Node& n) { return !has(n, "negative_indices_mode", "normalize"); }},
    {"Pad", 12, "Pad", 1,
     [](const Model& m, const Node& n) { return is_not_negative(m, n, 1) && is_not_negative(m, n, 2); }},
    {"ROIAlign", 9, "ROIAlign", 3, [](const Model&, const Node& n) { return has(n, "aligned_mode", "asymmetric"); }},
    {"ScatterElementsUpdate", 12, "ScatterElementsUpdate", 3, writes_from_the_front},
    {"ScatterNDUpdate", 15, "ScatterNDUpdate", 4, writes_from_the_front},
    {"ShapeOf", 3, "ShapeOf", 1, [](const Model&, const Node& n) { return has(n, "output_type", "i64"); }},
    {"Softmax", 8, "Softmax", 1, [](const Model&, const Node& n) { return !attribute_of(n, "axis").starts_with('-'); }},
    {"Squeeze", 15, "Squeeze", 1, [](const Model&, const Node& n) { return has(n, "allow_axis_skip", "false"); }},
    {"TopK", 11, "TopK", 3, [](const Model&, const Node& n) { return has(n, "stable", "false"); }},
};

bool reads(std::string_view release, std::string_view type, int set) { return release_of(type, set) <= release; }

/// The newest set up to `set` that holds this version and that `release` reads; 0 where there is none.
int readable_set(std::string_view release, const OpDef& op, const Version& version, int set) {
  for (int s = set; s >= version.since; --s)
    if (version_in(op, s) == &version && reads(release, op.type, s)) return s;
  return 0;
}

}  // namespace

std::vector<Remedy> lowered(const Model& model, const Node& node, std::string_view release) {
  if (!node.op || !node.version) return {};
  const auto* op = node.op;
  const auto* version = node.version;
  Remedy others;  // changes that the older versions ask for
  for (int set = kNewestOpset;;) {
    if (const int readable = readable_set(release, *op, *version, set)) {
      Remedy remedy{{Change::What::layer_attribute, "version", fmt::format("opset{}", readable)}};
      if (op != node.op) remedy.push_back({Change::What::layer_attribute, "type", std::string(op->type)});
      remedy.insert(remedy.end(), others.begin(), others.end());
      return {std::move(remedy)};
    }
    const auto* const row = std::find_if(std::begin(kLowerings), std::end(kLowerings), [&](const Lowering& l) {
      return l.type == op->type && l.version == version->since && l.same(model, node);
    });
    if (row == std::end(kLowerings)) return {};
    if (!row->attribute.empty())
      others.push_back({Change::What::attribute, std::string(row->attribute), std::string(row->becomes)});
    op = operations().find(row->older_type);
    version = op ? version_in(*op, row->older) : nullptr;
    if (!version) return {};
    set = kNewestOpset;
  }
}

void check_release(const Model& model, std::string_view release, Diagnostics& diagnostics) {
  for (const auto& demand : demands(model)) {
    if (demand.release <= release) continue;
    const auto since = demand.release == kNoRelease ? fmt::format("no release up to {} does", kNewestRelease)
                                                    : fmt::format("{} is the first that does", demand.release);
    auto d = diagnose(Code::E0606, fmt::format("OpenVINO {} does not read {}; {}", release, demand.what, since));
    if (!demand.node) {
      const std::string_view text = model.graph->source->text;
      const auto tag = xml::root_tag(text);
      const auto version = xml::find_attribute(text, tag, "version");
      d.at = version ? SourceLoc{model.graph->source, version->value.begin, version->value.end - version->value.begin}
                     : SourceLoc{model.graph->source, tag, 1};
      diagnostics.add(std::move(d));
      continue;
    }
    if (!parse_element_type(demand.what)) d.remedies = lowered(*demand.model, *demand.node, release);
    report(diagnostics, *demand.model, *demand.node->layer, std::move(d));
  }
}

std::optional<std::string> differing_output(const std::shared_ptr<const Model>& a,
                                            const std::shared_ptr<const Model>& b, std::span<const Tensor> inputs) {
  const auto results = [&](const std::shared_ptr<const Model>& model) {
    Diagnostics unused;
    auto session = compile(model, infer(*model, {}, unused), {.tier = Tier::reference});
    return session.run(inputs);
  };
  const auto of_a = results(a), of_b = results(b);
  for (int k = 0; k < std::ssize(of_a); ++k) {
    const bool alike = k < std::ssize(of_b) && of_a[k].type() == of_b[k].type() && of_a[k].shape() == of_b[k].shape();
    const bool same =
        alike && (of_a[k].type() == ElementType::string
                      ? std::equal(of_a[k].data<std::string_view>(), of_a[k].data<std::string_view>() + of_a[k].size(),
                                   of_b[k].data<std::string_view>())
                      : std::equal(of_a[k].bytes(), of_a[k].bytes() + of_a[k].byte_size(), of_b[k].bytes()));
    if (!same) return a->result_name(k);
  }
  return std::nullopt;
}

}  // namespace ovir::tools
