// From a layer's type and version words to the operation version that they mean.
#pragma once
#include <optional>
#include <string_view>

#include "op/op_def.hpp"

namespace ovir {

struct Operation {
  const OpDef* op = nullptr;
  const Version* version = nullptr;
};

/// The opset that a layer's `version` word means for its type, 1 to kNewestOpset; nothing for any other word. A few
/// types are read under a set that does not hold them, as OpenVINO's reader does: MVN of opset1 means opset2.
std::optional<int> opset_number(std::string_view type, std::string_view version);

/// `version` names an opset ("opset7"), not an operation version, see opset_number; or the set of an extension, of which
/// the last version counts. Throws Failure: E0602 (no such type), E0603 (no such set, or the set does not hold the
/// type), E0605 (ovir does not have it).
Operation find_operation(const Registry& registry, std::string_view type, std::string_view version);

}  // namespace ovir
