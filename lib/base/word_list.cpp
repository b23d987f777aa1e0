#include "base/word_list.hpp"

namespace ovir {

std::string word_list(std::vector<std::string> words, std::string_view conjunction, std::size_t shown) {
  if (words.size() > shown) {
    const auto more = words.size() - shown;
    words.resize(shown);
    words.push_back(std::to_string(more) + " more");
  }
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " " + std::string(conjunction) + " " : ", ";
    list += words[i];
  }
  return list;
}

}  // namespace ovir
