#include "tools/select.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <re2/re2.h>

#include "base/text.hpp"

namespace ovir::tools {
namespace {

std::string full_name(const Model& model, int node) { return model.path + model[node].layer->name; }

/// Splits at commas, but not at those within /.../ .
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  bool regex = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '/') {
      const auto before = trim(text.substr(begin, i - begin));
      const bool opens = before.empty() || before == "!" || before.ends_with(':');
      const bool closes = i + 1 == text.size() || text[i + 1] == ',' || text[i + 1] == '@' || text[i + 1] == ' ';
      if (!regex && opens) regex = true;
      else if (regex && closes) regex = false;
    }
    if (i < text.size() && (text[i] != ',' || regex)) continue;
    terms.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return terms;
}

constexpr int kDeepest = 32;

class Selector {
 public:
  Selector(const Model& whole, Constants constants, const Model* part) : constants_(constants), part_(part) {
    collect(whole);
  }

  std::vector<Selected> run(std::string_view text) {
    if (const auto exact = by_name(trim(text)); !exact.empty()) return exact;
    std::vector<Selected> chosen, excluded;
    bool any_positive = false;
    for (const auto term : split_terms(text)) {
      if (term.empty()) throw SelectorError("a selector must not be empty");
      if (term.front() == '!') {
        append(excluded, parse(trim(term.substr(1))));
      } else {
        any_positive = true;
        append(chosen, spare(parse(term)));
      }
    }
    if (!any_positive) chosen = spare(all_);
    auto selected = in_order(chosen, excluded);
    if (selected.empty())
      throw SelectorError(fmt::format("'{}' excludes every layer that it selects", printable(text)));
    return selected;
  }

  std::vector<std::string> shared_names(std::string_view text) const {
    std::vector<std::string> notes;
    const auto note = [&](std::string_view name) {
      const auto found = by_name(name);
      if (found.size() < 2) return;
      std::string ids;
      for (std::size_t i = 0; i < found.size() && i < 4; ++i)
        ids += fmt::format("{}{}", i == 0 ? "" : ", ", (*found[i].model)[found[i].node].layer->id);
      notes.push_back(fmt::format("{} layers are named \"{}\" (ids {}{}), and all of them are selected", found.size(),
                                  printable(name), ids, found.size() > 4 ? ", ..." : ""));
    };
    if (!by_name(trim(text)).empty()) {
      note(trim(text));
      return notes;
    }
    for (auto term : split_terms(text)) {
      if (term.starts_with('!')) term = trim(term.substr(1));
      for (const std::string_view prefix : {"tensor:", "from:", "to:"})
        if (term.starts_with(prefix)) term.remove_prefix(prefix.size());
      note(term.substr(0, term.find("@it=")));
    }
    return notes;
  }

 private:
  Constants constants_;
  const Model* part_;
  std::vector<Selected> all_;  // every node, in order
  std::vector<const Model*> models_;

  /// Only the layers of the part that is preferred, or of a body without those of bodies within it; and without
  /// constants, unless there is nothing else.
  std::vector<Selected> spare(std::vector<Selected> found) const {
    if (part_) {
      const bool any = std::ranges::any_of(found, [&](const Selected& s) { return s.model == part_; });
      const auto* const home = any ? part_ : found.front().model;
      const auto within = [&](const Selected& s) { return s.model->path.starts_with(home->path); };
      if (any || std::ranges::all_of(found, within))
        std::erase_if(found, [&](const auto& s) { return s.model != home; });
    }
    const auto constant = [](const Selected& s) {
      const auto* const op = (*s.model)[s.node].op;
      return op && op->kind == Kind::constant;
    };
    if (constants_ == Constants::spared && !std::all_of(found.begin(), found.end(), constant))
      std::erase_if(found, constant);
    return found;
  }

  void collect(const Model& model) {
    models_.push_back(&model);
    for (int i = 0; i < std::ssize(model.nodes); ++i) all_.push_back({&model, i, {}, {}});
    for (const auto& node : model.nodes)
      for (const auto& body : node.bodies) collect(*body);
  }

  static void append(std::vector<Selected>& to, const std::vector<Selected>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  template <class F>
  std::vector<Selected> where(F&& matches) const {
    std::vector<Selected> list;
    for (const auto& s : all_)
      if (matches(*s.model, s.node)) list.push_back(s);
    return list;
  }

  std::vector<Selected> by_name(std::string_view name) const {
    return where([&](const Model& m, int i) {
      return m.path.size() + m[i].layer->name.size() == name.size() && name.starts_with(m.path) &&
             name.substr(m.path.size()) == m[i].layer->name;
    });
  }

  std::vector<Selected> by_tensor_name(std::string_view name) const {
    std::vector<Selected> list;
    for (const auto& s : all_) {
      const auto& ports = (*s.model)[s.node].layer->outputs;
      for (int p = 0; p < std::ssize(ports); ++p)
        if (std::find(ports[p].names.begin(), ports[p].names.end(), name) != ports[p].names.end())
          list.push_back({s.model, s.node, p, {}});
    }
    return list;
  }

  /// `depth`: how many of from:, to: and @it= stand around the term.
  std::vector<Selected> parse(std::string_view term, int depth = 0) const {
    if (term.empty()) throw SelectorError("a selector must not be empty");
    if (depth > kDeepest)
      throw SelectorError(fmt::format("a selector nests from:, to: and @it= at most {} deep", kDeepest));
    auto found = by_name(term);
    if (found.empty()) found = by_iteration(term, depth);
    if (found.empty()) found = by_form(term, depth);
    if (found.empty()) nothing(term);
    return found;
  }

  /// `...@it=3`: what stands before it, in one iteration.
  std::vector<Selected> by_iteration(std::string_view term, int depth) const {
    constexpr std::string_view mark = "@it=";
    const auto at = term.rfind(mark);
    if (at == term.npos) return {};
    const auto number = parse_number<i64>(term.substr(at + mark.size()));
    if (!number || *number < 0)
      throw SelectorError(fmt::format("'{}': an iteration must be a number from 0", printable(term)));
    auto found = parse(term.substr(0, at), depth + 1);
    for (auto& s : found) {
      if (s.model->path.empty())
        throw SelectorError(
            fmt::format("'{}': \"{}\" is not in a loop", printable(term), printable(full_name(*s.model, s.node))));
      s.iteration = *number;
    }
    return found;
  }

  std::vector<Selected> by_form(std::string_view term, int depth) const {
    const auto rest = [&](std::string_view prefix) { return term.substr(prefix.size()); };
    if (term.starts_with("type:")) {
      const auto type = lower(rest("type:"));
      return where([&](const Model& m, int i) { return glob_match(type, lower(m[i].layer->type)); });
    }
    if (term.starts_with("id:")) return by_id(term, rest("id:"));
    if (term.starts_with("tensor:")) return by_tensor(rest("tensor:"));
    if (term.starts_with("from:")) return reached(parse(rest("from:"), depth + 1), true);
    if (term.starts_with("to:")) return reached(parse(rest("to:"), depth + 1), false);
    if (term.size() > 2 && term.front() == '/' && term.back() == '/') return by_regex(term.substr(1, term.size() - 2));
    if (term.find_first_of("*?") != term.npos)
      return where([&](const Model& m, int i) { return glob_match(term, full_name(m, i)); });
    return by_tensor_name(term);
  }

  std::vector<Selected> by_id(std::string_view term, std::string_view text) const {
    const auto dots = text.find("..");
    const auto first = parse_number<i64>(text.substr(0, dots));
    const auto last = dots == text.npos ? first : parse_number<i64>(text.substr(dots + 2));
    if (!first || !last) throw SelectorError(fmt::format("'{}': expected id:42 or id:10..20", printable(term)));
    if (*first > *last) throw SelectorError(fmt::format("'{}': the range is empty", printable(term)));
    // Ids of bodies count on their own: only those of the model itself are meant.
    return where(
        [&](const Model& m, int i) { return m.path.empty() && *first <= m[i].layer->id && m[i].layer->id <= *last; });
  }

  std::vector<Selected> by_tensor(std::string_view text) const {
    if (auto found = by_tensor_name(text); !found.empty()) return found;
    const auto colon = text.rfind(':');
    const auto port = colon == text.npos ? std::nullopt : parse_number<int>(text.substr(colon + 1));
    auto found = by_name(text.substr(0, colon));
    if (colon != text.npos && !port) return {};
    for (auto& s : found) {
      const auto count = (*s.model)[s.node].output_count;
      if (port && (*port < 0 || *port >= count))
        throw SelectorError(fmt::format("\"{}\" has no output port {}; it has {}", printable(text.substr(0, colon)),
                                        *port, counted(count, "output port")));
      s.port = port;
    }
    return found;
  }

  std::vector<Selected> by_regex(std::string_view pattern) const {
    RE2::Options options;
    options.set_log_errors(false);
    const RE2 regex(std::string(pattern), options);  // its own string_view may be another
    if (!regex.ok())
      throw SelectorError(
          fmt::format("/{}/ is not a valid regular expression: {}", printable(pattern), printable(regex.error())));
    return where([&](const Model& m, int i) { return RE2::PartialMatch(full_name(m, i), regex); });
  }

  /// Everything in front of or behind `seeds`, within the model or body that each lies in.
  std::vector<Selected> reached(const std::vector<Selected>& seeds, bool forward) const {
    std::vector<Selected> list;
    for (const auto* model : models_) {
      std::vector<bool> in(model->nodes.size(), false);
      bool any = false;
      for (const auto& s : seeds)
        if (s.model == model) in[s.node] = any = true;
      if (!any) continue;
      const auto size = model->nodes.size();
      for (std::size_t step = 0; step < size; ++step) {  // in topological order one pass is enough
        const auto i = forward ? step : size - 1 - step;
        for (const auto& v : model->nodes[i].inputs) {
          if (v.node < 0) continue;
          const auto from = v.node;
          if (forward && in[from]) in[i] = true;
          if (!forward && in[i]) in[from] = true;
        }
      }
      for (int i = 0; i < std::ssize(model->nodes); ++i)
        if (in[i]) list.push_back({model, i, {}, {}});
    }
    return list;
  }

  std::vector<Selected> in_order(const std::vector<Selected>& chosen, const std::vector<Selected>& excluded) const {
    std::vector<Selected> list;
    std::size_t place = 0;
    std::vector<std::vector<std::size_t>> at(models_.size());
    for (std::size_t m = 0; m < models_.size(); ++m)
      for (std::size_t i = 0; i < models_[m]->nodes.size(); ++i) at[m].push_back(place++);
    const auto order = [&](const Selected& s) {
      const auto m = std::find(models_.begin(), models_.end(), s.model) - models_.begin();
      return at[m][s.node];
    };
    const auto key = [&](const Selected& s) {
      return std::tuple(order(s), s.port.value_or(-1), s.iteration.value_or(-1));
    };
    std::vector<bool> out(place, false);
    for (const auto& s : excluded) out[order(s)] = true;
    for (const auto& s : chosen)
      if (!out[order(s)]) list.push_back(s);
    std::sort(list.begin(), list.end(), [&](const Selected& a, const Selected& b) { return key(a) < key(b); });
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  [[noreturn]] void nothing(std::string_view term) const {
    constexpr std::string_view by_type = "type:";
    const bool type = term.starts_with(by_type);
    std::vector<std::string> names;
    for (const auto& s : all_) {
      names.push_back(type ? std::string(by_type) + (*s.model)[s.node].layer->type : full_name(*s.model, s.node));
      // A layer of a body without its path.
      if (!s.model->path.empty() && (*s.model)[s.node].layer->name == term) suggest(term, names.back());
    }
    if (const auto colon = term.rfind(':'); colon != term.npos && !by_name(term.substr(0, colon)).empty())
      suggest(term, fmt::format("tensor:{}", term));
    for (const auto& name : names)
      if (type && term.size() > by_type.size() && lower(name).starts_with(lower(term))) suggest(term, name);
    if (const auto near = nearest(term, {names.begin(), names.end()})) suggest(term, *near);
    if (term == "all") suggest(term, "*");
    if (term.size() < 3 || term.find_first_of("*?:/") != term.npos) none(term);
    const auto pattern = fmt::format("*{}*", term);
    if (std::ranges::any_of(names, [&](const auto& name) { return glob_match(pattern, name); })) suggest(term, pattern);
    for (const auto& s : all_)
      if (lower((*s.model)[s.node].layer->type) == lower(term)) suggest(term, fmt::format("type:{}", term));
    none(term);
  }

  [[noreturn]] static void none(std::string_view term) {
    throw SelectorError(fmt::format("'{}' selects no layer", printable(term)));
  }

  [[noreturn]] static void suggest(std::string_view term, std::string_view meant) {
    throw SelectorError(fmt::format("'{}' selects no layer; did you mean \"{}\"?", printable(term), printable(meant)));
  }
};

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<Selected> select(const Model& model, std::string_view selector, Constants constants, const Model* part) {
  return Selector(model, constants, part).run(selector);
}

std::vector<std::string> shared_names(const Model& model, std::string_view selector) {
  return Selector(model, Constants::selected, nullptr).shared_names(selector);
}

}  // namespace ovir::tools
