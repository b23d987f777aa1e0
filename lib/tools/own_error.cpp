#include "tools/own_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "plan/plan.hpp"
#include "tools/error_bound.hpp"
#include "tools/numbers.hpp"

namespace ovir::tools {
namespace {

using Doubles = std::vector<double>;
using Output = std::pair<const Node*, int>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnitsOfLargest = 8;
constexpr int kLayersBefore = 3;       // that a reference is thought to compute together with one
constexpr double kBeyondDoubt = 1000;  // errors of so many bounds are not explained by layers before
constexpr int kDisturbedRuns = 2;
// How much a disturbed run changes a value that the reference lacks: as much as a long sum in f32 is off, relative to
// what is typical of the tensor.
constexpr double kDisturbance = 64 * 0x1p-24;
constexpr double kSpreadFactor = 8;  // a few runs see a part of what may happen
constexpr double kUnitsOfLevels = 2;
constexpr double kShortening = 4e-5;  // of an argument: isa/gelu_short.inl

/// The groups of nodes that one kernel computes, by their last node; of bodies too.
using Groups = std::map<const Node*, const Step*>;

/// What kernels hold or were made for, constants and what was folded: no observer can put another value in its place.
using Fixed = std::set<Output>;

void collect(const Plan& plan, Groups& groups, Fixed& fixed) {
  for (int n = 0; n < std::ssize(plan.value_of); ++n)
    for (int port = 0; port < std::ssize(plan.value_of[n]); ++port)
      if (const int id = plan.value_of[n][port]; id >= 0 && plan.value(id).role == Role::constant)
        fixed.emplace(&(*plan.model)[n], port);
  for (const auto& step : plan.steps) {
    if (step.nodes.size() > 1) groups.emplace(&plan.node(step), &step);
    for (const auto& body : step.bodies) collect(*body, groups, fixed);
  }
}

/// `reference` as a tensor of `value`'s type, to take its place; empty where that cannot be.
Tensor stand_in(const Tensor& value, const Tensor& reference) {
  if (value.shape() != reference.shape()) return {};
  if (value.type() == reference.type()) return reference.unpacked();
  if (value.type() == ElementType::string || reference.type() == ElementType::string) return {};
  return convert(reference, value.type());
}

double apart(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : kInfinity;
  return a == b ? 0 : std::abs(a - b);
}

/// How far a value may be off without a look at the operation.
struct Rounding {
  bool at_all = false;
  ElementType kept{}, saved{};
  bool as_bf16 = false;
  double floor = 0;
  double of(double reference) const {
    if (!at_all) return floor;
    return floor + rounding_error(kept, reference) + rounding_error(saved, reference) +
           (as_bf16 ? rounding_error(ElementType::bf16, reference) : 0);
  }
};

/// Puts the reference's values in place, and judges what was computed.
class Judge final : public Observer {
 public:
  Judge(const Plan& plan, const Reference& reference, const OwnErrorOptions& options)
      : reference_(reference),
        options_(options),
        bf16_(plan.options.precision == Precision::bf16),
        int8_(plan.options.precision == Precision::int8) {
    collect(plan, groups_, fixed_);
  }

  ovir::Verdict after(Event& event) override {
    const bool given = event.node.op->kind != Kind::compute;
    for (int port = 0; port < std::ssize(event.outputs); ++port) {
      auto& value = event.outputs[port];
      if (!value) continue;
      TensorPlace place{&event.model, event.index, port, {event.iterations.begin(), event.iterations.end()}};
      Known known{value.owned(), {}, !given && !moves_what_is_certain(event)};
      if (const auto saved = reference_.at(place)) judge(event, std::move(place), saved, known, value);
      known_.insert_or_assign(Output{&event.node, port}, std::move(known));
      if (options_.until_wrong && found_) return ovir::Verdict::stop;
    }
    return ovir::Verdict::go_on;
  }

  /// A judged place; `open`: the inputs were not all the reference's, so the bound may be too narrow.
  struct Judged {
    OwnError error;
    Rounding rounding{};
    Doubles more{};  ///< that the operation allows beyond it, by element; empty: nothing
    bool open = false;
  };
  std::vector<Judged>& judged() { return judged_; }

  /// Judges anew with wider bounds. Gives the largest ratio of an error to its bound, of those beyond it.
  double conclude(Judged& judged, const Tensor& saved) const {
    auto& error = judged.error;
    error.judgment = OwnVerdict::rounded;
    error.ties = 0;
    double furthest = 0, max = -1;
    each_pair(error.value, saved, [&](i64 i, double value, double reference) {
      const double off = apart(value, reference);
      if (off == 0) return;
      double bound = judged.rounding.of(reference) + (judged.more.empty() ? 0 : judged.more[i]);
      if (options_.allowance) bound = std::max(bound, options_.allowance(error.place, reference));
      if (std::isinf(bound)) {
        ++error.ties;
        return;
      }
      // The element to show is the one furthest beyond its bound, else the one that is off by the most.
      const double beyond = off > bound ? off / std::max(bound, 1e-300) : 0;
      if (beyond > 0) error.judgment = OwnVerdict::wrong;
      if (beyond > furthest || (furthest == 0 && off > max)) {
        error.at = i;
        error.bound = bound;
      }
      furthest = std::max(furthest, beyond);
      max = std::max(max, off);
    });
    return furthest;
  }

 private:
  /// A value as those behind it see it.
  struct Known {
    Tensor value;
    Doubles off{};           ///< how far it may be from what the reference computed with
    bool uncertain = false;  ///< computed, not the reference's
  };

  const Known* known(const Event& event, std::size_t input) const {
    const auto from = event.node.inputs[input];
    const auto found = known_.find({&event.model[from.node], from.port});
    return found == known_.end() ? nullptr : &found->second;
  }
  bool all_certain(const Event& event) const {
    for (std::size_t i = 0; i < event.node.inputs.size(); ++i)
      if (const auto* k = known(event, i); !k || k->uncertain) return false;
    return true;
  }
  bool moves_what_is_certain(const Event& event) const {
    return moves(event.node) && event.node.version->pure && all_certain(event);
  }

  void judge(const Event& event, TensorPlace place, const Tensor& saved, Known& known, Tensor& value) {
    const bool random = event.node.op->kind == Kind::compute && !event.node.version->pure && event.node.bodies.empty();
    Judged judged;
    auto& error = judged.error;
    error.place = std::move(place);
    error.value = known.value;
    const auto replacement = stand_in(value, saved);
    if (!replacement) {
      error.unlike =
          saved.shape() != value.shape()
              ? fmt::format("shape {}, but {} in the reference", to_string(value.shape()), to_string(saved.shape()))
              : fmt::format("element type {}, but {} in the reference", name(value.type()), name(saved.type()));
      error.judgment = OwnVerdict::wrong;
    } else {
      compare(event, saved, judged);
      // Of values that are equal one is enough, and who looks for the first wrong one needs no others.
      if (options_.until_wrong && error.judgment != OwnVerdict::wrong) error.value = Tensor();
      else if (error.judgment == OwnVerdict::exact) error.value = replacement;
      const bool fixed = fixed_.contains({&event.node, error.place.port});
      known.uncertain = false;
      known.off = offsets(fixed ? known.value : replacement, saved);
      if (!fixed) {
        known.value = replacement;
        value = replacement;
      }
    }
    if (random) return;
    found_ = found_ || (error.judgment == OwnVerdict::wrong && !judged.open);
    judged_.push_back(std::move(judged));
  }

  /// How far a value that stands for the reference's is off: a constant stays what it is, a value may be kept in a
  /// narrower type than the reference's, and what was saved in a narrow type was rounded.
  static Doubles offsets(const Tensor& used, const Tensor& saved) {
    if (!is_float(used.type())) return {};
    const bool narrow = bit_width(saved.type()) < bit_width(ElementType::f32);
    Doubles off;
    if (!narrow && used.type() == saved.type() && used.bytes() == saved.bytes()) return off;
    each_pair(used, saved, [&](i64 i, double value, double reference) {
      const double difference = apart(value, reference);
      const double by =
          (std::isfinite(difference) ? difference : 0) + (narrow ? rounding_error(saved.type(), reference) : 0);
      if (by == 0) return;
      if (off.empty()) off.resize(saved.size());
      off[i] = by;
    });
    return off;
  }

  void compare(const Event& event, const Tensor& saved, Judged& judged) {
    auto& error = judged.error;
    if (error.value.type() == ElementType::string) {
      const auto a = error.value.values<std::string_view>(), b = saved.values<std::string_view>();
      if (!std::equal(a.begin(), a.end(), b.begin())) error.judgment = OwnVerdict::wrong;
      return;
    }
    bool equal = true;
    each_pair(error.value, saved, [&](i64, double value, double reference) {
      const double off = apart(value, reference);
      equal = equal && off == 0;
      if (std::isfinite(off)) error.max_abs = std::max(error.max_abs, off);
    });
    if (equal) return;
    const bool computed = event.node.op->kind == Kind::compute;
    if (is_float(error.value.type())) judged.rounding = rounding_of(error.value.type(), saved, computed);
    conclude(judged, saved);
    if (error.judgment != OwnVerdict::wrong || !computed) return;
    judged.open = !all_certain(event) || !event.node.bodies.empty();
    for (const int before : {0, kLayersBefore}) {
      auto bound = bound_of(event, error.place.port, before);
      if (!bound || std::ssize(*bound) != error.value.size()) break;
      judged.more = std::move(*bound);
      const double beyond = conclude(judged, saved);
      if (beyond == 0 || beyond > kBeyondDoubt) break;
    }
    if (!judged.open || error.judgment != OwnVerdict::wrong) judged.more = Doubles();  // nobody asks again
  }

  static bool moves(const Node& node) {
    return node.version->lift == Lift::moves && node.version->error == ErrorBound::by_kind;
  }

  /// What needs no look at the operation: the value that is kept, and the one that was saved, may be narrower than what
  /// was computed in; and no element is asked to be nearer than a few units of the largest in its tensor. That
  /// holds for data movement, too: a reference may have computed what it moves anew, in another order.
  Rounding rounding_of(ElementType kept, const Tensor& saved, bool computed) const {
    const bool narrow = std::min(bit_width(kept), bit_width(saved.type())) < bit_width(ElementType::f32);
    Rounding rounding{narrow || computed, kept, saved.type(), bf16_ && computed, 0};
    if (!computed) return rounding;
    double largest = 0;
    each_number(saved, [&](double r) {
      if (std::isfinite(r)) largest = std::max(largest, std::abs(r));
    });
    const double u = kept == ElementType::f64 ? unit_roundoff(kept) : unit_roundoff(ElementType::f32);
    rounding.floor = kUnitsOfLargest * u * largest;
    return rounding;
  }

  static Output output_of(const Model& model, ValueRef v) { return {&model[v.node], v.port}; }
  std::optional<Operand> operand(const Model& model, ValueRef from) const {
    const auto found = known_.find(output_of(model, from));
    if (found == known_.end()) return std::nullopt;
    Operand operand{found->second.value, found->second.off};
    if (int8_ && model[from.node].op->type == "FakeQuantize") add_to_levels(model, from, operand);
    if (!bf16_ || !is_float(operand.value.type())) return operand;
    // Kernels in bf16 round what they multiply.
    operand.off.resize(operand.value.size());
    auto off = operand.off.begin();
    each_number(operand.value, [&](double value) { *off++ += rounding_error(ElementType::bf16, value); });
    return operand;
  }

  /// Levels as integers lie exactly a step apart; as floats each was rounded by as much as the largest of them.
  void add_to_levels(const Model& model, ValueRef from, Operand& operand) const {
    double largest = 0;
    for (const int end : {3, 4})
      if (const auto found = known_.find(output_of(model, model[from.node].inputs[end])); found != known_.end())
        each_number(found->second.value, [&](double value) { largest = std::max(largest, std::abs(value)); });
    operand.off.resize(operand.value.size());
    for (auto& off : operand.off) off += kUnitsOfLevels * unit_roundoff(ElementType::f32) * largest;
  }

  /// What kernels may add to an activation whose result becomes levels or bf16, beyond its rounding.
  void add_shortening(const Node& node, const Operand& argument, Bound& bound) const {
    const bool shortens = (int8_ || bf16_) && (node.op->type == "Gelu" || node.op->type == "Swish");
    if (!shortens || argument.value.size() != std::ssize(bound)) return;
    auto to = bound.begin();
    each_number(argument.value, [&](double x) { *to++ += std::isfinite(x) ? kShortening * std::abs(x) : 0; });
  }

  /// The same where the reference may have computed the layers before it together with this one, so that what it
  /// continued with was not what it saved: they are off by their own rounding.
  std::optional<Operand> operand(const Model& model, ValueRef from, int before) const {
    auto known = operand(model, from);
    const auto& node = model[from.node];
    if (!known || before == 0 || node.op->kind != Kind::compute || !is_float(known->value.type())) return known;
    // What adds up or spreads its inputs is where such a group begins.
    const bool goes_on = node.version->error == ErrorBound::elementwise || moves(node);
    std::vector<Operand> operands;
    for (const auto& input : node.inputs) {
      auto one = operand(model, input, goes_on ? before - 1 : 0);
      if (!one) return known;
      operands.push_back(std::move(*one));
    }
    const auto bounded = error_bounds(node, operands);
    if (!bounded || std::ssize(bounded->bounds.at(from.port)) != known->value.size()) return known;
    const auto& bound = bounded->bounds[from.port];
    if (known->off.empty()) known->off.assign(bound.size(), 0.0);
    for (std::size_t i = 0; i < bound.size(); ++i)
      if (std::isfinite(bound[i])) known->off[i] += bound[i];
    return known;
  }

  /// How far an output may be off, for the inputs that the kernel had: of a group, those of the group.
  std::optional<Bound> bound_of(const Event& event, int port, int before) const {
    const auto group = groups_.find(&event.node);
    const std::vector<int> alone{event.index};
    const auto& nodes = group == groups_.end() ? alone : group->second->nodes;
    std::map<std::pair<int, int>, Operand> inner;
    for (const int index : nodes) {
      const auto& node = event.model[index];
      std::vector<Operand> operands;
      for (const auto& from : node.inputs) {
        const auto computed = inner.find({from.node, from.port});
        auto found = computed != inner.end() ? std::optional(computed->second) : operand(event.model, from, before);
        if (!found) return std::nullopt;
        operands.push_back(std::move(*found));
      }
      auto bounded = error_bounds(node, operands);
      if (!bounded) return std::nullopt;
      if (nodes.size() > 1) add_shortening(node, operands.front(), bounded->bounds.front());
      if (index == event.index) return std::move(bounded->bounds.at(port));
      for (int o = 0; o < std::ssize(bounded->values); ++o)
        inner.insert_or_assign(std::pair(index, o),
                               Operand{std::move(bounded->values[o]), std::move(bounded->bounds[o])});
    }
    return std::nullopt;
  }

  const Reference& reference_;
  const OwnErrorOptions& options_;
  bool bf16_;  ///< values between layers, and what is multiplied, may be rounded to bf16
  bool int8_;  ///< sums are those of levels, and functions before levels are approximated
  Groups groups_;
  Fixed fixed_;
  std::map<Output, Known> known_;
  std::vector<Judged> judged_;
  bool found_ = false;
};

/// The same run with what the reference lacks disturbed: how far that spreads to what it has.
class Disturb final : public Observer {
 public:
  Disturb(const Reference& reference, const std::map<TensorPlace, const Tensor*>& undisturbed,
          std::map<TensorPlace, Doubles>& spread, unsigned seed)
      : reference_(reference), undisturbed_(undisturbed), spread_(spread), random_(seed) {}

  ovir::Verdict after(Event& event) override {
    for (int port = 0; port < std::ssize(event.outputs); ++port) {
      auto& value = event.outputs[port];
      if (!value) continue;
      const TensorPlace place{&event.model, event.index, port, {event.iterations.begin(), event.iterations.end()}};
      if (const auto saved = reference_.at(place)) {
        note(place, value);
        if (auto replacement = stand_in(value, saved)) value = std::move(replacement);
      } else if (event.node.op->kind == Kind::compute && is_float(value.type())) {
        value = disturbed(value);
      }
    }
    return ovir::Verdict::go_on;
  }

 private:
  void note(const TensorPlace& place, const Tensor& value) {
    const auto open = undisturbed_.find(place);
    if (open == undisturbed_.end()) return;
    auto& spread = spread_[place];
    const bool same_shape = open->second->shape() == value.shape();
    if (spread.empty()) spread.assign(open->second->size(), same_shape ? 0 : kInfinity);
    if (!same_shape) return;
    each_pair(value, *open->second,
              [&](i64 i, double now, double before) { spread[i] = std::max(spread[i], apart(now, before)); });
  }

  Tensor disturbed(const Tensor& value) {
    auto values = to_f64(value.unpacked());
    double squares = 0;
    std::size_t finite = 0;
    for (const double v : values)
      if (std::isfinite(v)) {
        squares += v * v;
        ++finite;
      }
    const double typical = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
    const double u = std::max(kDisturbance, unit_roundoff(value.type()));
    for (auto& v : values)
      if (std::isfinite(v)) v += ((random_() & 1U) != 0 ? 1 : -1) * u * std::max(std::abs(v), typical);
    return convert(Tensor::of<double>(ElementType::f64, value.shape(), values), value.type());
  }

  const Reference& reference_;
  const std::map<TensorPlace, const Tensor*>& undisturbed_;
  std::map<TensorPlace, Doubles>& spread_;
  std::mt19937 random_;
};

void run_watched(Session& session, std::span<const Tensor> inputs, Observer& observer) {
  session.reset_states();
  session.run(inputs, &observer);
  session.reset_states();
}

}  // namespace

std::vector<OwnError> own_errors(Session& session, std::span<const Tensor> inputs, const Reference& reference,
                                 const OwnErrorOptions& options) {
  const auto plan = session.plan_of(inputs);
  Judge judge(*plan, reference, options);
  run_watched(session, inputs, judge);

  std::map<TensorPlace, const Tensor*> open;
  for (const auto& j : judge.judged())
    if (j.open && j.error.judgment == OwnVerdict::wrong && j.error.unlike.empty())
      open.emplace(j.error.place, &j.error.value);
  std::map<TensorPlace, Doubles> spread;
  if (!open.empty()) {
    for (unsigned run = 0; run < kDisturbedRuns; ++run) {
      Disturb disturb(reference, open, spread, run + 1);
      run_watched(session, inputs, disturb);
    }
  }
  std::vector<OwnError> errors;
  for (auto& j : judge.judged()) {
    if (const auto found = spread.find(j.error.place); found != spread.end()) {
      const bool decides = !is_float(j.error.value.type());
      double squares = 0;
      for (const double s : found->second) squares += std::isfinite(s) ? s * s : 0;
      const double typical = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(found->second.size(), 1)));
      j.more.resize(found->second.size());
      for (std::size_t i = 0; i < found->second.size(); ++i) {
        const double s = found->second[i];
        j.more[i] += decides ? (s > 0 ? kInfinity : 0) : kSpreadFactor * std::max(s, typical);
      }
      judge.conclude(j, reference.at(j.error.place));
    }
    errors.push_back(std::move(j.error));
  }
  return errors;
}

}  // namespace ovir::tools
