#include "watch.hpp"

#include "base/text.hpp"

namespace ovir::app {
namespace {

std::vector<std::string> names_of(const Node& node, int port) {
  if (node.op->kind == Kind::result) return node.layer->output_names;
  const auto& ports = node.layer->outputs;
  return port < std::ssize(ports) ? ports[port].names : std::vector<std::string>{};
}

Produced produced(const Event& event, int port) {
  const auto& value = event.outputs[port];
  return {"",
          &event.model,
          &event.node,
          port,
          names_of(event.node, port),
          {event.iterations.begin(), event.iterations.end()},
          value,
          port < std::ssize(event.declared) ? event.declared[port] : value.type()};
}

/// Calls `f` for each output of the event that is wanted and was computed.
template <class F>
void each_taken(tools::Watched& what, const Event& event, F&& f) {
  for (int o = 0; o < std::ssize(event.outputs); ++o)
    if (event.outputs[o] && what.takes(event, o)) f(produced(event, o));
}

}  // namespace

tools::Watched watched(const Common& common, const Model& model, std::string_view flag, const std::string& selector) {
  return tools::Watched(select_layers(common, model, flag, selector, tools::Constants::spared));
}

std::string missed(const tools::Watched& watched) {
  const auto unseen = watched.unseen();
  std::string list;
  for (std::size_t n = 0; n < unseen.size() && n < 3; ++n) {
    const auto& s = unseen[n];
    list += fmt::format("{}\"{}{}\"{}", list.empty() ? "" : ", ", printable(s.model->path),
                        printable((*s.model)[s.node].layer->name),
                        s.iteration ? fmt::format(" in iteration {}", *s.iteration) : "");
  }
  return unseen.size() > 3 ? fmt::format("{} and {} more", list, unseen.size() - 3) : list;
}

Verdict DumpWatch::after(Event& event) {
  each_taken(what_, event, [&](Produced p) { dump_->add(std::move(p)); });
  return Verdict::go_on;
}

Verdict StatisticsWatch::after(Event& event) {
  each_taken(what_, event, [&](Produced p) {
    share_.add_entry();
    const auto value = std::exchange(p.value, {});
    rows_.push_back({std::move(p), value.shape(), value.type(), tools::statistics_of(value)});
  });
  return Verdict::go_on;
}

}  // namespace ovir::app
