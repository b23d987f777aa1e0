// --dump: the tensors of selected layers, taken as they are computed.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ovir.hpp"
#include "tensor_files.hpp"
#include "tools/select.hpp"

namespace ovir::app {

class Watch final : public Observer {
 public:
  /// Throws UsageError for a selector that selects nothing.
  Watch(const Model& model, const std::string& selector);

  /// Where the tensors of the next run go.
  void into(Dump& dump) { dump_ = &dump; }
  /// The layers that no run came to, for a note: parts of a body that was not run. Empty: none.
  std::string missed() const;

  bool wants(const Model& model, int node) override;
  Verdict after(Event& event) override;

 private:
  std::vector<tools::Selected> selected_;
  std::set<const Node*> wanted_, seen_;
  Dump* dump_ = nullptr;
};

}  // namespace ovir::app
