#include "mutate.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

const std::vector<std::string> kMarkup = {"<",   ">",  "&",    "\"",         "</",   "<!--", "-->",
                                          "]]>", "<?", "&#0;", "&#x110000;", "\xff", "<a>",  "\t"};
const std::vector<std::string> kValues = {"",
                                          "-1",
                                          "0",
                                          "1",
                                          "2",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "99999999999999999999",
                                          "nan",
                                          "1e400",
                                          "1,2,3",
                                          "?",
                                          "-1,-1",
                                          "4294967296",
                                          "1..8",
                                          "2..1",
                                          "...",
                                          "3,,4",
                                          "f32",
                                          "i64",
                                          "string",
                                          "u1",
                                          "dynamic",
                                          "true",
                                          "If",
                                          "Parameter",
                                          "Const",
                                          "opset1",
                                          "opset17"};
constexpr std::uint64_t kNumbers[] = {
    0,          1,      2,      7,          8,        0x7f,       0x80,       0xff,
    0x7fff,     0x8000, 0xffff, 0x7fffffff, 1U << 31, 0xffffffff, 1ULL << 32, 0x7fffffffffffffff,
    1ULL << 63, ~0ULL};

}  // namespace

std::string Mutator::operator()() {
  std::string text = pick(seeds_);
  const bool xml = text.starts_with("<");
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    if (text.empty()) text = pick(seeds_);
    else if (xml && below(8) != 0) mutate_xml(text);
    else mutate_bytes(text);
  }
  return text;
}

void Mutator::mutate_bytes(std::string& text) {
  const auto at = below(text.size());
  switch (below(11)) {
    case 0: text[at] = static_cast<char>(below(256)); break;
    case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
    case 2: text.resize(at); break;
    case 3: text.erase(at, 1 + below(40)); break;
    case 4: text.insert(at, std::string(1 + below(8), static_cast<char>(below(256)))); break;
    case 5: text.insert(below(text.size()), text.substr(at, 1 + below(64))); break;
    case 6: overwrite_number(text); break;
    case 7: change_decimal(text); break;
    case 8: {
      const auto& other = pick(seeds_);
      text = text.substr(0, at) + other.substr(below(other.size()));
      break;
    }
    case 9:
      if (!words_.empty()) text.insert(at, pick(words_));
      break;
    default:
      if (!words_.empty()) text.replace(at, 1 + below(8), pick(words_));
  }
}

/// A number of 1 to 8 bytes, of either byte order.
void Mutator::overwrite_number(std::string& text) {
  const std::size_t size = std::size_t{1} << below(4);
  if (text.size() < size) return;
  const auto at = below(text.size() - size + 1);
  const auto number = kNumbers[below(std::size(kNumbers))];
  char bytes[8];
  std::memcpy(bytes, &number, sizeof bytes);
  if (below(2) != 0) std::reverse(bytes, bytes + size);
  text.replace(at, size, bytes, size);
}

void Mutator::change_decimal(std::string& text) {
  const auto begin = text.find_first_of("0123456789", below(text.size()));
  if (begin == text.npos) return;
  const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
  const auto number = below(3) == 0 ? std::to_string(kNumbers[below(std::size(kNumbers))]) : std::to_string(below(20));
  text.replace(begin, end - begin, number);
}

void Mutator::mutate_xml(std::string& text) {
  switch (below(8)) {
    case 0: {
      const auto [begin, length] = element(text);
      text.erase(begin, length);
      break;
    }
    case 1: {
      const auto [begin, length] = element(text);
      const auto part = text.substr(begin, length);
      const auto at = text.find('<', below(text.size()));
      text.insert(below(2) != 0 && at != text.npos ? at : begin, part);
      break;
    }
    case 2: text.insert(below(text.size()), pick(kMarkup)); break;
    default: change_value(text); break;
  }
}

/// From one '<' to one of the next few: a tag, or an element and more.
std::pair<std::size_t, std::size_t> Mutator::element(const std::string& text) {
  const auto begin = text.find('<', below(text.size()));
  if (begin == text.npos) return {0, 0};
  auto end = begin;
  for (std::size_t n = 1 + below(6); n > 0 && end != text.npos; --n) end = text.find('<', end + 1);
  return {begin, (end == text.npos ? text.size() : end) - begin};
}

/// Another value for an attribute: the faults that well-formed files have.
void Mutator::change_value(std::string& text) {
  const auto begin = text.find("=\"", below(text.size()));
  if (begin == text.npos) return;
  const auto end = text.find('"', begin + 2);
  if (end == text.npos) return;
  std::string value;
  switch (below(4)) {
    case 0: value = std::to_string(static_cast<int>(below(12)) - 3); break;
    case 1: {
      const auto other = text.find("=\"", below(text.size()));
      const auto other_end = other == text.npos ? text.npos : text.find('"', other + 2);
      if (other_end != text.npos) value = text.substr(other + 2, other_end - other - 2);
      break;
    }
    default: value = pick(kValues);
  }
  text.replace(begin + 2, end - begin - 2, value);
}
