#include "tools/align.hpp"

#include <algorithm>

namespace ovir::tools {
namespace {

void align_models(const Model& first, const Model& second, Alignment& alignment) {
  std::map<std::string_view, int> by_name;
  for (int i = 0; i < static_cast<int>(first.nodes.size()); ++i) by_name.emplace(first[i].layer->name, i);
  std::vector<char> taken(first.nodes.size(), 0);
  for (const auto& node : second.nodes) {
    const auto found = by_name.find(node.layer->name);
    const bool fits = found != by_name.end() && first[found->second].op->type == node.op->type;
    if (!fits) {
      alignment.only_second.push_back(second.path + node.layer->name);
      continue;
    }
    taken[static_cast<std::size_t>(found->second)] = 1;
    alignment.to_first.emplace(&node, Alignment::Target{&first, found->second});
    const auto& counterpart = first[found->second];
    for (std::size_t b = 0; b < std::min(node.bodies.size(), counterpart.bodies.size()); ++b)
      align_models(*counterpart.bodies[b], *node.bodies[b], alignment);
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) alignment.only_first.push_back(first.path + first.nodes[i].layer->name);
}

}  // namespace

std::vector<std::string> Alignment::unmatched_names() const {
  auto names = only_first;
  names.insert(names.end(), only_second.begin(), only_second.end());
  return names;
}

Alignment align(const Model& first, const Model& second) {
  Alignment alignment;
  align_models(first, second, alignment);
  return alignment;
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
