#include "render/columns.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace ovir::app {

std::string columns_text(const std::vector<std::vector<std::string>>& rows, std::string_view alignment) {
  std::vector<std::size_t> widths(alignment.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], count_code_points(row[c]));
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string room(widths[c] - count_code_points(row[c]), ' ');
      line += (c == 0 ? "" : "  ") + (alignment[c] == 'r' ? room + row[c] : row[c] + room);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace ovir::app
