#include "op/lookup.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "op/known_types.hpp"

namespace ovir {

std::optional<int> opset_number(std::string_view type, std::string_view version) {
  const auto is_one_of = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](auto t) { return equals_ignoring_case(t, type); });
  };
  static constexpr std::array<std::string_view, 3> second = {"MVN", "ROIPooling", "ReorgYolo"};
  static constexpr std::array<std::string_view, 8> sixth = {"ExperimentalDetectronDetectionOutput",
                                                            "ExperimentalDetectronGenerateProposalsSingleImage",
                                                            "ExperimentalDetectronPriorGridGenerator",
                                                            "ExperimentalDetectronROIFeatureExtractor",
                                                            "ExperimentalDetectronTopKROIs",
                                                            "GRUCell",
                                                            "RNNCell",
                                                            "Proposal"};
  if (version == "opset1" && is_one_of(second)) return 2;
  if ((version == "experimental" || version == "extension") && is_one_of(sixth)) return 6;
  if (!version.starts_with("opset")) return std::nullopt;
  const auto digits = version.substr(5);
  if (digits.empty() || digits.front() < '1' || digits.front() > '9') return std::nullopt;
  const auto n = parse_number<int>(digits);
  return n && *n <= kNewestOpset ? n : std::nullopt;
}

namespace {

/// "opset18" and later ones.
bool is_newer(std::string_view version) {
  const auto n = version.starts_with("opset") ? parse_number<int>(version.substr(5)) : std::nullopt;
  return n && *n > kNewestOpset;
}

[[noreturn]] void fail_word(Code code, std::string message, std::string_view attribute,
                            const std::vector<std::string>& meant) {
  auto d = diagnose(code, std::move(message));
  for (const auto& word : meant) d.remedies.push_back({{Change::What::layer_attribute, std::string(attribute), word}});
  fail(std::move(d));
}

[[noreturn]] void fail_unknown_type(const Registry& registry, std::string_view type) {
  std::vector<std::string_view> names;  // of what ovir has first: it may spell a name in another case
  for (const auto* op : registry.ops) names.push_back(op->type);
  for (const auto* op : registry.ops)
    if (!op->alias.empty()) names.push_back(op->alias);
  for (const auto& known : known_types()) names.push_back(known.type);
  std::vector<std::string> meant;
  for (auto near = nearest(type, names); near && meant.size() < 3; near = nearest(type, names)) {
    meant.emplace_back(*near);
    std::erase_if(names, [&](std::string_view name) { return equals_ignoring_case(name, meant.back()); });
  }
  fail_word(Code::E0602,
            fmt::format("unknown operation type \"{}\"{}", printable(type),
                        meant.empty() ? "" : fmt::format("; did you mean {}?", meant.front())),
            "type", meant);
}

/// The sets that brought the versions of an operation, the newest first: a set that does not exist is more likely one
/// of the future than one of the past.
std::vector<std::string> sets_of(const OpDef& op) {
  std::vector<std::string> sets;
  for (auto version = op.versions.rbegin(); version != op.versions.rend(); ++version)
    sets.push_back(fmt::format("opset{}", version->since));
  return sets;
}

}  // namespace

Operation find_operation(const Registry& registry, std::string_view type, std::string_view version) {
  if (const auto* own = registry.find_extension(type, version)) return {own, &own->versions.back()};
  const auto* op = registry.find(type);
  const auto* known = known_type(type);
  const auto opset = opset_number(type, version);
  if (!opset) {
    if (op || known)
      fail_word(
          Code::E0603,
          fmt::format("unknown operation set \"{0}\" (known: opset1 to opset{1})", printable(version), kNewestOpset),
          "version", op && (op->versions.size() == 1 || is_newer(version)) ? sets_of(*op) : std::vector<std::string>{});
    fail(Code::E0603, "{} belongs to the extension \"{}\", which ovir does not support", printable(type),
         printable(version));
  }
  if (!op && !known) fail_unknown_type(registry, type);
  if (known && *opset < known->since)
    fail_word(Code::E0603, fmt::format("{} does not contain {}; it was added in opset{}", version, type, known->since),
              "version", {fmt::format("opset{}", known->since)});
  if (known && known->until && *opset > known->until)
    fail_word(Code::E0603,
              fmt::format("{} does not contain {}; the last set that does is opset{}", version, type, known->until),
              "version", {fmt::format("opset{}", known->until)});
  if (!op) fail(Code::E0605, "operation {} is not supported yet", known->type);
  const auto* found = version_in(*op, *opset);
  if (!found) fail(Code::E0605, "{} of {} is not supported yet", op->type, version);
  return {op, found};
}

}  // namespace ovir
