// What `run` says of its outputs where they go to no file.
#pragma once
#include <string>
#include <vector>

#include "base/int.hpp"
#include "render/style.hpp"
#include "tensor_files.hpp"

namespace ovir::app {

/// A label a line; none for an empty path.
std::vector<std::string> read_labels(const std::string& path);
/// What is to be said of labels whose number is not that of the classes; empty: nothing.
std::string count_of_labels(const std::vector<Produced>& outputs, const std::vector<std::string>& labels);

/// Each output's type and shape, and its values: all up to 64, else a summary. With `top`, the largest of each row.
std::string outputs_text(const std::vector<Produced>& outputs, i64 top, const std::vector<std::string>& labels,
                         const Style& style);
Json outputs_json(const std::vector<Produced>& outputs, i64 top, const std::vector<std::string>& labels);

}  // namespace ovir::app
