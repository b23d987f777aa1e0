// `check --reshapeable`: the ranges that were found, for people and for programs.
#pragma once
#include <string>

#include "ovir.hpp"
#include "render/style.hpp"
#include "tools/reshapeable.hpp"

namespace ovir::app {

/// `path`: of the model, as given; `weights`: whether they were read.
std::string reshapeable_text(const Model& model, const tools::Reshapeable& found, const std::string& path, bool weights,
                             const Style& style);
std::string reshapeable_json(const Model& model, const tools::Reshapeable& found, const std::string& path,
                             bool weights);

}  // namespace ovir::app
