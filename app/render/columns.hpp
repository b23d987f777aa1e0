// Tables for people.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ovir::app {

/// Rows of cells as columns of equal width, two blanks apart. `alignment` has an l or r for each column.
std::string columns_text(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

}  // namespace ovir::app
