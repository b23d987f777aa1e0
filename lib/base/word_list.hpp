// Lists as a sentence has them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ovir {

/// "a", "a and b", "a, b and c"; with `shown` fewer than there are: "a, b and 3 more".
std::string word_list(std::vector<std::string> words, std::string_view conjunction = "and",
                      std::size_t shown = std::string::npos);

}  // namespace ovir
