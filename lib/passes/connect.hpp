// Edges and port ids as positions.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

int input_position(const Layer&, i64 port_id);  ///< -1: none
int output_position(const Layer&, i64 port_id);
/// "whose input ports are 0 and 1".
std::string ids_of(const std::vector<Port>& ports, std::string_view kind);

/// Where the value of an attribute of this tag stands; the tag where it has none.
SourceLoc value_in_tag(const SourceLoc& tag, std::string_view attribute);

/// Who feeds every input of every layer, by position; faults of edges are reported and mark the layer.
std::vector<std::vector<ValueRef>> connect(const Model& model, std::vector<bool>& faulty, Diagnostics& diagnostics);

}  // namespace ovir::passes
