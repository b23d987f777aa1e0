// An item of a .spec file, bound to the signature of one operation version.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "op/op_def.hpp"
#include "spec.hpp"

namespace ovir::spec {

struct BoundPort {
  const PortDef* def = nullptr;
  const PortText* text = nullptr;
  std::string variable;  ///< of its type; ports with the same one change type together
};

struct Bound {
  std::vector<BoundPort> inputs, outputs;
};

/// Throws std::runtime_error where a name is no port or an input is left out before another.
Bound bind(const Item& item, const Version& version);

/// Element types in place of the written ones, by type variable.
using Types = std::map<std::string, ElementType>;
ElementType type_of(const BoundPort& port, const Types& types);
/// Every replacement that the `types` lines ask for and whose types hold the values; the first is none.
/// Throws std::runtime_error where a line leaves nothing.
std::vector<Types> type_variants(const Item& item, const Bound& bound);

}  // namespace ovir::spec
