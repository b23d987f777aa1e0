// states: ReadValue and Assign of one variable belong together. "Only one pair of ReadValue and Assign operations is
// expected for each Variable in the model", and what Assign sets "will be returned by ReadValue operation on next
// infer".
#include "passes/states.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "model/report.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::passes {
namespace {

/// A layer that uses a variable, in the model or one of its bodies.
struct Use {
  const Model* model;
  const Node* node;
};

/// The variable that a ReadValue or Assign names; "" for other nodes, and where its attributes are faulty.
std::string_view variable_of(const Node& node) {
  const bool uses = node.op && (node.op->kind == Kind::read_value || node.op->kind == Kind::assign);
  return uses && node.attrs ? std::string_view(node.as<VariableAttrs>().variable_id) : std::string_view();
}

Diagnostic fault(std::string message) {
  auto d = diagnose(Code::E0209, std::move(message));
  d.attribute = "variable_id";
  return d;
}

using Uses = std::map<std::string_view, std::vector<Use>>;

/// False where some layer could not be read or looked up: it may be the one that is missed.
bool collect(const Model& model, Uses& reads, Uses& writes) {
  bool whole = !model.graph->damaged;
  for (const auto& node : model.nodes) {
    if (!node.op || !node.attrs || node.layer->damaged) {
      whole = false;
      continue;
    }
    const auto id = variable_of(node);
    if (node.op->kind == Kind::read_value && !id.empty()) reads[id].push_back({&model, &node});
    if (node.op->kind == Kind::assign && !id.empty()) writes[id].push_back({&model, &node});
    for (const auto& body : node.bodies) whole &= collect(*body, reads, writes);
  }
  return whole;
}

/// One of a kind; the bodies of an If may each have their own.
void require_one(const Uses& uses, Diagnostics& diagnostics) {
  for (const auto& [id, list] : uses)
    for (auto use = list.begin(); use != list.end(); ++use) {
      const auto first = std::find_if(list.begin(), use, [&](const Use& u) { return u.model == use->model; });
      if (first == use) continue;
      auto d =
          fault(fmt::format("variable \"{}\" must have one ReadValue and one Assign at most, but has two {} layers",
                            printable(id), use->node->op->type));
      d.notes.push_back(
          {fmt::format("the other is {}", describe(*first->node->layer)), first->node->layer->at, "", ""});
      report(diagnostics, *use->model, *use->node->layer, std::move(d));
    }
}

}  // namespace

void check_states(const Model& model, Diagnostics& diagnostics) {
  Uses reads, writes;
  const bool whole = collect(model, reads, writes);
  require_one(reads, diagnostics);
  require_one(writes, diagnostics);
  if (!whole) return;

  std::vector<std::string_view> all, unset;
  for (const auto& [id, uses] : reads) {
    all.push_back(id);
    if (!writes.contains(id)) unset.push_back(id);
  }
  const auto is_read = [&](const auto& write) { return reads.contains(write.first); };
  const bool few = std::count_if(writes.begin(), writes.end(), is_read) + 16 > std::ssize(writes);
  if (!few) {  // not a slip in a name
    all.clear();
    unset.clear();
  }
  for (const auto& [id, uses] : writes) {
    if (reads.contains(id)) continue;
    // Most likely it is a slip in the name of a variable that is read and never set.
    const auto near = unset.size() == 1 ? std::optional(unset.front()) : nearest(id, unset.empty() ? all : unset);
    auto d = fault(fmt::format("variable \"{}\" is assigned but never read{}", printable(id),
                               near ? fmt::format("; did you mean \"{}\"?", printable(*near)) : ""));
    if (near) {
      d.notes.push_back({fmt::format("{} reads \"{}\"", describe(*reads[*near].front().node->layer), printable(*near)),
                         reads[*near].front().node->layer->at, "", ""});
      d.remedies.push_back({{Change::What::attribute, "variable_id", std::string(*near)}});
    }
    report(diagnostics, *uses.front().model, *uses.front().node->layer, std::move(d));
  }
}

std::vector<std::pair<int, int>> reads_before_writes(const Model& model) {
  std::map<std::string_view, int> reads;
  std::vector<std::pair<int, int>> pairs;
  const auto each = [&](Kind kind, auto&& f) {
    for (int i = 0; i < std::ssize(model.nodes); ++i) {
      const auto id = variable_of(model.nodes[i]);
      if (!id.empty() && model.nodes[i].op->kind == kind) f(id, i);
    }
  };
  each(Kind::read_value, [&](std::string_view id, int i) { reads.emplace(id, i); });
  each(Kind::assign, [&](std::string_view id, int i) {
    if (const auto read = reads.find(id); read != reads.end()) pairs.emplace_back(read->second, i);
  });
  return pairs;
}

void report_early_write(Diagnostics& diagnostics, const Model& model, const Node& read, const Node& write) {
  auto d = fault(
      fmt::format("ReadValue of variable \"{}\" depends on the Assign of the same variable, but must come before it",
                  printable(variable_of(read))));
  d.notes.push_back({fmt::format("the Assign is {}", describe(*write.layer)), write.layer->at, "", ""});
  report(diagnostics, model, *read.layer, std::move(d));
}

/// "The operation checks that the type and shape of the input are the same as declared in variable_id".
void check_assigned(const Model& model, const Facts& facts, Diagnostics& diagnostics) {
  std::map<std::string_view, std::size_t> reads;
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    if (model.nodes[i].op && model.nodes[i].op->kind == Kind::read_value) reads.emplace(variable_of(model.nodes[i]), i);
  if (reads.empty()) return;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto& node = model.nodes[i];
    if (!node.op || node.op->kind != Kind::assign) continue;
    const auto read = reads.find(variable_of(node));
    if (read == reads.end() || facts.outputs[i].empty() || facts.outputs[read->second].empty()) continue;
    const auto &given = facts.outputs[i][0], &held = facts.outputs[read->second][0];
    const bool type =
        given.type == held.type || given.type == ElementType::dynamic || held.type == ElementType::dynamic;
    if (type && given.shape.compatible(held.shape)) continue;
    auto d = diagnose(type ? Code::E0505 : Code::E0503,
                      fmt::format("input \"new_value\" of Assign must be {2} as variable \"{1}\" is, but is {0}",
                                  describe(given), printable(read->first), describe(held)));
    d.port = PortRef{true, 0, std::nullopt, "new_value"};
    const auto& reader = *model.nodes[read->second].layer;
    d.label =
        fmt::format("input 0: inferred {}, from {}", describe(given), describe(*model[node.inputs[0].node].layer));
    d.notes.push_back(
        {fmt::format("the variable is read as {} by {}", describe(held), describe(reader)), reader.at, "", ""});
    report(diagnostics, model, *node.layer, std::move(d));
  }
}

}  // namespace ovir::passes
