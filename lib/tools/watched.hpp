// What a user wants to see of a run, and several who watch one run.
#pragma once
#include <set>
#include <span>
#include <string>
#include <vector>

#include "exec/observer.hpp"
#include "tools/select.hpp"

namespace ovir::tools {

/// Selected layers, or single ones of their outputs or iterations, while a run goes on.
class Watched {
 public:
  explicit Watched(std::vector<Selected> selected);

  bool wants(const Model& model, int node) const { return nodes_.contains(&model[node]); }
  /// Whether output `port` of this event is meant; it then counts as seen.
  bool takes(const Event& event, int port);
  /// Those that no run came to: parts of a body that was not run.
  std::vector<Selected> unseen() const;

 private:
  std::vector<Selected> selected_;
  std::set<const Node*> nodes_, seen_;
};

/// Several observers of one run; each is told of what it wants, in order. The first that stops the run is the last one
/// told.
class Observers final : public Observer {
 public:
  void add(Observer& observer) { list_.push_back(&observer); }
  bool empty() const { return list_.empty(); }

  bool wants(const Model& model, int node) override;
  Verdict before(const Event& event) override;
  Verdict after(Event& event) override;

 private:
  std::vector<Observer*> list_;
};

}  // namespace ovir::tools
