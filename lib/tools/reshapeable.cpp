#include "tools/reshapeable.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace ovir::tools {
namespace {

using Axes = std::vector<InputAxis>;

i64 count_layers(const Facts& facts) {
  auto n = std::ssize(facts.outputs);
  for (const auto& bodies : facts.bodies)
    for (const auto& body : bodies) n += count_layers(body);
  return n;
}

/// Asks inference, with concrete lengths: an unknown one contradicts nothing and so proves nothing.
class Prober {
 public:
  static constexpr int kAccepted = std::numeric_limits<int>::max();

  Prober(const Model& m, const passes::InferOptions& options, i64 budget) : model(m), options_(options), left_(budget) {
    options_.compare_declared = false;
    options_.stop_at_fault = true;
    const auto declared = passes::infer(m, options_, last_);
    for (const auto node : m.parameters) {
      const auto& fact = declared.of({node, 0});
      inputs.push_back({fact.type, fact.shape, {}});
      shapes.push_back(fact.shape);
      for (auto& d : shapes.back().dims()) d.symbol = 0;  // those of another run
      dims_ += shapes.back().rank();
    }
  }

  const Model& model;
  std::vector<Reshapeable::Input> inputs;
  std::vector<PartialShape> shapes;  ///< those around which lengths are tried

  Dim& at(const InputAxis& a) { return shapes[a.input][a.axis]; }
  i64 base(const InputAxis& a) { return at(a).length(); }

  /// The node that refuses the first axis to have this length, the others being as much longer or shorter.
  int refusing(const Axes& axes, i64 length) {
    if (left_ <= 0) throw OutOfBudget();
    return ask(axes, length);
  }
  bool accepts(const Axes& axes, i64 length) { return refusing(axes, length) == kAccepted; }

  std::optional<Refusal> refusal(const Axes& axes, std::optional<i64> length) {
    if (!length || ask(axes, *length) == kAccepted || last_.errors() == 0) return std::nullopt;
    const auto error = std::find_if(last_.all().begin(), last_.all().end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
    return Refusal{*length, *error};
  }

 private:
  passes::InferOptions options_;
  i64 left_;
  i64 dims_ = 0;  ///< of all inputs: a shape of very many costs as much as layers do
  Diagnostics last_;

  int ask(const Axes& axes, i64 length) {
    auto changed = shapes;
    const auto by = axes.empty() ? 0 : length - base(axes[0]);
    last_ = {};
    for (const auto& a : axes) {
      const auto n = a == axes[0] ? length : base(a) + by;
      if (n < 1 && n != base(a)) return 0;  // without elements: nobody's other length
      changed[a.input][a.axis] = n;
    }
    for (int k = 0; k < std::ssize(changed); ++k)
      if (changed[k].has_rank()) options_.shapes[k] = std::move(changed[k]);
    const auto facts = passes::infer(model, options_, last_);
    left_ -= count_layers(facts) + dims_;
    return last_.errors() == 0 ? kAccepted : static_cast<int>(facts.outputs.size()) - 1;
  }
};

/// Gives every unknown dim a length that is accepted: one that no other axis has, where that is possible, so that
/// axes that must be equal are told from those that need not.
class Starter {
 public:
  explicit Starter(Prober& p) : prober(p) {
    for (const auto& shape : p.shapes)
      for (const auto& d : shape)
        if (d.is_static()) used_.push_back(d.length());
  }

  bool operator()(const InputAxis& a) {
    const auto declared = prober.at(a);
    for (const auto n : candidates(declared)) {
      prober.at(a) = n;
      if (!prober.accepts({a}, n)) continue;
      used_.push_back(n);
      return true;
    }
    prober.at(a) = declared;
    return false;
  }

 private:
  Prober& prober;
  std::vector<i64> used_;

  std::vector<i64> candidates(const Dim& declared) const {
    std::vector<i64> list;
    const auto offer = [&](i64 n) {
      if (declared.contains(n) && std::find(list.begin(), list.end(), n) == list.end()) list.push_back(n);
    };
    for (i64 n = 3; n <= 64; ++n)
      if (std::find(used_.begin(), used_.end(), n) == used_.end()) offer(n);
    for (const auto n : used_)
      if (n > 1) offer(n);
    for (i64 n = 64; n <= 32768; n *= 2)
      for (const auto more : {n, n + n / 2, n + n / 4 * 3}) offer(more);
    // 1 broadcasts, and nothing of length 0 forbids much: neither tells what else must be equal.
    offer(std::max<i64>(declared.min, 2));
    if (declared.is_bounded()) offer(declared.max);
    offer(1);
    offer(0);
    return list;
  }
};

AxisRange range_of(Prober& prober, Axes axes) {
  AxisRange range;
  int answers = 0;
  range.lengths = search_lengths(prober.base(axes[0]), [&](i64 n) {
    const bool yes = prober.accepts(axes, n);
    ++answers;
    return yes;
  });
  range.tried = answers > 0 || !range.lengths.cut;
  range.below = prober.refusal(axes, range.lengths.below);
  range.above = prober.refusal(axes, range.lengths.above);
  range.between = prober.refusal(axes, range.lengths.between);
  range.axes = std::move(axes);
  return range;
}

/// Finds the axes that must change with one that has an upper bound alone. Those of the inputs that the refusing layer
/// depends on are tried one after the other; one that lets inference come further stays.
class Companions {
 public:
  Companions(Prober& p, const std::vector<AxisRange>& axes) : prober(p), alone(axes) {}

  /// The least set that was found; empty: there is none.
  Axes operator()(const AxisRange& first) {
    const auto start = first.axes[0];
    const auto base = first.lengths.base, top = *first.lengths.max;
    const auto tried = {top + 1,   first.lengths.min - 1,
                        base + 1,  base + 2,
                        base + 4,  base + 8,
                        base + 16, base + 32,
                        base + 64, 2 * base,
                        base / 2};
    for (const auto n : tried) {
      if (n < 1 || first.lengths.contains(n)) continue;
      for (auto& seed : {Axes{start}, same_axis(start)}) {
        auto axes = grow(seed, n);
        if (axes.empty()) continue;
        shrink(axes, n);
        if (axes.size() > 1) return in_order(std::move(axes));
      }
    }
    return {};
  }

  /// A set with some more axes that may grow further; empty: there is none.
  Axes wider(const AxisRange& joint) {
    auto axes = grow(joint.axes, *joint.lengths.max + 1);
    return axes.size() > joint.axes.size() ? in_order(std::move(axes)) : Axes{};
  }

 private:
  Prober& prober;
  const std::vector<AxisRange>& alone;

  static Axes in_order(Axes axes) {
    const auto place = [](const InputAxis& a) { return std::pair(a.input, a.axis); };
    std::sort(axes.begin(), axes.end(), [&](const InputAxis& a, const InputAxis& b) { return place(a) < place(b); });
    return axes;
  }

  /// The axis at the same place of every input where it has the same length.
  Axes same_axis(const InputAxis& start) {
    Axes list{start};
    for (const auto& other : alone)
      if (const auto& a = other.axes[0];
          a.input != start.input && a.axis == start.axis && other.lengths.base == prober.base(start))
        list.push_back(a);
    return list;
  }

  Axes grow(Axes axes, i64 n) {
    auto refusing = prober.refusing(axes, n);
    while (refusing != Prober::kAccepted) {
      bool further = false;
      for (const auto& a : candidates(axes, refusing)) {
        axes.push_back(a);
        const auto next = prober.refusing(axes, n);
        if (next > refusing) {
          refusing = next;
          further = true;
          break;
        }
        axes.pop_back();
      }
      if (!further) return {};
    }
    return axes;
  }

  /// Leaves out what need not change.
  void shrink(Axes& axes, i64 n) {
    for (std::size_t i = axes.size() - 1; i > 0; --i) {
      auto fewer = axes;
      fewer.erase(fewer.begin() + i);
      if (prober.accepts(fewer, n)) axes = std::move(fewer);
    }
  }

  /// Axes that the refusing layer may depend on, those of the same length first.
  Axes candidates(const Axes& taken, int refusing) {
    const auto reached = inputs_of(refusing);
    Axes same, other;
    for (const auto& entry : alone) {
      const auto& a = entry.axes[0];
      if (!entry.tried || entry.lengths.base > Lengths::kTooLong || !reached.contains(a.input)) continue;
      if (std::find(taken.begin(), taken.end(), a) != taken.end()) continue;
      (entry.lengths.base == prober.base(taken[0]) ? same : other).push_back(a);
    }
    same.insert(same.end(), other.begin(), other.end());
    return same;
  }

  std::set<int> inputs_of(int node) const {
    const auto& model = prober.model;
    std::vector<bool> before(node + 1, false);
    before.back() = true;
    std::set<int> list;
    for (auto i = node; i >= 0; --i) {  // inputs precede in topological order
      if (!before[i]) continue;
      for (const auto& v : model[i].inputs)
        if (v.node >= 0) before[v.node] = true;
      const auto k = std::find(model.parameters.begin(), model.parameters.end(), i);
      if (k != model.parameters.end()) list.insert(static_cast<int>(k - model.parameters.begin()));
    }
    return list;
  }
};

void find_together(Prober& prober, Reshapeable& r) {
  Companions companions(prober, r.axes);
  for (auto& axis : r.axes) {
    if (!axis.tried || axis.together || !axis.lengths.max || axis.lengths.base > Lengths::kTooLong) continue;
    auto axes = companions(axis);
    if (axes.empty()) continue;
    auto joint = range_of(prober, axes);
    // A length of the mask, say, that bounds those of ids and positions: all three may grow.
    while (joint.lengths.max && !joint.lengths.cut) {
      const auto more = companions.wider(joint);
      if (more.empty()) break;
      joint = range_of(prober, more);
    }
    for (auto& other : r.axes) {
      const bool in = std::find(joint.axes.begin(), joint.axes.end(), other.axes[0]) != joint.axes.end();
      if (in && !other.together && other.lengths.max) other.together = r.together.size();
    }
    r.together.push_back(std::move(joint));
  }
}

}  // namespace

Reshapeable reshapeable(const Model& model, const passes::InferOptions& options, i64 budget) {
  Reshapeable r;
  Prober prober(model, options, budget);
  Axes all;
  for (int k = 0; k < std::ssize(prober.shapes); ++k)
    for (i64 a = 0; prober.shapes[k].has_rank() && a < prober.shapes[k].rank(); ++a) all.push_back({k, a});
  try {
    Starter start(prober);
    for (const auto& a : all)
      if (!prober.at(a).is_static()) start(a);
    for (const auto& a : all) {
      if (prober.at(a).is_static()) r.axes.push_back(range_of(prober, {a}));
      else r.axes.push_back({{a}, {}, {}, {}, {}, false, {}});
      r.complete = r.complete && !r.axes.back().lengths.cut;
    }
    find_together(prober, r);
  } catch (const OutOfBudget&) {
    r.complete = false;
  }
  for (auto i = r.axes.size(); i < all.size(); ++i) r.axes.push_back({{all[i]}, {}, {}, {}, {}, false, {}});
  r.inputs = std::move(prober.inputs);
  for (std::size_t k = 0; k < r.inputs.size(); ++k) r.inputs[k].tried = std::move(prober.shapes[k]);
  return r;
}

}  // namespace ovir::tools
