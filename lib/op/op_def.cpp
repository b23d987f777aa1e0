#include "op/op_def.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir {

const OpDef* Registry::find(std::string_view type) const {
  const auto found = std::find_if(ops.begin(), ops.end(), [&](const OpDef* op) {
    return equals_ignoring_case(op->type, type) || (!op->alias.empty() && equals_ignoring_case(op->alias, type));
  });
  return found == ops.end() ? nullptr : *found;
}

const OpDef* Registry::find_extension(std::string_view type, std::string_view set) const {
  const auto found = std::find_if(extensions.begin(), extensions.end(),
                                  [&](const OpDef* op) { return op->type == type && op->set == set; });
  return found == extensions.end() ? nullptr : *found;
}

std::string spec_of(const OpDef& op, const Version& version) {
  return version.spec.empty() ? fmt::format("{}-{}", op.spec, version.since) : std::string(version.spec);
}

const Version* version_in(const OpDef& op, int opset) {
  const Version* best = nullptr;
  for (const auto& v : op.versions)
    if (v.since <= opset && (v.until == 0 || opset <= v.until) && (!best || v.since > best->since)) best = &v;
  return best;
}

}  // namespace ovir
