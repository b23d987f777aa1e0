// Attributes that an operation does not have: slips of the pen (W0902) and what converters left behind (N0901).
#pragma once
#include <map>
#include <string_view>

#include "passes/passes.hpp"

namespace ovir::passes {

/// The leftovers of a whole model, by name; the names live as long as its Graph.
struct Leftovers {
  std::map<std::string_view, std::size_t> counts;
  std::size_t total = 0;
  SourceLoc first;
  void add(const Leftovers& more);
};

/// W0902 for each unknown attribute of `layer`; leftovers are counted instead.
void check_unknown_attributes(const Model& model, const Layer& layer, const OpDef& op, const Version& version,
                              Leftovers& leftovers, Diagnostics& diagnostics);

/// N0901, where there are any.
void report_leftovers(const Leftovers& leftovers, Diagnostics& diagnostics);

}  // namespace ovir::passes
