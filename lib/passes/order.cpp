// topological_order: every layer after those that feed it; what is unused.
#include "passes/order.hpp"

#include <algorithm>
#include <queue>

#include "base/text.hpp"
#include "model/report.hpp"
#include "passes/states.hpp"

namespace ovir::passes {
namespace {

/// One note an edge of the cycle: its place is where to look.
void note_cycle(Diagnostic& d, const Graph& graph, const std::vector<int>& cycle) {
  const auto layer = [&](std::size_t k) -> const Layer& { return graph.layers[cycle[k % cycle.size()]]; };
  for (std::size_t k = 0; k < cycle.size() && k < 8; ++k) {
    const auto &from = layer(k), &to = layer(k + 1);
    const auto edge = std::find_if(graph.edges.begin(), graph.edges.end(),
                                   [&](const Edge& e) { return e.from_layer == from.id && e.to_layer == to.id; });
    if (edge != graph.edges.end())
      d.notes.push_back({fmt::format("{} feeds {}", describe(from), describe(to)), edge->at, "", ""});
  }
}

/// Layers with all that they wait for before them; fewer than there are where some wait for each other.
std::vector<int> sort(const std::vector<std::vector<ValueRef>>& inputs, const std::vector<std::pair<int, int>>& before,
                      std::vector<int>& waiting) {
  const auto count = std::ssize(inputs);
  std::vector<std::vector<int>> users(count);
  waiting.assign(count, 0);
  const auto wait = [&](int first, int second) {
    users[first].push_back(second);
    ++waiting[second];
  };
  for (int i = 0; i < count; ++i)
    for (const auto& v : inputs[i])
      if (v.node >= 0) wait(v.node, i);
  for (const auto& [first, second] : before) wait(first, second);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<int> order;
  order.reserve(count);
  while (!ready.empty()) {
    const auto at = ready.top();
    ready.pop();
    order.push_back(at);
    for (const auto user : users[at])
      if (--waiting[user] == 0) ready.push(user);
  }
  return order;
}

}  // namespace

std::vector<int> topological_order(const Model& model, const std::vector<std::vector<ValueRef>>& inputs,
                                   const std::vector<std::pair<int, int>>& before, std::vector<bool>& faulty,
                                   Diagnostics& diagnostics) {
  const auto count = std::ssize(inputs);
  std::vector<int> waiting;
  auto order = sort(inputs, before, waiting);
  if (std::ssize(order) == count) return order;
  if (!before.empty()) {
    const auto stuck = waiting;
    order = sort(inputs, {}, waiting);
    if (std::ssize(order) == count) {
      const auto left = [&](int i) { return stuck[i] > 0; };
      for (const auto& [read, write] : before)
        if (left(read) && left(write)) report_early_write(diagnostics, model, model[read], model[write]);
      return order;
    }
  }

  // Walk against the edges from a layer that was left: among those left, that must run into a cycle.
  const auto& layers = model.graph->layers;
  std::vector<int> seen_at(count, -1), walk;
  auto at =
      static_cast<int>(std::find_if(waiting.begin(), waiting.end(), [](int n) { return n > 0; }) - waiting.begin());
  while (seen_at[at] < 0) {
    seen_at[at] = static_cast<int>(walk.size());
    walk.push_back(at);
    for (const auto& v : inputs[at])
      if (v.node >= 0 && waiting[v.node] > 0) {
        at = v.node;
        break;
      }
  }
  std::vector<int> cycle(walk.begin() + seen_at[at], walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::string path;
  for (std::size_t i = 0; i < cycle.size() && i < 8; ++i)
    path += fmt::format("\"{}\" -> ", printable(layers[cycle[i]].name));
  if (cycle.size() > 8) path += fmt::format("{} more -> ", cycle.size() - 8);
  const auto& first = layers[cycle.front()];
  auto d = diagnose(
      Code::E0206,
      fmt::format("{}: {}\"{}\"", cycle.size() == 1 ? "a layer feeds itself" : "layers feed each other in a cycle",
                  path, printable(first.name)),
      first.at);
  note_cycle(d, *model.graph, cycle);
  report(diagnostics, model, first, std::move(d));
  for (int i = 0; i < count; ++i)
    if (waiting[i] > 0) {
      order.push_back(i);
      faulty[i] = true;
    }
  return order;
}

void warn_unreachable(const Model& model, Diagnostics& diagnostics) {
  const auto used = used_nodes(model);
  if (std::ranges::none_of(model.nodes, &Node::ends)) {
    // Then nothing is used: one cause, not a warning for every layer.
    const bool body = !model.path.empty();
    std::string what = "the model";
    if (body) {  // "loop1/body/"
      const auto path = std::string_view(model.path).substr(0, model.path.size() - 1);
      const auto slash = path.rfind('/');
      what = fmt::format("the {} of \"{}\"", path.substr(slash + 1), printable(path.substr(0, slash)));
    }
    auto d = diagnose(Code::W0905,
                      what + (model.nodes.empty() ? " has no layers" : " has no Result layer: it computes nothing"));
    const auto net = model.graph->source->text.find("<net");
    if (body && !model.nodes.empty()) d.at = model.nodes.front().layer->at;
    else if (!body && net != std::string_view::npos) d.at = {model.graph->source, net, 4};
    diagnostics.add(std::move(d));
    return;
  }
  std::vector<const Layer*> loose;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) loose.push_back(model.nodes[i].layer);
  if (loose.empty()) return;
  std::sort(loose.begin(), loose.end());  // they lie in Graph::layers in file order
  constexpr std::size_t named = 8;
  auto d =
      diagnose(Code::W0904, loose.size() == 1 ? "this layer is unused: no Result depends on it"
                                              : fmt::format("this layer and {} are unused: no Result depends on them",
                                                            counted(loose.size() - 1, "other")));
  for (std::size_t i = 1; i < loose.size() && i <= named; ++i)
    d.notes.push_back(
        {fmt::format("{} ({}) is unused, too", describe(*loose[i]), printable(loose[i]->type)), loose[i]->at, "", ""});
  if (loose.size() > named + 1)
    d.notes.push_back(
        {fmt::format("{} behind these are unused, too", counted(loose.size() - named - 1, "layer")), {}, "", ""});
  report(diagnostics, model, *loose[0], std::move(d));
}

}  // namespace ovir::passes
