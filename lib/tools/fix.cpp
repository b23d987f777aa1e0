#include "tools/fix.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "io/literal.hpp"
#include "tools/remedy.hpp"
#include "tools/select.hpp"

namespace ovir::tools {
namespace {

bool overlap(const Replacement& a, const Replacement& b) {
  if (a.at.length == 0 && b.at.length == 0) return a.at.offset == b.at.offset;
  return a.at.offset < b.at.offset + b.at.length && b.at.offset < a.at.offset + a.at.length;
}

/// The model with another value of one Constant; models are immutable, so those around it are new too.
std::shared_ptr<const Model> with_constant(const Model& model, const ConstantChange& change) {
  auto copy = std::make_shared<Model>(model);
  for (auto& node : copy->nodes) {
    if (model.path == change.path && node.layer->id == change.id) node.constant = change.value;
    for (auto& body : node.bodies)
      if (change.path.starts_with(body->path)) body = with_constant(*body, change);
  }
  return copy;
}

/// What stays of a fault's name when the text around it changes.
using Key = std::tuple<Code, std::string, std::int64_t, std::string>;

Key key_of(const Diagnostic& d) {
  const auto where = d.layer ? d.layer->path + d.layer->id + '\n' + d.layer->name : d.message;
  const auto port = !d.port ? -1 : 2 * d.port->index + (d.port->input ? 1 : 0);
  return {d.code, where, port, d.attribute};
}

/// Errors, and declared shapes and types that contradict: what a change must not make more of.
using Tally = std::map<Key, std::size_t>;

bool counts(const Diagnostic& d) { return severity(d.code) == Severity::error || d.code == Code::W0901; }

Tally tally(const Diagnostics& said) {
  Tally list;
  for (const auto& d : said.all())
    if (counts(d)) ++list[key_of(d)];
  return list;
}

struct Score {
  std::size_t errors = 0, contradictions = 0;
  auto operator<=>(const Score&) const = default;
};

Score score(const Tally& list) {
  Score s;
  for (const auto& [key, n] : list) (std::get<0>(key) == Code::W0901 ? s.contradictions : s.errors) += n;
  return s;
}

bool nothing_new(const Tally& before, const Tally& after) {
  return std::all_of(after.begin(), after.end(), [&](const auto& entry) {
    const auto old = before.find(entry.first);
    return old != before.end() && entry.second <= old->second;
  });
}

std::size_t times(const Tally& list, const Key& key) {
  const auto at = list.find(key);
  return at == list.end() ? 0 : at->second;
}

class Search {
 public:
  Search(const Model& m, const Subject& s, const Diagnostics& d, const Edits& before) : model(m), subject(s), said(d) {
    fixes_.edits = before;
    now_ = tally(said);
    // Reading and inferring thirty thousand layers takes a tenth of a second, and nobody waits for help for long.
    constexpr std::size_t most_layers = 300'000, fewest = 4, most = 200;
    tries_ = std::clamp(most_layers / std::max<std::size_t>(1, count_layers(model)), fewest, most);
  }

  Fixes run() {
    // Errors first, and what may be cured in more ways than one: one cause may have many contradictions downstream.
    for (std::size_t i = 0; i < said.all().size(); ++i)
      if (severity(said.all()[i].code) == Severity::error || said.all()[i].remedies.size() > 1) cure(i);
    std::vector<Fix> rest;
    for (std::size_t i = 0; i < said.all().size(); ++i)
      if (stands(i)) offer(i, rest);
    if (!all_at_once(rest))
      for (const auto& fix : rest) cure(fix.diagnostic);
    std::sort(fixes_.list.begin(), fixes_.list.end(), [](const Fix& a, const Fix& b) { return a.diagnostic < b.diagnostic; });
    fixes_.errors = score(now_).errors;
    return std::move(fixes_);
  }

 private:
  const Model& model;
  const Subject& subject;
  const Diagnostics& said;
  Fixes fixes_;
  Tally now_;             ///< with the fixes so far
  std::size_t tries_;

  static std::size_t count_layers(const Model& m) {
    auto n = m.nodes.size();
    for (const auto& node : m.nodes)
      for (const auto& body : node.bodies) n += count_layers(*body);
    return n;
  }

  bool fixed(std::size_t i) const {
    return std::any_of(fixes_.list.begin(), fixes_.list.end(), [&](const Fix& f) { return f.diagnostic == i; });
  }
  /// Not cured yet, be it as a consequence of another fix. Warnings without consequences are not tallied.
  bool stands(std::size_t i) const {
    const auto& d = said.all()[i];
    return !fixed(i) && (!counts(d) || times(now_, key_of(d)) > 0);
  }

  void offer(std::size_t i, std::vector<Fix>& to) const {
    const auto& d = said.all()[i];
    for (const auto& remedy : d.remedies) {
      auto edits = edits_of(model, d, remedy);
      if (!edits || edits->empty()) continue;
      to.push_back({i, remedy, std::move(*edits), {}});
      return;
    }
  }

  void cure(std::size_t i) {
    const auto& d = said.all()[i];
    if (!stands(i)) return;
    std::optional<Fix> best;
    Tally best_tally;
    for (const auto& remedy : d.remedies) {
      if (tries_ == 0) break;
      auto edits = edits_of(model, d, remedy);
      auto all = fixes_.edits;
      if (!edits || edits->empty() || !all.add(*edits)) continue;
      --tries_;
      const auto result = check(subject, all);
      auto after = tally(result);
      if (!nothing_new(now_, after)) continue;
      if (counts(d) ? times(after, key_of(d)) >= times(now_, key_of(d)) : warns(result, key_of(d))) continue;
      if (best && !(score(after) < score(best_tally))) continue;
      best = Fix{i, remedy, std::move(*edits), {}};
      best_tally = std::move(after);
      if (best_tally.empty()) break;
    }
    if (!best) return;
    fixes_.edits.add(best->edits);
    for (std::size_t other = 0; other < said.all().size(); ++other) {
      const auto key = key_of(said.all()[other]);
      if (other != i && times(now_, key) > 0 && times(best_tally, key) == 0) best->also.push_back(other);
    }
    fixes_.list.push_back(std::move(*best));
    now_ = std::move(best_tally);
  }

  static bool warns(const Diagnostics& list, const Key& key) {
    return std::any_of(list.all().begin(), list.all().end(), [&](const Diagnostic& d) { return key_of(d) == key; });
  }

  /// Hundreds of ports may be declared wrongly: one check for all of them.
  bool all_at_once(const std::vector<Fix>& list) {
    if (list.size() < 2) return false;
    auto all = fixes_.edits;
    for (const auto& fix : list)
      if (!all.add(fix.edits)) return false;
    const auto result = check(subject, all);
    auto after = tally(result);
    const bool good = nothing_new(now_, after) && std::none_of(list.begin(), list.end(), [&](const Fix& f) { return warns(result, key_of(said.all()[f.diagnostic])); });
    if (!good) return false;
    fixes_.edits = std::move(all);
    fixes_.list.insert(fixes_.list.end(), list.begin(), list.end());
    now_ = std::move(after);
    return true;
  }
};

const Node* find_constant(const Model& model, std::string_view name, const Model*& owner) {
  for (const auto& node : model.nodes) {
    if (model.path + node.layer->name == name && node.op && node.op->kind == Kind::constant) {
      owner = &model;
      return &node;
    }
    for (const auto& body : node.bodies)
      if (const auto* found = find_constant(*body, name, owner)) return found;
  }
  return nullptr;
}

}  // namespace

bool Edits::add(const Edits& other) {
  for (const auto& mine : texts)
    for (const auto& theirs : other.texts)
      if (overlap(mine, theirs)) return false;
  for (const auto& mine : constants)
    for (const auto& theirs : other.constants)
      if (mine.path == theirs.path && mine.id == theirs.id) return false;
  texts.insert(texts.end(), other.texts.begin(), other.texts.end());
  constants.insert(constants.end(), other.constants.begin(), other.constants.end());
  return true;
}

std::string apply(std::string_view text, std::vector<Replacement> replacements) {
  std::stable_sort(replacements.begin(), replacements.end(), [](const Replacement& a, const Replacement& b) { return a.at.offset < b.at.offset; });
  std::string out;
  std::size_t done = 0;
  for (const auto& r : replacements) {
    out += text.substr(done, r.at.offset - done);
    out += r.text;
    done = r.at.offset + r.at.length;
  }
  out += text.substr(done);
  return out;
}

std::optional<ConstantChange> change_constant(const Model& model, const Node& node, std::string_view values) {
  if (!node.constant) return std::nullopt;
  if (node.constant.type() == ElementType::string) fail(Code::E0705, "the strings of constant \"{}\" cannot be set", printable(node.layer->name));
  std::string dims;
  for (const auto n : node.constant.shape()) dims += fmt::format("{}x", n);
  auto value = io::parse_literal(fmt::format("{}{}={}", dims, name(node.constant.type()), values));
  if (!value) return std::nullopt;
  return ConstantChange{model.path, node.layer->id, node.layer->name, std::string(values), std::move(*value), node.constant};
}

ConstantChange change_constant(const Model& model, std::string_view name, std::string_view values) {
  const Model* owner = nullptr;
  const auto* node = find_constant(model, name, owner);
  if (!node) throw SelectorError(fmt::format("there is no Constant called \"{}\"", printable(name)));
  auto change = change_constant(*owner, *node, values);
  if (!change) fail(Code::E0705, "the value of constant \"{}\" is not there: its weights are missing", printable(name));
  return std::move(*change);
}

Diagnostics check(const Subject& subject, const Edits& edits) {
  Diagnostics said;
  auto text = std::make_shared<const std::string>(apply(subject.source->text, edits.texts));
  const auto source = std::make_shared<const SourceFile>(SourceFile{subject.source->path, text, *text});
  auto model = load(source, subject.reading, said);
  if (!model) return said;
  for (const auto& change : edits.constants) model = with_constant(*model, change);
  ovir::infer(*model, subject.inferring, said);
  return said;
}

Fixes find_fixes(const Model& model, const Subject& subject, const Diagnostics& said, const Edits& before) { return Search(model, subject, said, before).run(); }

}  // namespace ovir::tools
