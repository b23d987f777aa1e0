// The patterns of the fast tier take nodes: groups of them in `fuse`, single ones in `choose`.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/checked.hpp"
#include "plan/passes.hpp"
#include "plan/pattern.hpp"

namespace ovir::plan_passes {
namespace {

/// Takes what the patterns offer: groups where `groups`, single nodes otherwise.
class Taker {
 public:
  Taker(Plan& plan, const PlanOptions& options, bool groups) : plan_(plan), options_(options), groups_(groups) {
    step_of_.assign(plan.model->nodes.size(), -1);
    free_.assign(plan.model->nodes.size(), 0);
    for (int s = 0; s < std::ssize(plan.steps); ++s) {
      const auto& step = plan.steps[s];
      if (step.kernel || step.nodes.size() != 1) continue;
      step_of_[step.nodes[0]] = s;
      free_[step.nodes[0]] = is_offered(plan, step);
    }
    gone_.assign(plan.steps.size(), 0);
  }

  void run() {
    const Graphlet graph(plan_, free_, groups_);
    std::set<std::string_view> types;
    for (int i = 0; i < std::ssize(free_); ++i) types.insert(graph.type(i));
    const auto occurs = [&](std::string_view type) { return types.count(type) > 0; };
    for (const auto* pattern : options_.patterns) {
      if (pattern->priority == Priority::unchanged || (groups_ && pattern->priority == Priority::library)) continue;
      if (!options_.has(pattern->name) || std::none_of(pattern->roots.begin(), pattern->roots.end(), occurs)) continue;
      for (int i = 0; i < std::ssize(free_); ++i)
        if (pattern->begins_at(graph.type(i))) offer(*pattern, i, graph);
    }
    remove_steps(plan_, gone_);
  }

 private:
  /// Where a group is taken, what feeds it is offered again: it may be the end of another.
  void offer(const Pattern& pattern, int root, const Graphlet& graph) {
    std::vector<int> roots{root};
    while (!roots.empty()) {
      const auto node = roots.back();
      roots.pop_back();
      if (node < 0 || !pattern.begins_at(graph.type(node))) continue;
      auto match = pattern.match(graph, node);
      if (!match || !graph.takes(match->nodes) || reads_itself(*match)) continue;
      for (const auto& v : match->inputs)
        if (v.node < root) roots.push_back(v.node);
      take(pattern, std::move(*match), graph);
    }
  }

  /// Whether an operand is what the match itself would compute, as a mask of attention that is made of the scores.
  static bool reads_itself(const Match& match) {
    return std::ranges::any_of(
        match.inputs, [&](const ValueRef& v) { return std::ranges::find(match.nodes, v.node) != match.nodes.end(); });
  }

  /// Nobody outside may read what the inner nodes compute, unless they are shared: a pattern that overlooks this is at
  /// fault.
  void require_closed(const Pattern& pattern, const Match& match, const Graphlet& graph) const {
    std::map<int, int> reads;
    for (const auto node : match.nodes)
      for (const auto id : plan_.steps[step_of_[node]].inputs) ++reads[id];
    for (std::size_t i = match.shared; i + 1 < match.nodes.size(); ++i)
      for (const auto id : plan_.value_of[match.nodes[i]])
        if (graph.reads(id) != reads[id])
          throw std::logic_error(fmt::format("pattern {} takes a value that others read", pattern.name));
  }

  /// Where the kernel refuses sizes, a single node is computed with the step's operands as its own.
  void require_order(const Pattern& pattern, const Match& match) const {
    const auto& own = plan_.steps[step_of_[match.nodes.back()]].inputs;
    if (match.nodes.size() > 1 || match.inputs.size() != own.size()) return;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (value_of(plan_, match.inputs[i]) != own[i])
        throw std::logic_error(fmt::format("pattern {} takes operands in another order", pattern.name));
  }

  void take(const Pattern& pattern, Match match, const Graphlet& graph) {
    require_closed(pattern, match, graph);
    require_order(pattern, match);
    const auto own = std::span(match.nodes).subspan(match.shared);
    for (const auto node : own) {
      auto& is_free = free_[node];
      if (!is_free) throw std::logic_error(fmt::format("pattern {} takes a node twice", pattern.name));
      is_free = 0;
    }
    const auto last = step_of_[match.nodes.back()];
    for (const auto node : own) {
      const auto s = step_of_[node];
      if (s != last) gone_[s] = 1;
    }
    auto& step = plan_.steps[last];
    step.nodes = std::move(match.nodes);
    step.operands = std::move(match.inputs);
    if (options_.steady()) leave_constants(step);
    step.inputs.clear();
    step.kernel = std::move(match.kernel);
    step.written = std::move(match.written);
    for (int i = 0; i < std::ssize(step.operands); ++i) {
      const auto id = value_of(plan_, step.operands[i]);
      const bool computed = plan_.value(id).role != Role::constant;
      const auto narrow = computed && step.kernel->holds(i) ? graph.narrow(step.operands[i]) : ValueRef{};
      step.inputs.push_back(narrow.node >= 0 ? narrow_of(narrow) : id);
    }
  }

  /// What kernels have packed they don't read again, neither in the file nor where it was aligned or widened.
  void leave_constants(const Step& step) {
    constexpr std::size_t kWorthACall = 64 << 10;  // bytes
    for (const auto node : step.nodes)
      for (const auto& v : (*plan_.model)[node].inputs) {
        if (v.node < 0) continue;
        auto& value = plan_.values[value_of(plan_, v)];
        if (value.role != Role::constant || value.constant.byte_size() < kWorthACall) continue;
        value.constant = value.constant.apart();
        value.constant.leave_pages();
      }
  }

  /// The constant itself, not what it becomes in f32.
  int narrow_of(ValueRef constant) const {
    const auto id = value_of(plan_, constant);
    return plan_.value(id).narrow >= 0 ? plan_.value(id).narrow : id;
  }

  Plan& plan_;
  const PlanOptions& options_;
  bool groups_;
  std::vector<int> step_of_;  // by node; -1: none of its own
  std::vector<char> free_, gone_;
};

/// Also without its dims of 0: patterns multiply the others.
bool is_countable(const PartialShape& shape) {
  constexpr i64 kMost = i64{1} << 58;  // elements
  i64 count = 1;
  for (const auto& d : shape)
    if (d.is_static()) count = saturating_mul(count, std::max<i64>(d.length(), 1));
  return count <= kMost;
}

}  // namespace

bool is_offered(const Plan& plan, const Step& step) {
  if (step.kernel || step.nodes.size() != 1) return false;
  const auto& node = plan.node(step);
  const auto countable = [&](int id) { return is_countable(plan.value(id).shape); };
  return node.op->kind == Kind::compute && node.bodies.empty() && std::ranges::all_of(step.inputs, countable) &&
         std::ranges::all_of(step.outputs, countable);
}

void take_nodes(Plan& plan, const PlanOptions& options, bool groups) { Taker(plan, options, groups).run(); }

}  // namespace ovir::plan_passes
