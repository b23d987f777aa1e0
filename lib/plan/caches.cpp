// caches: states to which a run appends, as the keys and values of a decoder: ReadValue, perhaps a Gather that reorders
// the batch, Concat, Assign. Where all others that read the whole know how it lies in memory, it grows in place.
#include <algorithm>

#include "op/shared_attrs.hpp"
#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

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
  /// The node of a step that is a single one.
  const Node* node_of(int s) const {
    const auto* step = s < 0 ? nullptr : &plan_.steps[s];
    return step && step->nodes.size() == 1 ? &plan_.node(*step) : nullptr;
  }
  bool is(int s, Kind kind) const { return node_of(s) && node_of(s)->op->kind == kind; }
  bool is(int s, Moves moves) const { return node_of(s) && node_of(s)->version->moves == moves; }
  const std::string& variable(int s) const { return node_of(s)->as<VariableAttrs>().variable_id; }
  int output(int s) const { return plan_.steps[s].outputs.at(0); }
  /// Who reads more than the shape; -1: a Result.
  std::vector<int> readers(int id) const {
    auto list = readers_[id];
    std::erase_if(list, [&](int s) { return node_of(s) && node_of(s)->version->shape_only; });
    return list;
  }
  int only_reader(int id) const {
    const auto list = readers(id);
    return list.size() == 1 ? list[0] : -1;
  }

  /// Whether it picks sequences, the slices along axis 0, with indices of rank 1.
  bool reorders(int s, int past) const {
    const auto& inputs = plan_.steps[s].inputs;
    if (!is(s, Moves::picks) || inputs.size() != 3 || inputs[0] != past) return false;
    const auto& indices = plan_.value(inputs[1]).shape;
    const auto& axis = plan_.value(inputs[2]).constant;
    return indices.has_rank() && indices.rank() == 1 && axis && to_i64(axis) == std::vector<i64>{0};
  }

  /// The axis along which the step appends to `past`; -1 where it does not.
  i64 axis_of(int s, int past) const {
    if (!is(s, Moves::joins)) return -1;
    const auto& inputs = plan_.steps[s].inputs;
    const auto& whole = plan_.value(output(s));
    if (inputs.size() != 2 || inputs[0] != past || inputs[1] == past || !whole.shape.has_rank() ||
        whole.stored == ElementType::dynamic || whole.stored == ElementType::string || bit_width(whole.stored) < 8)
      return -1;
    if (std::any_of(inputs.begin(), inputs.end(), [&](int id) { return plan_.value(id).stored != whole.stored; }))
      return -1;
    const auto axis = node_of(s)->as<ConcatAttrs>().axis, rank = whole.shape.rank();
    return axis < 0 ? axis + rank : axis;
  }

  /// An Assign of the variable; its output, if it has one, nobody reads.
  bool keeps(int s, const std::string& id) const {
    const auto& outputs = plan_.steps[s].outputs;
    return is(s, Kind::assign) && variable(s) == id &&
           std::all_of(outputs.begin(), outputs.end(), [&](int value) { return readers_[value].empty(); });
  }

  bool reads_grown(int s, int id, i64 axis) const {
    const auto& step = plan_.steps[s];
    for (int i = 0; i < std::ssize(step.inputs); ++i)
      if (step.inputs[i] == id && (!step.kernel || !step.kernel->reads_grown(i, axis))) return false;
    return true;
  }

  void find(int read) {
    int reorder = -1, append = only_reader(output(read));
    if (append >= 0 && reorders(append, output(read))) {
      reorder = append;
      append = only_reader(output(reorder));
    }
    const auto axis = append < 0 ? -1 : axis_of(append, output(reorder < 0 ? read : reorder));
    if (axis < 0) return;
    const auto whole = output(append);
    int keep = -1;
    for (const auto s : readers(whole))
      if (s >= 0 && keep < 0 && keeps(s, variable(read))) keep = s;
      else if (s < 0 || !reads_grown(s, whole, axis - plan_.value(whole).shape.rank())) return;
    if (keep < 0) return;
    mark(read, Caching::read, axis);
    if (reorder >= 0) mark(reorder, Caching::reorder, axis);
    mark(append, Caching::append, axis);
    plan_.steps[keep].caching = Caching::keep;
  }

  void mark(int s, Caching caching, i64 axis) {
    plan_.steps[s].caching = caching;
    plan_.values[output(s)].grows = axis;
  }

  Plan& plan_;
  std::vector<std::vector<int>> readers_;  // by value: steps; -1: a Result
};

}  // namespace

void caches(Plan& plan) { Finder(plan).run(); }

}  // namespace ovir::plan_passes
