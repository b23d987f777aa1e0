#include "op/attributes.hpp"

#include <algorithm>

namespace ovir {

std::string_view name(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::boolean: return "boolean";
    case AttributeKind::integer: return "int";
    case AttributeKind::number: return "float";
    case AttributeKind::text: return "string";
    case AttributeKind::element_type: return "element type";
    case AttributeKind::shape: return "shape";
    case AttributeKind::word: return "enum";
  }
  return {};
}

const AttributeDef* AttributeTable::find(std::string_view name) const {
  const auto def = std::find_if(defs.begin(), defs.end(), [&](const AttributeDef& d) { return d.name == name; });
  return def == defs.end() ? nullptr : &*def;
}

std::optional<std::string> AttributeTable::default_of(const AttributeDef& def) const {
  if (def.presence == kRequired) return std::nullopt;
  return def.print(make().get());
}

std::optional<std::string> AttributeTable::as_read(const AttributeDef& def, std::string_view text) const {
  const auto attrs = make();
  try {
    def.set(attrs.get(), text);
  } catch (const AttributeError&) {
    return std::nullopt;
  }
  return def.print(attrs.get());
}

namespace detail {

std::string quoted(std::string_view s) { return fmt::format("\"{}\"", printable(s)); }

bool parse_boolean(std::string_view s) {
  if (s == "1" || equals_ignoring_case(s, "true")) return true;
  if (s == "0" || equals_ignoring_case(s, "false")) return false;
  throw AttributeError("be true or false", quoted(s));
}

ElementType parse_type(std::string_view s) {
  if (const auto t = parse_element_type(s)) return *t;
  const auto near = nearest_element_type(s);
  throw AttributeError("be an element type", quoted(s), true, near ? std::string(name(*near)) : "");
}

PartialShape parse_partial_shape(std::string_view s) {
  if (const auto shape = parse_shape(s)) return *shape;
  throw AttributeError("be a shape", fmt::format("{}: {}", quoted(s), why_no_shape(s)));
}

void fail_integer(std::string_view s, bool is_signed, std::size_t bits) {
  if (!is_integer(s)) throw AttributeError("be an integer", quoted(s));
  if (!is_signed && s.front() == '-') throw AttributeError("not be negative", std::string(s));
  throw AttributeError(fmt::format("fit in {} {} bits", is_signed ? "signed" : "unsigned", bits), std::string(s));
}

void fail_number(std::string_view s) { throw AttributeError("be a number", quoted(s)); }

void fail_word(std::string_view s, std::span<const std::string_view> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto* const before = i + 1 == words.size() ? " or " : ", ";
    list += fmt::format("{}\"{}\"", i == 0 ? "" : before, words[i]);
  }
  auto near = nearest(s, {words.begin(), words.end()});
  // "gauss" is short for "gaussian", where that is the only word that begins so.
  constexpr std::size_t kShort = 4;
  const auto begins = [&](std::string_view word) { return s.size() >= kShort && word.starts_with(s); };
  if (!near && std::count_if(words.begin(), words.end(), begins) == 1)
    near = *std::find_if(words.begin(), words.end(), begins);
  throw AttributeError("be " + list, quoted(s), true, std::string(near.value_or("")));
}

void fail_attrs(const std::type_info* made, const std::type_info& asked) {
  throw std::logic_error(
      fmt::format("attributes of type {} are read as {}", made ? made->name() : "none", asked.name()));
}

}  // namespace detail
}  // namespace ovir
