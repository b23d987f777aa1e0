// parse_attributes: the texts of <data> become the struct of an operation's version.
#include "passes/attributes.hpp"

#include <algorithm>

#include "base/whole_number.hpp"
#include "base/word_list.hpp"
#include "model/report.hpp"

namespace ovir::passes {

void fail_attribute(std::string_view attribute, Code code, std::string message, const std::vector<std::string>& meant,
                    std::vector<Remedy> remedies, std::optional<std::size_t> entry) {
  auto d = diagnose(code, std::move(message));
  d.attribute = attribute;
  d.entry = entry;
  d.remedies = std::move(remedies);
  for (const auto& word : meant) d.remedies.push_back({{Change::What::attribute, std::string(attribute), word}});
  fail(std::move(d));
}

namespace {

/// Attributes spell element types in lower case; "FP32" is how a port's precision is spelled.
void require_type_word(const AttributeDef& def, const Attribute& given) {
  if (def.kind != AttributeKind::element_type || def.list) return;
  const auto type = parse_element_type(given.value);
  if (type && *type != ElementType::dynamic && given.value != name(*type))
    throw AttributeError("be an element type in lower case", fmt::format("\"{}\"", printable(given.value)), true,
                         std::string(name(*type)));
}

/// A list that is separated by something else than commas, or stands in brackets, as the format has it.
std::string as_list(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string list;
  bool gap = false;
  text = trim(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == ']' || c == '(' || c == ')' || c == '{' || c == '}') continue;
    const bool times = c == 'x' && i > 0 && i + 1 < text.size() && text[i - 1] != '0' && digit(text[i - 1]) &&
                       (digit(text[i + 1]) || text[i + 1] == ' ');  // 2x3, but not 0x3
    if (c == ' ' || c == ';' || c == ',' || times) {
      gap = true;
      continue;
    }
    if (gap && !list.empty()) list += ',';
    list += c;
    gap = false;
  }
  return list;
}

/// What is not written as an integer or a list of them, but read as one by OpenVINO: "1.0", "1,1,". Nothing where the
/// text needs no such help.
std::optional<std::string> as_integers(const AttributeDef& def, std::string_view text) {
  text = trim(text);
  const bool plain = text.find('.') == text.npos && !text.ends_with(',');
  if (def.kind != AttributeKind::integer || plain) return std::nullopt;
  auto parts = split(text, ',');
  if (def.list && parts.size() > 1 && parts.back().empty()) parts.pop_back();
  std::string list;
  for (const auto part : parts) {
    if (!list.empty()) list += ',';
    list += without_zero_fraction(trim(part));
  }
  return list;
}

void warn_of_integers(const Model& model, const Layer& layer, const OpDef& op, const Attribute& given,
                      const std::string& read, bool list, Diagnostics& diagnostics) {
  auto d = diagnose(Code::W0908,
                    fmt::format("attribute \"{}\" of {} must be {}, but is \"{}\"; it is read as {}", given.name,
                                op.type, list ? "a list of integers" : "an integer", printable(given.value), read));
  d.attribute = given.name;
  report(diagnostics, model, layer, std::move(d));
}

/// What `text`, which the attribute does not take, was meant to be; empty where nobody can tell.
std::string meant(const AttributeDef& def, void* attrs, const AttributeError& error, std::string_view text) {
  if (!error.meant.empty()) return error.meant;
  auto list = as_list(text);
  try {
    def.set(attrs, list);
    return list == text ? std::string() : list;
  } catch (const AttributeError&) {
    return {};
  }
}

/// The first other version whose attribute takes the word that this one does not.
const Version* version_with(const OpDef& op, const Version& version, const Layer& layer, const AttributeDef& def,
                            std::string_view word) {
  const auto takes = [&](std::string_view w) { return equals_ignoring_case(w, trim(word)); };
  for (const auto& other : op.versions)
    if (const auto* same = other.attrs.find(def.name);
        same && std::any_of(same->words.begin(), same->words.end(), takes) && keeps_attributes(layer, version, other))
      return &other;
  return nullptr;
}

/// The element types or shapes that the layer's output ports declare.
std::vector<std::string> as_declared(const AttributeDef& def, const Layer& layer) {
  std::vector<std::string> words;
  for (const auto& port : layer.outputs) {
    std::string word;
    if (def.kind == AttributeKind::element_type && port.declared_type && *port.declared_type != ElementType::dynamic)
      word = name(*port.declared_type);
    if (def.kind == AttributeKind::shape && port.declared_shape && port.declared_shape->has_rank())
      word = attribute_text(*port.declared_shape);
    if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
  }
  return words;
}

/// What may put in a required attribute that is not there, most likely first.
std::vector<Change> additions(const AttributeTable& table, const AttributeDef& def, const Layer& layer) {
  std::vector<Change> changes;
  // A slip in the name is likelier than an omission.
  for (const auto& given : layer.attributes) {
    if (!table.find(given.name) && nearest(given.name, {def.name}))
      changes.push_back({Change::What::attribute_name, given.name, std::string(def.name)});
  }
  for (auto& word : as_declared(def, layer))
    changes.push_back({Change::What::attribute, std::string(def.name), std::move(word)});
  return changes;
}

/// One fault for all required attributes that are not there: <data> may be missing, or not the layer's.
void require_attributes(const OpDef& op, const AttributeTable& table, const Layer& layer) {
  std::vector<std::string> names;
  std::vector<Remedy> remedies{{}};  // each puts in all of them
  for (const auto& def : table.defs) {
    if (def.presence != kRequired || layer.attribute(def.name)) continue;
    names.push_back(fmt::format("\"{}\"", def.name));
    std::vector<Remedy> longer;
    for (const auto& remedy : remedies)
      for (auto& change : additions(table, def, layer)) {
        longer.push_back(remedy);
        longer.back().push_back(std::move(change));
      }
    remedies = std::move(longer);
  }
  if (names.empty()) return;
  auto d = diagnose(Code::E0401, fmt::format("{} needs the {} {}", op.type,
                                             names.size() == 1 ? "attribute" : "attributes", word_list(names)));
  d.remedies = std::move(remedies);
  fail(std::move(d));
}

}  // namespace

bool keeps_attributes(const Layer& layer, const Version& version, const Version& other) {
  return std::all_of(version.attrs.defs.begin(), version.attrs.defs.end(), [&](const AttributeDef& def) {
    const auto* same = other.attrs.find(def.name);
    const auto* value = layer.attribute(def.name);
    const auto by_default = version.attrs.default_of(def);
    if (!value) return !same || other.attrs.default_of(*same) == by_default;
    return same || (by_default && version.attrs.as_read(def, value->value) == by_default);
  });
}

std::shared_ptr<const void> parse_attributes(const Model& model, const Layer& layer, const OpDef& op,
                                             const Version& version, Diagnostics& diagnostics) {
  const auto& table = version.attrs;
  auto attrs = table.make ? table.make() : std::make_shared<char>();
  bool good = attempt(diagnostics, model, layer, [&] { require_attributes(op, table, layer); });
  for (const auto& def : table.defs) {
    const auto* given = layer.attribute(def.name);
    if (!given) continue;
    good &= attempt(diagnostics, model, layer, [&] {
      try {
        require_type_word(def, *given);
        const auto integers = as_integers(def, given->value);
        def.set(attrs.get(), integers ? *integers : given->value);
        if (integers) warn_of_integers(model, layer, op, *given, *integers, def.list, diagnostics);
      } catch (const AttributeError& e) {
        auto words = as_declared(def, layer);
        std::vector<Remedy> remedies;
        std::string hint;
        if (const auto* other = version_with(op, version, layer, def, given->value)) {
          const auto opset = fmt::format("opset{}", other->since);
          hint = fmt::format("; {} of {} takes it", op.type, opset);
          remedies.push_back({{Change::What::layer_attribute, "version", opset}});
        } else if (auto word = meant(def, attrs.get(), e, given->value); !word.empty()) {
          hint = fmt::format("; did you mean \"{}\"?", printable(word));
          words.insert(words.begin(), std::move(word));
        }
        fail_attribute(def.name, e.domain ? Code::E0403 : Code::E0402,
                       fmt::format("{}attribute \"{}\" of {} must {}, but {} {}{}", def.list ? "each element of " : "",
                                   def.name, op.type, e.must, def.list ? "one is" : "is", e.came, hint),
                       words, std::move(remedies), e.entry);
      }
    });
  }
  return good ? attrs : nullptr;
}

}  // namespace ovir::passes
