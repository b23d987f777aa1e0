// The inputs of a model by what a user calls them: a tensor name, else a layer name, else the index.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ovir.hpp"

namespace ovir::app {

/// The Parameter (in file order) that `name` means; nothing where there is none.
std::optional<int> find_input(const Model&, std::string_view name);
/// "image, mask", for messages.
std::string input_names(const Model&);
/// What is like `name`: "; did you mean "image"?", or what there is.
std::string suggest_input(const Model&, std::string_view name);

}  // namespace ovir::app
