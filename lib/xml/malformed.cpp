#include "xml/malformed.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "xml/tags.hpp"

namespace ovir::xml {

namespace {

std::string_view name_at(std::string_view text, std::size_t offset) {
  const auto end = text.find_first_of(" \t\r\n/>", offset);
  return text.substr(offset, std::min(end, text.size()) - offset);
}

/// Where the elements begin that are open at `limit`, outermost first.
std::vector<std::size_t> open_elements(std::string_view text, std::size_t limit) {
  std::vector<std::size_t> open;
  for (std::size_t at = text.find('<'); at < limit; at = text.find('<', at)) {
    if (const auto behind = skip_non_element(text, at); behind != at) {
      at = behind;
      continue;
    }
    const auto rest = text.substr(at);
    const auto end = rest.starts_with("</") ? std::min(text.find('>', at), text.size()) : tag_end(text, at);
    if (rest.starts_with("</")) {
      if (!open.empty()) open.pop_back();
    } else if (!rest.starts_with("<!")) {
      if (end >= limit) break;
      if (text[end - 1] != '/') open.push_back(at);
    }
    at = end;
  }
  return open;
}

/// Where the text begins that a missing "-->" or the like leaves open.
std::string_view opening(pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_bad_comment: return "<!--";
    case pugi::status_bad_cdata: return "<![CDATA[";
    case pugi::status_bad_pi: return "<?";
    case pugi::status_bad_doctype: return "<!DOCTYPE";
    default: return {};
  }
}

/// The quote that opened the attribute value which ends before `offset`, where that value reaches into the next
/// attribute: its own closing quote is missing.
std::optional<std::size_t> unclosed_value(std::string_view text, std::size_t offset) {
  const auto close = text.rfind('"', offset == 0 ? 0 : offset - 1);
  const auto open = close == text.npos || close == 0 ? text.npos : text.rfind('"', close - 1);
  if (open == text.npos || open == 0 || text[open - 1] != '=' || text[close - 1] != '=') return std::nullopt;
  return open;
}

struct Fault {
  std::string_view message, label;
};

Fault describe(pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_bad_pi: return {"a <?...?> instruction is malformed", "expected ?>"};
    case pugi::status_bad_comment: return {"a comment is malformed", "expected -->"};
    case pugi::status_bad_cdata: return {"a CDATA section is malformed", "expected ]]>"};
    case pugi::status_bad_doctype: return {"the DOCTYPE is malformed", "expected >"};
    case pugi::status_bad_start_element: return {"a tag is malformed", "expected a name, attributes and >"};
    case pugi::status_bad_attribute: return {"an attribute is malformed", "expected name=\"value\""};
    case pugi::status_bad_end_element: return {"an end tag is malformed", "expected >"};
    case pugi::status_no_document_element: return {"the document has no element", ""};
    default: return {"a tag was expected after <", "expected a name, / or !; a < in a text is written &lt;"};
  }
}

/// Whether the text begins with the rest of an entity, behind its &: "amp;", "#38;".
bool is_entity(std::string_view text) {
  const auto name = text.substr(0, std::min(text.find(';'), text.size()));
  if (name.size() == text.size()) return false;
  if (name.starts_with('#')) return name.size() > 1;
  constexpr std::string_view known[] = {"amp", "lt", "gt", "quot", "apos"};
  return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

/// The first & that must be written &amp;. In comments and CDATA it may stand as it is.
std::optional<std::size_t> bare_ampersand(std::string_view text) {
  for (auto at = text.find('&'); at != text.npos; at = text.find('&', at)) {
    const auto verbatim = [&](std::string_view begin) {
      const auto opened = text.rfind(begin, at);
      return opened == text.npos ? at : std::max(at, skip_non_element(text, opened));
    };
    const auto next = std::max(verbatim("<!--"), verbatim("<![CDATA["));
    if (next == at && !is_entity(text.substr(at + 1))) return at;
    at = std::max(next, at + 1);
  }
  return std::nullopt;
}

std::optional<std::size_t> not_utf8(std::string_view text) {
  const auto wide = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  for (auto rest = text;;) {
    const auto first = std::find_if(rest.begin(), rest.end(), wide);
    if (first == rest.end()) return std::nullopt;
    rest.remove_prefix(first - rest.begin());
    if (!take_code_point(rest)) return text.size() - rest.size();
  }
}

SourceLoc open_tag(const std::shared_ptr<const SourceFile>& source, std::size_t offset) {
  return {source, offset, 1 + name_at(source->text, offset + 1).size()};
}

}  // namespace

Diagnostic malformed(const std::shared_ptr<const SourceFile>& source, const pugi::xml_parse_result& result) {
  const std::string_view text = source->text;
  const std::size_t offset =
      std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)), text.size());
  const bool at_end = trim(text.substr(offset)).size() <= 1;
  const auto open = open_elements(text, at_end ? text.size() : offset);
  const std::string_view before = text.substr(0, offset);
  auto d = diagnose(Code::E0101, {}, {source, offset, 1});

  const auto tag = text.rfind("</", offset);
  const bool in_end_tag = result.status == pugi::status_end_element_mismatch && tag != text.npos &&
                          text.find('>', tag) >= offset && text.find('>', tag) != text.npos &&
                          text.find('<', tag + 1) >= offset;
  if (in_end_tag) {
    const auto name = printable(name_at(text, tag + 2));
    const auto still_open = open_elements(text, tag);
    d.at = {source, tag, 2 + name.size()};
    if (still_open.empty()) {
      d.message = fmt::format("malformed XML: </{}> closes nothing", name);
    } else {
      const auto expected = printable(name_at(text, still_open.back() + 1));
      d.message = fmt::format("malformed XML: </{}> where </{}> was expected", name, expected);
      d.label = fmt::format("expected </{}>", expected);
      d.notes.push_back({fmt::format("<{}> is opened here", expected), open_tag(source, still_open.back()), {}, {}});
    }
  } else if (const auto begins = opening(result.status);
             !begins.empty() && text.rfind(begins, offset) != text.npos && at_end) {
    d.at = {source, text.rfind(begins, offset), begins.size()};
    d.message = fmt::format("malformed XML: {}", describe(result.status).message);
    d.label = fmt::format("the file ends without the {} that closes it", describe(result.status).label.substr(9));
  } else if (at_end && !open.empty() && tag_end(text, text.rfind('<')) == text.size()) {
    const auto tag_start = text.rfind('<');
    d.at = {source, tag_start, std::max<std::size_t>(1, 1 + name_at(text, tag_start + 1).size())};
    d.message = "malformed XML: the file ends within a tag";
    d.label = "this tag is not closed";
  } else if (at_end && !open.empty()) {
    d.at.offset = text.size();
    while (d.at.offset > 0 && trim(text.substr(d.at.offset - 1)).empty()) --d.at.offset;
    d.message =
        fmt::format("malformed XML: the file ends before <{}> is closed", printable(name_at(text, open.back() + 1)));
    d.label = "the file ends here";
    d.notes.push_back({"it is opened here", open_tag(source, open.back()), {}, {}});
  } else if (open.empty() && (before.find("</") != before.npos || before.find("/>") != before.npos)) {
    d.message = "malformed XML: something follows the end of the outermost element";
  } else if (result.status == pugi::status_bad_attribute && trim(before).ends_with('=')) {
    d.message = "malformed XML: an attribute's value has no quotes";
    d.label = "expected \"";
  } else {
    const Fault fault = describe(result.status);
    d.message = fmt::format("malformed XML: {}", fault.message);
    d.label = fault.label;
    if (const auto quote = result.status == pugi::status_bad_attribute ? unclosed_value(text, offset) : std::nullopt)
      d.notes.push_back({"the value that begins here may lack its closing quote", {source, *quote, 1}, {}, {}});
  }
  return d;
}

void warn_of_characters(const std::shared_ptr<const SourceFile>& source, Diagnostics& diagnostics) {
  const std::string_view text = source->text;
  const auto warn = [&](std::size_t at, std::string_view message, std::string_view label) {
    auto d = diagnose(Code::W0907, std::string(message), {source, at, 1});
    d.label = label;
    diagnostics.add(std::move(d));
  };
  if (const auto at = bare_ampersand(text)) {
    const auto name = name_at(text, *at + 1);
    const auto end = name.find(';');
    const bool named = end != name.npos && end > 0 && name.find_first_of("&\"'") > end;
    if (named && text.find(fmt::format("<!ENTITY {} ", name.substr(0, end))) != text.npos)
      warn(*at,
           fmt::format("entity &{}; is not expanded, neither here nor in OpenVINO", printable(name.substr(0, end))),
           "");
    else if (named) warn(*at, fmt::format("malformed XML: unknown entity &{};", printable(name.substr(0, end))), "");
    else warn(*at, "malformed XML: & must begin an entity such as &amp;", "expected &amp;");
  }
  if (const auto at = not_utf8(text)) warn(*at, "malformed XML: this byte is not UTF-8", "");
}

}  // namespace ovir::xml
