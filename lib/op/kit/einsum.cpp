#include "op/kit/einsum.hpp"

#include <algorithm>

#include "op/attributes.hpp"

namespace ovir {

EinsumEquation EinsumEquation::parse(std::string_view text) {
  EinsumEquation e{std::string(text), {}, {}};
  const auto require = [&](bool good, std::string demand) {
    if (!good) throw AttributeError(std::move(demand), fmt::format("\"{}\"", printable(text)), true);
  };
  std::string plain;
  for (const char ch : text)
    if (ch != ' ') plain += ch;
  const auto dots = std::count(plain.begin(), plain.end(), '.');
  for (auto at = plain.find("..."); at != std::string::npos; at = plain.find("...", at + 1))
    plain.replace(at, 3, 1, kEllipsis);
  const auto is_letter = [](char ch) { return ('a' <= ch && ch <= 'z') || ('A' <= ch && ch <= 'Z'); };
  const auto check = [&](const Subscript& s) {
    require(std::count(s.begin(), s.end(), kEllipsis) <= 1, "have one ellipsis in a subscript at most");
    require(std::all_of(s.begin(), s.end(), [&](char ch) { return ch == kEllipsis || is_letter(ch); }),
            "use letters as labels");
  };
  require(dots == 3 * std::count(plain.begin(), plain.end(), kEllipsis), "use letters as labels");

  const auto arrow = plain.find("->");
  std::string all;
  for (std::size_t from = 0, end = std::min(arrow, plain.size()); from <= end;) {
    const auto comma = std::min(plain.find(',', from), end);
    e.inputs.push_back(plain.substr(from, comma - from));
    check(e.inputs.back());
    all += e.inputs.back();
    from = comma + 1;
  }
  if (arrow != std::string::npos) {
    e.output = plain.substr(arrow + 2);
    check(e.output);
    for (const char ch : e.output) {
      require(std::count(e.output.begin(), e.output.end(), ch) == 1,
              fmt::format("not name \"{}\" twice in the output", ch));
      require(ch == kEllipsis || all.find(ch) != std::string::npos, "use labels of the inputs in the output");
    }
  } else {
    // Implicit: the ellipsis first, then the labels that occur once, "capital letters precede lowercase letters".
    for (const char ch : all)
      if (is_letter(ch) && std::count(all.begin(), all.end(), ch) == 1) e.output += ch;
    std::sort(e.output.begin(), e.output.end());
    if (all.find(kEllipsis) != std::string::npos) e.output.insert(e.output.begin(), kEllipsis);
  }
  return e;
}

}  // namespace ovir
