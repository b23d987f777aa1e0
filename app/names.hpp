// The inputs of a model by what a user calls them: a tensor name, else a layer name, else the index.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ovir.hpp"

namespace ovir::app {

/// The Parameter (in file order) that `name` means; nothing where there is none.
std::optional<int> find_input(const Model&, std::string_view name);
/// The Result (in file order) that `name` means: a tensor name that the file gives it, else the layer that computes it,
/// else its own layer, else the index.
std::optional<int> find_output(const Model&, std::string_view name);
/// `"image" and "mask"`, for messages.
std::string input_names(const Model&);
/// `no input is named "imgae"; did you mean "image"?`, or with the names that there are.
std::string unknown_input(const Model&, std::string_view name);
/// `no output is named ...`, likewise.
std::string unknown_output(const Model&, std::string_view name);
/// `"a", "b" and "c"`, each quoted as it can be printed.
std::string quoted_list(const std::vector<std::string>& names);
/// Whether what a user calls this input says that it is a mask: `attention_mask`.
bool is_mask(const Model&, int k);

}  // namespace ovir::app
