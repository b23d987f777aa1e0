// Changes of a model's interface: more outputs, other names of inputs and outputs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"
#include "tools/fix.hpp"

namespace ovir::tools {

/// Gives values of the whole model a Result each, behind the layers that there are; those that have one stay as they
/// are. `facts` give the types and shapes that are declared.
Edits add_outputs(const Model& model, const Facts& facts, const std::vector<ValueRef>& values);

/// Input k is called `to` where it was called `from`: by a tensor name, by the name of its layer, or by both. Any other
/// `from` (an index) stands for what Model::parameter_name says. Throws SelectorError where `to` is empty or in use.
Edits rename_input(const Model& model, int k, std::string_view from, std::string_view to);
/// The same of output k, whose names are those in its Result's `output_names`, of the tensor that it receives, and of
/// the Result itself. A tensor without names that is called by the layer that computes it gets a name.
Edits rename_output(const Model& model, int k, std::string_view from, std::string_view to);

}  // namespace ovir::tools
