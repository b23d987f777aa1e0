#include "watch.hpp"

#include "base/text.hpp"
#include "cli.hpp"

namespace ovir::app {
namespace {

std::vector<std::string> names_of(const Node& node, int port) {
  if (node.op->kind == Kind::result) return node.layer->output_names;
  const auto& ports = node.layer->outputs;
  return port < static_cast<int>(ports.size()) ? ports[static_cast<std::size_t>(port)].names
                                               : std::vector<std::string>{};
}

}  // namespace

Watch::Watch(const Model& model, const std::string& selector) {
  try {
    selected_ = tools::select(model, selector);
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("--dump: {}", error.what()));
  }
  for (const auto& s : selected_) wanted_.emplace(&(*s.model)[s.node]);
}

std::string Watch::missed() const {
  std::string list;
  std::size_t n = 0;
  for (const auto& s : selected_) {
    const auto& node = (*s.model)[s.node];
    if (!seen_.contains(&node) && n++ < 3)
      list +=
          fmt::format("{}\"{}{}\"", list.empty() ? "" : ", ", printable(s.model->path), printable(node.layer->name));
  }
  return n > 3 ? fmt::format("{} and {} more", list, n - 3) : list;
}

bool Watch::wants(const Model& model, int node) { return wanted_.contains(&model[node]); }

Verdict Watch::after(Event& event) {
  for (std::size_t o = 0; o < event.outputs.size(); ++o) {
    if (!event.outputs[o]) continue;
    const auto port = static_cast<int>(o);
    for (const auto& s : selected_) {
      if (&(*s.model)[s.node] != &event.node || (s.port && *s.port != port)) continue;
      if (s.iteration && (event.iterations.empty() || event.iterations.back() != *s.iteration)) continue;
      seen_.insert(&event.node);
      dump_->add({"",
                  &event.model,
                  &event.node,
                  port,
                  names_of(event.node, port),
                  {event.iterations.begin(), event.iterations.end()},
                  event.outputs[o],
                  event.declared.size() > o ? event.declared[o] : event.outputs[o].type()});
      break;
    }
  }
  return Verdict::go_on;
}

}  // namespace ovir::app
