#include "tools/align.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "tools/metrics.hpp"
#include "tools/numbers.hpp"

namespace ovir::tools {
namespace {

using Label = std::uint64_t;
constexpr int kMaxRounds = 64;
constexpr i64 kTelling = 8;           // elements of a constant whose values tell it from others
constexpr double kNearlySame = 0.05;  // relative RMS difference of two fingerprints

/// Mixes `value` into `label` (the finalizer of SplitMix64).
Label mixed(Label label, Label value) {
  auto z = label + 0x9e3779b97f4a7c15ULL + value;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}
Label of_text(std::string_view text, Label label = 0) {
  for (const char c : text) label = mixed(label, static_cast<unsigned char>(c));
  return label;
}

/// Layers that conversions put in or take out: neighbors are looked for behind them.
bool is_transparent(const Node& node) {
  static const std::set<std::string_view> types{"Convert", "FakeQuantize"};
  return types.contains(node.op->type) && !node.inputs.empty();
}

/// A name that a converter made up ("Multiply_123"): another conversion gives it to another layer.
bool is_made_up(const Node& node) {
  const std::string_view name = node.layer->name;
  const auto digits = name.find_last_not_of("0123456789");
  if (digits == name.npos) return true;
  if (digits + 1 == name.size() || name[digits] != '_') return name == node.layer->type;
  const auto stem = name.substr(0, digits);
  return stem == node.layer->type || stem == "Constant";
}

/// One of the two models, with labels that grow apart round by round.
class Side {
 public:
  explicit Side(const Model& model) : model_(model), labels_(size()), fixed_(size(), 0), users_(size()), in_(size()) {
    for (std::size_t i = 0; i < size(); ++i) {
      const auto& node = model.nodes[i];
      labels_[i] = own_label(node);
      for (std::size_t port = 0; port < node.inputs.size(); ++port) {
        const auto from = behind(node.inputs[port].node);
        in_[i].push_back(from);
        if (!is_transparent(node)) users_[from].emplace_back(static_cast<int>(i), port);
      }
    }
  }
  std::size_t size() const { return model_.nodes.size(); }
  const Model& model() const { return model_; }
  const Node& node(int i) const { return model_[i]; }
  Label label(int i) const { return labels_[i]; }
  /// A label that stays.
  void fix_label(int i, Label label) {
    labels_[i] = label;
    fixed_[i] = 1;
  }

  void next_round() {
    auto next = labels_;
    for (std::size_t i = 0; i < size(); ++i) {
      if (fixed_[i]) continue;
      for (const int from : in_[i]) next[i] = mixed(next[i], label(from));
      Label users = 0;  // in no order
      for (const auto& [user, port] : users_[i]) users += mixed(label(user), port + 1);
      next[i] = mixed(next[i], users);
    }
    labels_ = std::move(next);
  }

 private:
  int behind(int i) const {
    while (is_transparent(model_[i])) i = model_[i].inputs[0].node;
    return i;
  }

  static Label own_label(const Node& node) {
    auto label = of_text(node.op->type);
    if (node.op->kind == Kind::constant) {
      const auto& t = node.constant;
      for (const auto dim : t.shape()) label = mixed(label, static_cast<Label>(dim));
      if (t.size() < kTelling || t.type() == ElementType::string) return label;
      const bool real = is_float(t.type());
      const auto values = (real ? convert(t, ElementType::f16) : t).unpacked();
      return of_text({reinterpret_cast<const char*>(values.bytes()), values.byte_size()}, label);
    }
    for (const auto& a : node.layer->attributes)
      if (a.name != "element_type" && a.name != "destination_type" && a.name != "shape")
        label = of_text(trim(a.value), of_text(a.name, label));
    return label;
  }

  const Model& model_;
  std::vector<Label> labels_;
  std::vector<char> fixed_;
  std::vector<std::vector<std::pair<int, std::size_t>>> users_;
  std::vector<std::vector<int>> in_;
};

class Aligner {
 public:
  Aligner(const Model& first, const Model& second, Alignment& to)
      : a_(first), b_(second), of_a_(a_.size(), -1), of_b_(b_.size(), -1), to_(to) {}

  void run() {
    by_position(a_.model().parameters, b_.model().parameters);
    by_position(a_.model().results, b_.model().results);
    by_name(false);
    by_structure();
    by_name(true);
    by_structure();
    for (int i = 0; i < std::ssize(of_b_); ++i) {
      if (of_b_[i] < 0) {
        leave(to_.only_second, b_, i);
        continue;
      }
      const auto &node = b_.model().nodes[i], &counterpart = a_.node(of_b_[i]);
      to_.to_first.emplace(&node, Alignment::Target{&a_.model(), of_b_[i]});
      for (std::size_t k = 0; k < std::min(node.bodies.size(), counterpart.bodies.size()); ++k)
        Aligner(*counterpart.bodies[k], *node.bodies[k], to_).run();
    }
    for (int i = 0; i < std::ssize(of_a_); ++i)
      if (of_a_[i] < 0) leave(to_.only_first, a_, i);
  }

 private:
  static void leave(std::vector<Alignment::Target>& to, const Side& side, int i) {
    if (side.node(i).op->kind != Kind::constant) to.push_back({&side.model(), i});
  }

  bool free(int a, int b) const { return of_a_[a] < 0 && of_b_[b] < 0; }
  void pair(int a, int b) {
    of_a_[a] = b;
    of_b_[b] = a;
    // The same label on both sides, and on no other node.
    const auto label = mixed(of_text("pair"), static_cast<Label>(++pairs_));
    a_.fix_label(a, label);
    b_.fix_label(b, label);
  }

  void by_position(const std::vector<int>& a, const std::vector<int>& b) {
    if (a.size() != b.size()) return;
    std::map<std::string_view, int> named;
    for (const int i : b) named.emplace(b_.node(i).layer->name, i);
    const bool all = std::all_of(a.begin(), a.end(), [&](int i) { return named.contains(a_.node(i).layer->name); });
    for (std::size_t k = 0; k < a.size(); ++k) pair(a[k], all ? named.at(a_.node(a[k]).layer->name) : b[k]);
  }

  void by_name(bool made_up) {
    std::map<std::string_view, int> named;
    for (int i = 0; i < std::ssize(a_); ++i)
      if (is_made_up(a_.model().nodes[i]) == made_up) named.emplace(a_.model().nodes[i].layer->name, i);
    for (int i = 0; i < std::ssize(b_); ++i) {
      const auto& node = b_.model().nodes[i];
      const auto found = named.find(node.layer->name);
      if (found == named.end()) continue;
      const auto& counterpart = a_.node(found->second);
      // A name that somebody gave stays with the layer where its type is changed.
      const bool fits = made_up
                            ? counterpart.op == node.op
                            : counterpart.op->kind == node.op->kind && counterpart.output_count == node.output_count;
      if (!fits) continue;
      if (node.op->kind == Kind::constant && node.constant.shape() != a_.node(found->second).constant.shape()) continue;
      if (free(found->second, i)) pair(found->second, i);
    }
  }

  /// Nodes whose label is theirs alone on both sides are pairs, and help to tell their neighbors.
  void by_structure() {
    for (int round = 0, idle = 0; round < kMaxRounds && idle < 3; ++round) {
      const auto ours = unique_labels(a_, of_a_), theirs = unique_labels(b_, of_b_);
      std::vector<std::pair<int, int>> found;
      for (const auto& [label, a] : ours)
        if (const auto b = theirs.find(label); a >= 0 && b != theirs.end() && b->second >= 0)
          found.emplace_back(a, b->second);
      for (const auto& [a, b] : found) pair(a, b);
      if (std::find(of_b_.begin(), of_b_.end(), -1) == of_b_.end()) break;
      idle = found.empty() ? idle + 1 : 0;
      a_.next_round();
      b_.next_round();
    }
  }
  /// By label: the free node that has it, or -1 where several have.
  static std::map<Label, int> unique_labels(const Side& side, const std::vector<int>& partner) {
    std::map<Label, int> labels;
    for (int i = 0; i < std::ssize(side); ++i) {
      if (partner[i] >= 0) continue;
      const auto [at, fresh] = labels.emplace(side.label(i), i);
      if (!fresh) at->second = -1;
    }
    return labels;
  }

  Side a_, b_;
  std::vector<int> of_a_, of_b_;  // by node: its counterpart; -1: none yet
  Alignment& to_;
  std::size_t pairs_ = 0;
};

/// How far two values are apart, relative to their size; nothing where they cannot be compared.
std::optional<double> apart(const Tensor& a, const Tensor& b) {
  const bool numbers = a && b && a.type() != ElementType::string && b.type() != ElementType::string;
  if (!numbers || a.shape() != b.shape() || a.size() < kTelling) return std::nullopt;
  const auto d = measure(a, b, {});
  if (d.nan.first || d.inf.first) return std::nullopt;
  double squares = 0;
  each_number(b, [&](double x) { squares += std::isfinite(x) ? x * x : 0; });
  const double size = std::sqrt(squares / static_cast<double>(b.size()));
  return size > 0 ? std::optional(d.rmse / size) : std::nullopt;
}

}  // namespace

Alignment align(const Model& first, const Model& second) {
  Alignment alignment;
  Aligner(first, second, alignment).run();
  return alignment;
}

void align_by_values(Alignment& alignment, const Reference& first, const Reference& second) {
  const auto value = [](const Reference& values, const Alignment::Target& t) {
    return values.at({t.model, t.node, 0, {}});  // bodies: in no iteration, so they are left out
  };
  auto& ours = alignment.only_first;
  auto& theirs = alignment.only_second;
  const auto best = [&](const Tensor& of, const Node& node, const std::vector<Alignment::Target>& among,
                        const Reference& values) {
    std::optional<std::size_t> at;
    double nearest = kNearlySame;
    for (std::size_t i = 0; i < among.size(); ++i) {
      if ((*among[i].model)[among[i].node].op != node.op) continue;
      if (const auto d = apart(value(values, among[i]), of); d && *d < nearest) {
        nearest = *d;
        at = i;
      }
    }
    return at;
  };
  for (std::size_t k = 0; k < theirs.size();) {
    const auto& node = (*theirs[k].model)[theirs[k].node];
    const auto found = best(value(second, theirs[k]), node, ours, first);
    const bool mutual = found && best(value(first, ours[*found]), node, theirs, second) == k;
    if (!mutual) {
      ++k;
      continue;
    }
    alignment.to_first.emplace(&node, ours[*found]);
    ours.erase(ours.begin() + *found);
    theirs.erase(theirs.begin() + k);
  }
}

Reference moved(const Reference& values, const Alignment& alignment) {
  Reference reference;
  for (const auto& [place, read] : values.tensors()) {
    const auto target = alignment.to_first.find(&place.at());
    if (target == alignment.to_first.end()) continue;
    if (place.port < std::max((*target->second.model)[target->second.node].output_count, 1))
      reference.put({target->second.model, target->second.node, place.port, place.iterations}, read);
  }
  return reference;
}

}  // namespace ovir::tools
