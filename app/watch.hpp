// What `run` looks at on the way: --dump, --dump-stats.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.hpp"
#include "cli.hpp"
#include "ovir.hpp"
#include "tensor_files.hpp"
#include "tools/statistics.hpp"
#include "tools/watched.hpp"

namespace ovir::app {

/// The layers that `flag` names; constants only where a part of the selector means nothing else. Throws UsageError for
/// a selector that selects nothing.
tools::Watched watched(const Common& common, const Model& model, std::string_view flag, const std::string& selector);
/// The layers that no run came to, for a note; empty: none.
std::string missed(const tools::Watched& watched);

/// --dump: the tensors of selected layers, taken as they are computed.
class DumpWatch final : public Observer {
 public:
  explicit DumpWatch(tools::Watched& what) : what_(what) {}
  /// Where the tensors of the next run go.
  void into(Dump& dump) { dump_ = &dump; }

  bool wants(const Model& model, int node) override { return what_.wants(model, node); }
  Verdict after(Event& event) override;

 private:
  tools::Watched& what_;
  Dump* dump_ = nullptr;
};

/// --dump-stats: the statistics of their tensors.
class StatisticsWatch final : public Observer {
 public:
  struct Row {
    Produced what;  ///< without its value
    Shape shape;
    ElementType stored = ElementType::dynamic;
    tools::Statistics statistics;
  };

  explicit StatisticsWatch(tools::Watched& what) : what_(what) {}
  /// Those since the last call, in the order in which they were computed.
  std::vector<Row> take() {
    share_.give_back();
    return std::exchange(rows_, {});
  }

  bool wants(const Model& model, int node) override { return what_.wants(model, node); }
  Verdict after(Event& event) override;

 private:
  tools::Watched& what_;
  std::vector<Row> rows_;
  MemoryBudget::Share share_;
};

}  // namespace ovir::app
