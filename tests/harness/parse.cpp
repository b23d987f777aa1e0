// Reading .spec files.
#include <fstream>
#include <sstream>

#include "base/text.hpp"
#include "spec.hpp"

namespace ovir::spec {
namespace {

using Words = std::vector<Word>;

class Parser {
 public:
  explicit Parser(const std::string& path) { file_.path = path; }

  SpecFile run() {
    std::ifstream in(file_.path);
    if (!in) throw SpecError(file_.path, 0, "cannot be opened");
    std::string text;
    while (std::getline(in, text)) {
      ++line_;
      const auto words = split_line(text);
      if (words.empty()) continue;
      if (text.front() == ' ' || text.front() == '\t') inner_line(words);
      else outer_line(words, text);
    }
    finish_item();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, int line = 0) const {
    throw SpecError(file_.path, line ? line : line_, what);
  }

  Words split_line(std::string_view text) const {
    Words words;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
        ++i;
      } else if (text[i] == '#') {
        break;
      } else if (text[i] == '"') {
        words.push_back({quoted(text, i), true, line_});
      } else {
        const auto begin = i;
        while (i < text.size() && text[i] != ' ' && text[i] != '\t' && text[i] != '\r') ++i;
        words.push_back({std::string(text.substr(begin, i - begin)), false, line_});
      }
    }
    return words;
  }

  std::string quoted(std::string_view text, std::size_t& i) const {
    std::string result;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) result += text[i];
      else result += text[++i] == 'n' ? '\n' : text[i];
    }
    if (i == text.size()) fail("a quote is not closed");
    ++i;
    return result;
  }

  void outer_line(const Words& words, std::string_view text) {
    finish_item();
    const auto& key = words[0].text;
    const auto rest = std::string(trim(text.substr(text.find(key) + key.size())));
    if (key == "op") {
      file_.sections.push_back({{}, {}, {}, line_});
      for (std::size_t i = 1; i < words.size(); ++i) {
        const auto& w = words[i].text;
        const auto dash = w.rfind('-');
        const auto opset = dash == w.npos ? std::nullopt : parse_number<int>(std::string_view(w).substr(dash + 1));
        if (!opset) fail("an operation is written Type-N, N being an opset that holds it, not " + w);
        file_.sections.back().ops.emplace_back(w.substr(0, dash), *opset);
      }
      if (words.size() < 2) fail("which operation?");
      return;
    }
    if (file_.sections.empty()) fail("the first line must be: op Type-N");
    if (key == "exempt") {
      if (words.size() < 3) fail("write: exempt values|shape|reject and the reason");
      file_.sections.back().exempt[words[1].text] = rest;
    } else if (key == "case" || key == "shape" || key == "reject") {
      if (rest.empty()) fail("what does it show? A " + key + " needs a name");
      item_ = Item{};
      item_->kind = key == "case" ? ItemKind::values : key == "shape" ? ItemKind::shape : ItemKind::reject;
      item_->name = rest;
      item_->line = line_;
    } else {
      fail("\"" + key + "\" is none of op, case, shape, reject, exempt (what belongs to a case is indented)");
    }
  }

  // Ports and attributes may run over lines, so words are gathered until the item ends; the other lines stand alone.
  void inner_line(const Words& words) {
    if (!item_) fail("an indented line outside of a case, shape or reject");
    const bool port = words.size() > 1 && is_typed(words[1]);
    if (!port && words[0].is("body")) {
      if (words.size() != 2) fail("write: body then_body");
      item_->bodies.push_back({words[1].text, {}, line_});
      in_body_ = true;
    } else if (!port && words[0].is("end") && in_body_) {
      in_body_ = false;
    } else if (in_body_) {
      item_->bodies.back().lines.push_back(words);
    } else if (!port && words[0].is("types")) {
      types_line(words);
    } else if (!port && (words[0].is("rtol") || words[0].is("atol"))) {
      const auto value = words.size() > 1 ? parse_number<double>(words[1].text) : std::nullopt;
      if (!value || words.size() < 3) fail("write: " + words[0].text + " NUMBER and the reason");
      (words[0].is("rtol") ? item_->rtol : item_->atol) = *value;
    } else if (!port && words[0].is("constant")) {
      for (std::size_t i = 1; i < words.size(); ++i) item_->constants.push_back(words[i].text);
    } else if (!port && words[0].is("check")) {
      if (words.size() < 3 || words[1].text != "shape") fail("write: check shape and the reason");
      item_->shape_only = true;
    } else {
      words_.insert(words_.end(), words.begin(), words.end());
    }
  }

  void types_line(const Words& words) {
    TypesLine t;
    t.line = line_;
    std::size_t i = 1;
    for (bool last = false; i < words.size() && !last; ++i) {
      auto name = words[i].text;
      last = name.ends_with(':');
      if (last) name.pop_back();
      if (!name.empty()) t.ports.push_back(name);
    }
    for (; i < words.size(); ++i) t.set.push_back(words[i].text);
    if (t.ports.empty() || t.set.empty()) fail("write: types PORT: any (or a list of types)");
    item_->types.push_back(std::move(t));
  }

  /// "f32[2,?]".
  static bool is_typed(const Word& w) {
    const auto bracket = w.text.find('[');
    return !w.quoted && bracket != w.text.npos && w.text.back() == ']' &&
           parse_element_type(std::string_view(w.text).substr(0, bracket)).has_value();
  }

  bool ends_values(std::size_t i) const {
    if (i >= words_.size()) return true;
    const auto& w = words_[i];
    if (w.is("->") || w.is("error") || w.is("attr")) return true;
    return !w.quoted && i + 1 < words_.size() && is_typed(words_[i + 1]);
  }

  PortText typed(const Word& w, std::string port_name) const {
    PortText port;
    const auto bracket = w.text.find('[');
    const auto shape = parse_shape(std::string_view(w.text).substr(bracket));
    if (!shape) fail(w.text.substr(bracket) + " is not a shape", w.line);
    port.name = std::move(port_name);
    port.type = *parse_element_type(std::string_view(w.text).substr(0, bracket));
    port.shape = *shape;
    port.line = w.line;
    return port;
  }

  void finish_item() {
    if (!item_) return;
    if (in_body_) fail("a body is not closed by: end", item_->line);
    bool arrow = false;
    for (std::size_t i = 0; i < words_.size();) {
      const auto& w = words_[i];
      if (arrow && is_typed(w)) {
        item_->after_arrow.push_back(typed(w, ""));
        ++i;
      } else if (w.is("->")) {
        arrow = true;
        ++i;
      } else if (i + 1 < words_.size() && is_typed(words_[i + 1])) {
        auto port = typed(words_[i + 1], w.text);
        i += 2;
        if (i < words_.size() && words_[i].is("=")) {
          port.has_values = true;
          for (++i; !ends_values(i); ++i) port.values.push_back(words_[i]);
        }
        item_->ports.push_back(std::move(port));
      } else if (w.is("attr")) {
        if (i + 2 >= words_.size() || !words_[i + 2].is("=")) fail("write: attr name = value", w.line);
        const auto& attribute = words_[i + 1].text;
        std::string value;
        for (i += 3; !ends_values(i); ++i) value += (value.empty() ? "" : " ") + words_[i].text;
        item_->attributes.emplace_back(attribute, value);
      } else if (w.is("error")) {
        i = error_words(i);
      } else {
        fail("\"" + w.text + "\" is not understood: a port is written name type[shape]", w.line);
      }
    }
    judge_form();
    file_.sections.back().items.push_back(std::move(*item_));
    item_.reset();
    words_.clear();
  }

  std::size_t error_words(std::size_t i) {
    const auto line = words_[i].line;
    if (++i == words_.size()) fail("which error?", line);
    item_->error = parse_code(words_[i].text);
    if (!item_->error) fail(words_[i].text + " is not a code", line);
    ++i;
    if (i + 1 < words_.size() && words_[i].is("at")) {
      item_->at = words_[i + 1].text;
      i += 2;
    }
    if (i + 1 < words_.size() && words_[i].is("when") && words_[i + 1].is("run")) {
      item_->when_run = true;
      i += 2;
    }
    return i;
  }

  void judge_form() const {
    const auto& item = *item_;
    if (item.kind == ItemKind::shape && item.after_arrow.empty())
      fail("a shape says what it expects after ->", item.line);
    if (item.kind == ItemKind::values && !item.after_arrow.empty())
      fail("a case names its outputs: out type[shape] = values", item.line);
    if ((item.kind == ItemKind::reject) != item.error.has_value())
      fail(item.error ? "error belongs to a reject" : "a reject ends with: error CODE at PORT", item.line);
    if (item.kind == ItemKind::values) return;
    if (!item.types.empty() || item.rtol || item.atol) fail("types, rtol and atol belong to a case", item.line);
  }

  SpecFile file_;
  int line_ = 0;
  std::optional<Item> item_;
  Words words_;
  bool in_body_ = false;
};

}  // namespace

SpecFile parse_spec(const std::string& path) { return Parser(path).run(); }

}  // namespace ovir::spec
