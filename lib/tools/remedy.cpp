#include "tools/remedy.hpp"

#include "base/text.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {
namespace {

class Editor {
 public:
  Editor(const Model& m, Remedies::Place place, const Diagnostic& d)
      : diagnostic(d), file(m.graph->source), text(file->text), place_(place) {}

  bool make(const Change& change) {
    switch (change.what) {
      case Change::What::layer_attribute:
        return place_.node && set(place_.node->layer->at.offset, change.name, change.value);
      case Change::What::attribute: return place_.node && set_data(change.name, change.value);
      case Change::What::attribute_name: return rename(change.name, change.value);
      case Change::What::tag_attribute: return diagnostic.at && set(tag_of(diagnostic.at), change.name, change.value);
      case Change::What::text:
        if (diagnostic.at) put({diagnostic.at.offset, diagnostic.at.offset + diagnostic.at.length}, change.value);
        return static_cast<bool>(diagnostic.at);
      case Change::What::dims: return diagnostic.at && set_dims(diagnostic.at.offset, change.value);
      case Change::What::input: return set_input(change.port, change.value);
    }
    return false;
  }

  Edits made;

 private:
  const Diagnostic& diagnostic;
  std::shared_ptr<const SourceFile> file;
  std::string_view text;
  Remedies::Place place_;

  void put(xml::TextRange range, std::string_view value) {
    auto written = xml::escaped(value);
    if (text.substr(range.begin, range.end - range.begin) != written)
      made.texts.push_back({{file, range.begin, range.end - range.begin}, std::move(written)});
  }

  /// The tag that a place names, or in whose attribute it lies.
  std::size_t tag_of(const SourceLoc& at) const {
    return text[at.offset] == '<' ? at.offset : xml::tag_around(text, at.offset);
  }

  bool set(std::size_t tag, std::string_view name, std::string_view value) {
    const auto found = xml::find_attribute(text, tag, name);
    if (found) put(found->value, value);
    return found.has_value();
  }

  /// An attribute of <data>, which may have to be added.
  bool set_data(std::string_view name, std::string_view value) {
    const auto data = xml::children(text, place_.node->layer->at.offset, "data");
    if (data.empty()) return false;
    const auto tag = data.front().whole.begin;
    if (set(tag, name, value)) return true;
    const auto behind_name = tag + std::string_view("<data").size();
    made.texts.push_back({{file, behind_name, 0}, fmt::format(" {}=\"{}\"", name, xml::escaped(value))});
    return true;
  }

  bool rename(std::string_view name, std::string_view better) {
    if (!place_.node) return false;
    const auto* attribute = place_.node->layer->attribute(name);
    if (!attribute) return false;
    const auto found = xml::find_attribute(text, xml::tag_around(text, attribute->at.offset), name);
    if (found) put(found->name, better);
    return found.has_value();
  }

  /// Where the rank stays only the dims that differ change.
  bool set_dims(std::size_t port, std::string_view list) {
    const auto dims = xml::children(text, port, "dim");
    const auto wanted = split(list, ',');
    if (dims.empty()) return wanted.empty() || add_dims(port, wanted);
    if (dims.size() == wanted.size()) {
      for (std::size_t i = 0; i < dims.size(); ++i) put(dims[i].content, wanted[i]);
      return true;
    }
    const auto between =
        dims.size() < 2 ? std::string_view() : text.substr(dims[0].whole.end, dims[1].whole.begin - dims[0].whole.end);
    std::string all;
    for (const auto n : wanted) all += fmt::format("{}<dim>{}</dim>", all.empty() ? "" : between, n);
    made.texts.push_back(
        {{file, dims.front().whole.begin, dims.back().whole.end - dims.front().whole.begin}, std::move(all)});
    return true;
  }

  /// <port .../> or <port ...></port> gets its first dims.
  bool add_dims(std::size_t port, const std::vector<std::string_view>& wanted) {
    std::string all;
    for (const auto n : wanted) all += fmt::format("<dim>{}</dim>", n);
    const auto tag = xml::tag_range(text, port);
    const bool closed = text.substr(0, tag.end).ends_with("/>");
    made.texts.push_back({{file, tag.end - (closed ? 2 : 0), closed ? std::size_t{2} : 0},
                          closed ? fmt::format(">{}</port>", all) : all});
    return true;
  }

  bool set_input(i64 port, std::string_view values) {
    if (!place_.node || port < 0 || port >= std::ssize(place_.node->inputs)) return false;
    const auto from = place_.node->inputs[port];
    if (from.node < 0) return false;
    auto change = change_constant(*place_.model, (*place_.model)[from.node], values);
    if (change) made.constants.push_back(std::move(*change));
    return change.has_value();
  }
};

}  // namespace

void Remedies::collect(const Model& model) {
  for (const auto& node : model.nodes) {
    places_.try_emplace({model.path, node.layer->id_text, node.layer->name}, Place{&model, &node});
    for (const auto& body : node.bodies) collect(*body);
  }
}

Remedies::Remedies(const Model& model) : model_(model) { collect(model); }

std::optional<Edits> Remedies::edits_of(const Diagnostic& d, const Remedy& remedy) const {
  Place place;
  if (d.layer)
    if (const auto found = places_.find({d.layer->path, d.layer->id, d.layer->name}); found != places_.end())
      place = found->second;
  Editor editor(model_, place, d);
  try {
    for (const auto& change : remedy)
      if (!editor.make(change)) return std::nullopt;
  } catch (const Failure&) {  // a value that does not fit
    return std::nullopt;
  }
  return editor.made.disjoint() ? std::optional(std::move(editor.made)) : std::nullopt;
}

}  // namespace ovir::tools
