#include "tools/watched.hpp"

#include <algorithm>

namespace ovir::tools {

Watched::Watched(std::vector<Selected> selected) : selected_(std::move(selected)) {
  for (const auto& s : selected_) nodes_.emplace(&(*s.model)[s.node]);
}

bool Watched::takes(const Event& event, int port) {
  const auto meant = [&](const Selected& s) {
    return &(*s.model)[s.node] == &event.node && (!s.port || *s.port == port) &&
           (!s.iteration || (!event.iterations.empty() && event.iterations.back() == *s.iteration));
  };
  if (std::none_of(selected_.begin(), selected_.end(), meant)) return false;
  seen_.insert(&event.node);
  return true;
}

std::vector<Selected> Watched::unseen() const {
  std::vector<Selected> list;
  for (const auto& s : selected_)
    if (!seen_.contains(&(*s.model)[s.node])) list.push_back(s);
  return list;
}

bool Observers::wants(const Model& model, int node) {
  bool any = false;
  for (auto* observer : list_) any = observer->wants(model, node) || any;
  return any;
}

Verdict Observers::before(const Event& event) {
  for (auto* observer : list_)
    if (observer->wants(event.model, event.index) && observer->before(event) == Verdict::stop) return Verdict::stop;
  return Verdict::go_on;
}

Verdict Observers::after(Event& event) {
  for (auto* observer : list_)
    if (observer->wants(event.model, event.index) && observer->after(event) == Verdict::stop) return Verdict::stop;
  return Verdict::go_on;
}

}  // namespace ovir::tools
