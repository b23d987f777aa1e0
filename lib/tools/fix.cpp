#include "tools/fix.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "io/literal.hpp"
#include "model/report.hpp"
#include "tools/lower.hpp"
#include "tools/remedy.hpp"
#include "tools/select.hpp"

namespace ovir::tools {
namespace {

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
using Key = std::tuple<Code, std::string, i64, std::string>;

Key key_of(const Diagnostic& d) {
  const auto where = d.layer ? d.layer->path + d.layer->id + '\n' + d.layer->name : d.message;
  const auto port = !d.port ? -1 : 2 * d.port->index + (d.port->input ? 1 : 0);
  return {d.code, where, port, d.attribute};
}

/// Errors, and declared shapes and types that contradict: what a change must not make more of.
using Tally = std::map<Key, std::size_t>;

bool counts(const Diagnostic& d) { return severity(d.code) == Severity::error || d.code == Code::W0901; }

Tally tally(const Diagnostics& diagnostics) {
  Tally list;
  for (const auto& d : diagnostics.all())
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

/// Layers that were not judged before may turn out to contradict what they declare; those `at_fault` may not.
bool nothing_new(const Tally& before, const Tally& after, const std::set<std::string>& at_fault) {
  return std::all_of(after.begin(), after.end(), [&](const auto& entry) {
    const auto& [code, layer, port, attribute] = entry.first;
    const auto old = before.find(entry.first);
    const bool known = old != before.end() && entry.second <= old->second;
    return known || (code == Code::W0901 && !at_fault.empty() && !at_fault.contains(layer));
  });
}

std::size_t times(const Tally& list, const Key& key) {
  const auto at = list.find(key);
  return at == list.end() ? 0 : at->second;
}

class FixSearch {
 public:
  FixSearch(const Model& m, const CheckedModel& s, const Diagnostics& d, const Edits& before)
      : model_(m), subject(s), diagnostics(d.all()), remedies_(m), fixed_(diagnostics.size(), false) {
    fixes_.edits = before;
    now_ = tally(d);
    // Reading and inferring thirty thousand layers takes a tenth of a second, and nobody waits for help for long.
    constexpr std::size_t max_layers = 150'000, min = 3, max = 200;
    tries_ = std::clamp(max_layers / std::max<std::size_t>(1, count_layers(m)), min, max);
  }

  Fixes run() {
    const auto is_error = [&](std::size_t i) { return severity(diagnostics[i].code) == Severity::error; };
    // First what contradicts itself in one place, and may be cured in two ways: all that is said downstream may come
    // from it.
    each([&](std::size_t i) { return !is_error(i) && diagnostics[i].remedies.size() > 1; });
    each(is_error);
    each([](std::size_t) { return true; });
    std::sort(fixes_.list.begin(), fixes_.list.end(),
              [](const Fix& a, const Fix& b) { return a.diagnostic < b.diagnostic; });
    fixes_.errors = score(now_).errors;
    fixes_.contradictions = score(now_).contradictions;
    return std::move(fixes_);
  }

 private:
  const Model& model_;
  const CheckedModel& subject;
  const std::vector<Diagnostic>& diagnostics;
  const Remedies remedies_;
  std::vector<bool> fixed_;
  Fixes fixes_;
  Tally now_;  ///< with the fixes so far
  std::size_t tries_;
  std::set<std::string> judged_;  ///< layers as keys name them

  /// Still reported with the fixes made so far. Warnings without consequences are not tallied.
  bool stands(std::size_t i) const {
    return !fixed_[i] && (!counts(diagnostics[i]) || times(now_, key_of(diagnostics[i])) > 0);
  }

  /// Cures those of the diagnostics that `wanted` picks: one by one where there are tries for that, else all at once.
  template <class Wanted>
  void each(Wanted wanted) {
    std::vector<Fix> list;
    for (std::size_t i = 0; i < diagnostics.size(); ++i)
      if (!diagnostics[i].remedies.empty() && wanted(i) && stands(i)) offer(i, list);
    // Ports that are declared wrongly have one cure each, and it harms nothing.
    const bool plain = std::all_of(list.begin(), list.end(), [&](const Fix& f) {
      return diagnostics[f.diagnostic].code == Code::W0901 && diagnostics[f.diagnostic].remedies.size() == 1;
    });
    if ((plain || list.size() > tries_) && list.size() > 1 && all_at_once(list)) return;
    for (const auto& fix : list) cure(fix.diagnostic);
  }

  void offer(std::size_t i, std::vector<Fix>& to) const {
    for (const auto& remedy : diagnostics[i].remedies) {
      auto edits = remedies_.edits_of(diagnostics[i], remedy);
      if (!edits || edits->empty()) continue;
      to.push_back({i, remedy, std::move(*edits), {}});
      return;
    }
  }

  void cure(std::size_t i) {
    const auto& d = diagnostics[i];
    if (tries_ == 0 || !stands(i)) return;
    std::optional<Fix> best, second_best, uncovering;
    Tally best_tally, second_tally, uncovering_tally;
    for (const auto& remedy : d.remedies) {
      if (tries_ == 0) break;
      auto edits = remedies_.edits_of(d, remedy);
      auto all = fixes_.edits;
      if (!edits || edits->empty()) continue;
      all.append(*edits);
      if (!all.disjoint()) continue;
      --tries_;
      const auto result = check(subject, all);
      auto after = tally(result);
      if (!cured(i, result, after)) continue;
      if (!nothing_new(now_, after, at_fault(d, score(after).errors < score(now_).errors))) {
        // What the ports declare may be as old as the value that no longer fits.
        const bool of_values =
            std::all_of(remedy.begin(), remedy.end(), [](const Change& c) { return c.what == Change::What::input; });
        if (!of_values && (!uncovering || score(after) < score(uncovering_tally)))
          if (const auto n = uncovered_by(after, d, remedy); n > 0) {
            uncovering = Fix{i, remedy, *edits, {}, n};
            uncovering_tally = after;
          }
        if (second_best || !of_values || score(after).errors > 0) continue;
        second_best = Fix{i, remedy, std::move(*edits), {}};
        second_tally = std::move(after);
        continue;
      }
      if (best && !(score(after) < score(best_tally))) continue;
      best = Fix{i, remedy, std::move(*edits), {}};
      best_tally = std::move(after);
      if (best_tally.empty()) break;
    }
    if (best) accept({std::move(*best)}, std::move(best_tally));
    else if (second_best) accept({std::move(*second_best)}, std::move(second_tally));
    else if (uncovering) accept({std::move(*uncovering)}, std::move(uncovering_tally));
  }

  /// Hundreds of layers may have one fault: one check for all of them.
  bool all_at_once(std::vector<Fix>& list) {
    if (tries_ == 0) return false;
    auto all = fixes_.edits;
    for (const auto& fix : list) all.append(fix.edits);
    if (!all.disjoint()) return false;
    --tries_;
    const auto result = check(subject, all);
    auto after = tally(result);
    std::set<std::string> layers;
    for (const auto& fix : list) layers.merge(at_fault(diagnostics[fix.diagnostic], false));
    if (!nothing_new(now_, after, layers)) return false;
    std::set<Key> left;
    for (const auto& d : result.all()) left.insert(key_of(d));
    if (std::any_of(list.begin(), list.end(),
                    [&](const Fix& f) { return left.contains(key_of(diagnostics[f.diagnostic])); }))
      return false;
    accept(std::move(list), std::move(after));
    return true;
  }

  /// How many errors are new in `after`; 0 where one of them is of a layer that was judged before. The layer at fault
  /// counts as judged where its inputs were held against an operation set, and the remedy names another.
  std::size_t uncovered_by(const Tally& after, const Diagnostic& cured, const Remedy& remedy) {
    const auto own = std::get<1>(key_of(cured));
    const bool other_set = cured.code < Code::E0601 && std::any_of(remedy.begin(), remedy.end(), [](const Change& c) {
                             return c.what == Change::What::layer_attribute && c.name == "version";
                           });
    if (judged_.empty()) {
      Diagnostics unused;
      collect_judged(model_, ovir::infer(model_, subject.inferring, unused));
    }
    std::size_t n = 0;
    for (const auto& [key, count] : after) {
      const auto before = times(now_, key);
      if (count <= before || std::get<0>(key) == Code::W0901) continue;
      const auto& layer = std::get<1>(key);
      if (layer == own ? other_set : judged_.contains(layer)) return 0;
      n += count - before;
    }
    return n;
  }

  void collect_judged(const Model& model, const Facts& facts) {
    for (std::size_t i = 0; i < model.nodes.size() && i < facts.outputs.size(); ++i) {
      const auto& layer = *model.nodes[i].layer;
      const auto& outputs = facts.outputs[i];
      if (std::any_of(outputs.begin(), outputs.end(), [](const Fact& f) { return f.type != ElementType::dynamic; }))
        judged_.insert(model.path + layer.id_text + '\n' + layer.name);
      for (std::size_t b = 0; b < model.nodes[i].bodies.size() && b < facts.bodies[i].size(); ++b)
        collect_judged(*model.nodes[i].bodies[b], facts.bodies[i][b]);
    }
  }

  /// The layer of an error, or of what errors come from. What is but declared wrongly hides nothing.
  static std::set<std::string> at_fault(const Diagnostic& d, bool cures_errors) {
    if (severity(d.code) != Severity::error && !cures_errors) return {};
    return {std::get<1>(key_of(d))};
  }

  bool cured(std::size_t i, const Diagnostics& result, const Tally& after) const {
    const auto key = key_of(diagnostics[i]);
    if (counts(diagnostics[i])) return times(after, key) < times(now_, key);
    return std::none_of(result.all().begin(), result.all().end(),
                        [&](const Diagnostic& d) { return key_of(d) == key; });
  }

  void accept(std::vector<Fix> fixes, Tally after) {
    for (auto& fix : fixes) {
      fixes_.edits.append(fix.edits);
      fixed_[fix.diagnostic] = true;
    }
    if (fixes.size() == 1)
      for (std::size_t other = 0; other < diagnostics.size(); ++other) {
        const auto key = key_of(diagnostics[other]);
        if (!fixed_[other] && times(now_, key) > 0 && times(after, key) == 0) fixes.front().also.push_back(other);
      }
    fixes_.list.insert(fixes_.list.end(), std::make_move_iterator(fixes.begin()), std::make_move_iterator(fixes.end()));
    now_ = std::move(after);
  }
};

/// The Constants of that name, each with the model that holds it.
void find_constants(const Model& model, std::string_view name,
                    std::vector<std::pair<const Model*, const Node*>>& found) {
  for (const auto& node : model.nodes) {
    if (model.path + node.layer->name == name && node.op && node.op->kind == Kind::constant)
      found.emplace_back(&model, &node);
    for (const auto& body : node.bodies) find_constants(*body, name, found);
  }
}

void constant_names(const Model& model, std::vector<std::string>& names) {
  for (const auto& node : model.nodes) {
    if (node.op && node.op->kind == Kind::constant) names.push_back(model.path + node.layer->name);
    for (const auto& body : node.bodies) constant_names(*body, names);
  }
}

}  // namespace

void Edits::append(const Edits& other) {
  texts.insert(texts.end(), other.texts.begin(), other.texts.end());
  constants.insert(constants.end(), other.constants.begin(), other.constants.end());
}

bool Edits::disjoint() const {
  std::vector<std::pair<std::size_t, std::size_t>> stretches;  // begin, end
  for (const auto& [at, text] : texts) stretches.emplace_back(at.offset, at.offset + at.length);
  std::sort(stretches.begin(), stretches.end());
  std::set<std::pair<std::string_view, i64>> layers;
  for (const auto& change : constants) layers.emplace(change.path, change.id);
  const auto clash = [](const auto& a, const auto& b) {
    return b.first < a.second;
  };  // much may be put in at one place
  return layers.size() == constants.size() &&
         std::adjacent_find(stretches.begin(), stretches.end(), clash) == stretches.end();
}

std::string apply(std::string_view text, std::vector<Replacement> replacements) {
  std::stable_sort(replacements.begin(), replacements.end(), [](const Replacement& a, const Replacement& b) {
    return std::pair(a.at.offset, a.at.length) < std::pair(b.at.offset, b.at.length);
  });
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
  if (node.constant.type() == ElementType::string)
    fail(Code::E0705, "constant \"{}\" holds strings, which cannot be set", printable(node.layer->name));
  std::string dims;
  for (const auto n : node.constant.shape()) dims += fmt::format("{}x", n);
  auto value = io::parse_literal(fmt::format("{}{}={}", dims, name(node.constant.type()), values));
  if (!value) return std::nullopt;
  return ConstantChange{model.path,          node.layer->id,    node.layer->name,
                        std::string(values), std::move(*value), node.constant};
}

ConstantChange change_constant(const Model& model, std::string_view name, std::string_view values) {
  std::vector<std::pair<const Model*, const Node*>> found;
  find_constants(model, name, found);
  std::vector<std::string> names;
  if (found.empty()) constant_names(model, names);
  const auto near = nearest(name, {names.begin(), names.end()});
  const auto other = std::find_if(model.nodes.begin(), model.nodes.end(),
                                  [&](const Node& n) { return found.empty() && n.layer->name == name && n.op; });
  if (other != model.nodes.end()) {
    std::vector<std::string> read;
    for (const auto& input : other->inputs)
      if (input.node >= 0 && model[input.node].constant)
        read.push_back(fmt::format("\"{}\"", printable(model[input.node].layer->name)));
    throw SelectorError(fmt::format("\"{}\" is a {}, not a Constant{}", printable(name), other->op->type,
                                    read.empty() ? "" : "; it reads the Constants " + word_list(std::move(read))));
  }
  if (found.size() != 1)
    throw SelectorError(found.empty() ? fmt::format("no Constant is named \"{}\"{}", printable(name),
                                                    near ? fmt::format("; did you mean \"{}\"?", printable(*near)) : "")
                                      : fmt::format("{} Constants are named \"{}\"", found.size(), printable(name)));
  auto change = change_constant(*found.front().first, *found.front().second, values);
  if (!change) fail(Code::E0705, "constant \"{}\" has no value: its weights are missing", printable(name));
  return std::move(*change);
}

namespace {

/// The ports of `model` whose shapes differ between the facts are declared as in `after`.
void redeclare(const Model& model, const Facts& before, const Facts& after, const Remedies& remedies, Edits& edits) {
  const auto declare = [&](const Layer& layer, const Port& port, const Fact& old, const Fact& now, bool is_parameter) {
    if (old.shape == now.shape || !now.shape.has_rank()) return;
    Diagnostic at_port;
    at_port.layer = layer_ref(model, layer);
    at_port.at = port.at;
    Remedy remedy{{Change::What::dims, {}, list_of(now.shape)}};
    // That of the whole model's Parameters is what was asked for.
    if (is_parameter && !model.path.empty())
      remedy.push_back({Change::What::attribute, "shape", attribute_text(now.shape)});
    if (const auto change = remedies.edits_of(at_port, remedy)) edits.append(*change);
  };
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const auto& node = model.nodes[n];
    const auto& layer = *node.layer;
    for (std::size_t o = 0; o < layer.outputs.size() && o < after.outputs[n].size(); ++o)
      declare(layer, layer.outputs[o], before.outputs[n][o], after.outputs[n][o],
              node.op && node.op->kind == Kind::parameter);
    for (std::size_t i = 0; i < layer.inputs.size() && i < node.inputs.size(); ++i)
      if (const auto v = node.inputs[i]; v.node >= 0) declare(layer, layer.inputs[i], before.of(v), after.of(v), false);
    for (std::size_t b = 0; b < before.bodies[n].size() && b < after.bodies[n].size(); ++b)
      if (!before.bodies[n][b].outputs.empty() && !after.bodies[n][b].outputs.empty())
        redeclare(*node.bodies[b], before.bodies[n][b], after.bodies[n][b], remedies, edits);
  }
}

}  // namespace

Edits reshape(const Model& model, const std::map<int, PartialShape>& shapes) {
  const Remedies remedies(model);
  Edits edits;
  for (const auto& [k, shape] : shapes) {
    Diagnostic at_layer;
    at_layer.layer = layer_ref(model, *model[model.parameters[k]].layer);
    if (const auto change = remedies.edits_of(at_layer, {{Change::What::attribute, "shape", attribute_text(shape)}}))
      edits.append(*change);
  }
  Diagnostics unused;
  const auto before = ovir::infer(model, {}, unused), after = ovir::infer(model, {.shapes = shapes}, unused);
  redeclare(model, before, after, remedies, edits);
  return edits;
}

Diagnostics check(const CheckedModel& subject, const Edits& edits) {
  Diagnostics diagnostics;
  auto text = std::make_shared<const std::string>(apply(subject.source->text, edits.texts));
  const auto source = std::make_shared<const SourceFile>(SourceFile{subject.source->path, text, *text});
  auto model = load(source, subject.reading, diagnostics);
  if (!model) return diagnostics;
  for (const auto& change : edits.constants) model = with_constant(*model, change);
  ovir::infer(*model, subject.inferring, diagnostics);
  if (!subject.release.empty()) check_release(*model, subject.release, diagnostics);
  return diagnostics;
}

Fixes find_fixes(const Model& model, const CheckedModel& subject, const Diagnostics& diagnostics, const Edits& before) {
  return FixSearch(model, subject, diagnostics, before).run();
}

}  // namespace ovir::tools
