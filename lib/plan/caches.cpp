// caches: states that grow by what a run appends, as keys and values of a decoder do: ReadValue, perhaps a Gather that
// reorders the batch, Concat, Assign. Where all others that read the whole know how it lies in memory, a run appends in
// place instead of copying it.
#include <algorithm>

#include "op/shared_attrs.hpp"
#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

/// How many nodes of this kind a model and its bodies have for a variable.
int count_nodes(const Model& model, Kind kind, const std::string& variable) {
  int count = 0;
  for (const auto& node : model.nodes) {
    count += node.op->kind == kind && node.as<VariableAttrs>().variable_id == variable;
    for (const auto& body : node.bodies) count += count_nodes(*body, kind, variable);
  }
  return count;
}

class Finder {
 public:
  explicit Finder(Plan& plan) : plan_(plan), readers_(plan.values.size()) {
    for (int s = 0; s < std::ssize(plan.steps); ++s)
      for (const auto id : plan.steps[s].inputs) readers_[id].push_back(s);
    for (const auto id : plan.results) readers_[id].push_back(-1);
  }

  void run() {
    for (int s = 0; s < std::ssize(plan_.steps); ++s)
      if (is(s, Kind::read_value)) find(s);
  }

 private:
  bool is(int s, Kind kind) const {
    const auto& step = plan_.steps[s];
    return step.nodes.size() == 1 && plan_.node(step).op->kind == kind;
  }
  bool is(int s, std::string_view type) const {
    const auto& step = plan_.steps[s];
    if (step.nodes.size() != 1) return false;
    const auto& op = *plan_.node(step).op;
    return op.set.empty() && op.type == type;
  }
  const std::string& variable(int s) const { return plan_.node(plan_.steps[s]).as<VariableAttrs>().variable_id; }

  /// Who reads more of a value than its shape; -1: a Result.
  std::vector<int> readers(int id) const {
    auto list = readers_[id];
    std::erase_if(list, [&](int s) { return s >= 0 && is(s, "ShapeOf"); });
    return list;
  }
  int only_reader(int id) const {
    const auto list = readers(id);
    return list.size() == 1 ? list[0] : -1;
  }

  /// An Assign whose output, if it has one, nobody reads.
  bool is_sink(int s) const {
    const auto& outputs = plan_.steps[s].outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](int id) { return readers_[id].empty(); });
  }

  /// A Gather of rank-1 indices along axis 0.
  bool reorders(int s, int id) const {
    const auto& step = plan_.steps[s];
    if (!is(s, "Gather") || step.inputs.size() != 3 || step.inputs[0] != id) return false;
    const auto &indices = plan_.value(step.inputs[1]), &axis = plan_.value(step.inputs[2]);
    const bool whole = indices.declared == ElementType::i32 || indices.declared == ElementType::i64;
    return whole && indices.stored == indices.declared && indices.shape.has_rank() && indices.shape.rank() == 1 &&
           axis.role == Role::constant && axis.constant && axis.constant.size() == 1 && to_i64(axis.constant)[0] == 0;
  }

  void find(int read) {
    const auto& id = variable(read);
    if (count_nodes(*plan_.model, Kind::read_value, id) != 1 || count_nodes(*plan_.model, Kind::assign, id) != 1)
      return;
    auto past = plan_.steps[read].outputs.at(0);
    auto append = only_reader(past);
    int reorder = -1;
    if (append >= 0 && reorders(append, past)) {
      reorder = append;
      past = plan_.steps[reorder].outputs[0];
      append = only_reader(past);
    }
    if (append < 0 || !is(append, "Concat")) return;
    const auto& inputs = plan_.steps[append].inputs;
    const auto whole = plan_.steps[append].outputs.at(0);
    const auto& value = plan_.value(whole);
    if (inputs.size() != 2 || inputs[0] != past || inputs[1] == past || !value.shape.has_rank() ||
        value.stored == ElementType::dynamic || value.stored == ElementType::string || bit_width(value.stored) < 8 ||
        plan_.value(past).stored != value.stored || plan_.value(inputs[1]).stored != value.stored)
      return;
    const auto rank = value.shape.rank();
    auto axis = plan_.node(plan_.steps[append]).as<ConcatAttrs>().axis;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || value.shape[axis].is_static()) return;
    int keep = -1;
    for (const auto s : readers(whole)) {
      if (s >= 0 && keep < 0 && is(s, Kind::assign) && variable(s) == id && is_sink(s)) keep = s;
      else if (s < 0 || !reads_grown(plan_.steps[s], whole, axis - rank)) return;
    }
    if (keep < 0) return;
    plan_.steps[read].caching = Caching::read;
    if (reorder >= 0) plan_.steps[reorder].caching = Caching::reorder;
    plan_.steps[append].caching = Caching::append;
    plan_.steps[keep].caching = Caching::keep;
    for (const auto s : {read, reorder, append})
      if (s >= 0) plan_.values[plan_.steps[s].outputs[0]].grows = axis;
  }

  static bool reads_grown(const Step& step, int id, i64 axis) {
    if (!step.kernel) return false;
    for (int i = 0; i < std::ssize(step.inputs); ++i)
      if (step.inputs[i] == id && !step.kernel->reads_grown(i, axis)) return false;
    return true;
  }

  Plan& plan_;
  std::vector<std::vector<int>> readers_;  // by value: steps; -1: a Result
};

}  // namespace

void caches(Plan& plan) { Finder(plan).run(); }

}  // namespace ovir::plan_passes
