#include "op/lookup.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "op/known_types.hpp"

namespace ovir {
namespace {

/// The opset that a layer's `version` word means for its type; nothing for a set that is not OpenVINO's.
std::optional<int> opset_number(std::string_view type, std::string_view version) {
  const auto is_one_of = [&](const auto& list) { return std::any_of(list.begin(), list.end(), [&](auto t) { return equals_ignoring_case(t, type); }); };
  static constexpr std::array<std::string_view, 3> second = {"MVN", "ROIPooling", "ReorgYolo"};
  static constexpr std::array<std::string_view, 8> sixth = {
      "ExperimentalDetectronDetectionOutput", "ExperimentalDetectronGenerateProposalsSingleImage", "ExperimentalDetectronPriorGridGenerator",
      "ExperimentalDetectronROIFeatureExtractor", "ExperimentalDetectronTopKROIs", "GRUCell", "RNNCell", "Proposal"};
  if (version == "opset1" && is_one_of(second)) return 2;
  if ((version == "experimental" || version == "extension") && is_one_of(sixth)) return 6;
  if (!version.starts_with("opset")) return std::nullopt;
  const auto digits = version.substr(5);
  if (digits.empty() || digits.front() < '1' || digits.front() > '9') return std::nullopt;
  const auto n = parse_number<int>(digits);
  return n && *n <= kNewestOpset ? n : std::nullopt;
}

[[noreturn]] void fail_word(Code code, std::string message, std::string_view attribute, std::string meant) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  if (!meant.empty()) d.remedies.push_back({{Change::What::layer_attribute, std::string(attribute), std::move(meant)}});
  fail(std::move(d));
}

[[noreturn]] void fail_unknown_type(const Registry& registry, std::string_view type) {
  std::vector<std::string_view> names;
  for (const auto* op : registry.ops) names.push_back(op->type);
  for (const auto& known : known_types()) names.push_back(known.type);
  const auto near = nearest(type, names);
  fail_word(Code::E0602, fmt::format("there is no operation type \"{}\"{}", printable(type), near ? fmt::format("; did you mean {}?", *near) : ""), "type", std::string(near.value_or("")));
}

}  // namespace

Operation find_operation(const Registry& registry, std::string_view type, std::string_view version) {
  const auto* op = registry.find(type);
  const auto* known = known_type(type);
  const auto opset = opset_number(type, version);
  if (!opset) {
    if (op || known)  // of one version only, the word can but mean that
      fail_word(Code::E0603, fmt::format("\"{}\" is not an operation set that ovir reads (opset1 to opset{}), so {} cannot be looked up", printable(version), kNewestOpset, type), "version",
                op && op->versions.size() == 1 ? fmt::format("opset{}", op->versions.front().since) : "");
    fail(Code::E0603, "{} comes from \"{}\", an extension that ovir does not have", printable(type), printable(version));
  }
  if (!op && !known) fail_unknown_type(registry, type);
  if (known && *opset < known->since)
    fail_word(Code::E0603, fmt::format("{} does not hold {}: it came with opset{}", version, type, known->since), "version", fmt::format("opset{}", known->since));
  if (known && known->until && *opset > known->until)
    fail_word(Code::E0603, fmt::format("{} does not hold {}: opset{} was the last that does", version, type, known->until), "version", fmt::format("opset{}", known->until));
  if (!op) fail(Code::E0605, "ovir does not have the operation {} yet", known->type);
  const auto* found = version_in(*op, *opset);
  if (!found) fail(Code::E0605, "ovir does not have {} as {} defines it yet", op->type, version);
  return {op, found};
}

}  // namespace ovir
