#include "xml/tags.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ovir::xml {

namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::size_t find_or_end(std::string_view text, std::string_view what, std::size_t from) {
  const auto at = text.find(what, from);
  return at == text.npos ? text.size() : std::min(text.size(), at + what.size());
}

/// Behind the name that begins at `at`.
std::size_t name_end(std::string_view text, std::size_t at) {
  return std::min(text.find_first_of(" \t\r\n=/>", at), text.size());
}

bool self_closing(std::string_view text, TextRange tag) { return tag.end - tag.begin >= 2 && text[tag.end - 2] == '/'; }

}  // namespace

std::size_t skip_non_element(std::string_view text, std::size_t at) {
  const auto rest = text.substr(at);
  if (rest.starts_with("<!--")) return find_or_end(text, "-->", at);
  if (rest.starts_with("<![CDATA[")) return find_or_end(text, "]]>", at);
  if (rest.starts_with("<?")) return find_or_end(text, "?>", at);
  return at;
}

std::size_t tag_end(std::string_view text, std::size_t tag) {
  char quote = 0;
  for (std::size_t i = tag; i < text.size(); ++i) {
    if (quote != 0) quote = text[i] == quote ? '\0' : quote;
    else if (text[i] == '"' || text[i] == '\'') quote = text[i];
    else if (text[i] == '>') return i;
  }
  return text.size();
}

TextRange tag_range(std::string_view text, std::size_t tag) {
  return {tag, std::min(tag_end(text, tag) + 1, text.size())};
}

std::size_t tag_around(std::string_view text, std::size_t offset) {
  // A '<' inside a value would have to be written &lt;.
  const auto at = text.rfind('<', offset);
  return at == text.npos ? 0 : at;
}

std::optional<AttributeText> find_attribute(std::string_view text, std::size_t tag, std::string_view name) {
  const auto end = tag_range(text, tag).end;
  for (auto at = name_end(text, tag + 1); at < end;) {
    at = text.find_first_not_of(kBlank, at);
    if (at >= end || text[at] == '>' || text[at] == '/') return std::nullopt;
    const TextRange word{at, name_end(text, at)};
    const auto open = text.find_first_of("\"'", word.end);
    if (open >= end) return std::nullopt;
    const auto close = text.find(text[open], open + 1);
    if (close >= end) return std::nullopt;
    if (text.substr(word.begin, word.end - word.begin) == name) return AttributeText{word, {open + 1, close}};
    at = close + 1;
  }
  return std::nullopt;
}

std::vector<ElementText> children(std::string_view text, std::size_t tag, std::string_view name) {
  std::vector<ElementText> found;
  const auto parent = tag_range(text, tag);
  if (self_closing(text, parent)) return found;
  int depth = 0;
  ElementText element;
  bool wanted = false;
  for (auto at = text.find('<', parent.end); at < text.size(); at = text.find('<', at)) {
    if (const auto behind = skip_non_element(text, at); behind != at) {
      at = behind;
      continue;
    }
    const auto here = tag_range(text, at);
    const bool closing = text.substr(at).starts_with("</");
    if (closing && depth == 0) return found;
    if (!closing && depth == 0) {
      element = {here, {here.end, here.end}};
      wanted = text.substr(at + 1, name_end(text, at + 1) - at - 1) == name;
    }
    if (closing) --depth;
    else if (!self_closing(text, here)) ++depth;
    if (depth == 0) {
      if (closing) element = {{element.whole.begin, here.end}, {element.content.begin, here.begin}};
      if (wanted) found.push_back(element);
    }
    at = here.end;
  }
  return found;
}

std::size_t root_tag(std::string_view text) {
  for (auto at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    const auto behind = skip_non_element(text, at);
    if (behind == at && !text.substr(at).starts_with("<!")) return at;
    at = behind == at ? at + 1 : behind;
  }
  return text.size();
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&apos;";
    else if (c == '\t' || c == '\n' || c == '\r') out += fmt::format("&#{};", static_cast<int>(c));
    else out += c;
  }
  return out;
}

}  // namespace ovir::xml
