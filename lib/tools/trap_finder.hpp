// TrapFinder: the observer behind first_trap. Finds the event while the run goes on; what made it is looked into after.
#pragma once
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tools/element.hpp"
#include "tools/traps.hpp"

namespace ovir::tools {

/// What a layer was computed from and what it gave, kept beyond the run.
struct Computed {
  const Model* model = nullptr;
  int index = -1;
  std::vector<i64> iterations;
  std::vector<ElementType> declared;  ///< of the outputs, as in Event
  std::vector<Tensor> in, out;

  const Node& node() const { return (*model)[index]; }
  Call call() const { return {&node(), in}; }
};

/// Layers that gave NaN, infinities or few integers: what an event is followed back through. Forgets the oldest.
class History {
 public:
  void keep(const Event& event, bool all_finite);
  /// Shapes of the operands of a layer with bodies, for the parts that iterations receive.
  void enter(const Event& event);
  const Computed* find(const Node& node, const std::vector<i64>& iterations) const;
  /// The last iteration in which a node of a body was computed, as the last of `outer`; nothing where none is kept.
  std::optional<std::vector<i64>> last_iteration(const Node& node, const std::vector<i64>& outer) const;
  const std::vector<Shape>* operands_of(const Node& node, const std::vector<i64>& iterations) const;

 private:
  using Key = std::pair<const Node*, std::vector<i64>>;
  std::map<Key, Computed> kept_;
  std::deque<Key> order_;
  std::map<Key, std::vector<Shape>> entered_;
  std::deque<Key> entered_order_;  ///< of those in bodies, which may run any number of times
  std::size_t bytes_ = 0;
};

class TrapFinder final : public Observer {
 public:
  TrapFinder(const Session& session, const Traps& traps, Observer* also)
      : session_(session), traps_(traps), also_(also) {}

  bool wants(const Model& model, int node) override;
  Verdict before(const Event& event) override;
  Verdict after(Event& event) override;
  /// A fault that a kernel found in the values of an index: gives true where it is an event.
  bool refused(const Diagnostic& fault);

  std::optional<TrapEvent>& found() { return found_; }
  /// The layer of the event, where it computes.
  const std::optional<Computed>& computed() const { return computed_; }
  /// The operands' elements that the event is due to.
  const std::vector<OperandElement>& due_to() const { return due_to_; }
  const History& history() const { return history_; }
  /// The model that runs; null before it began.
  const Model* whole() const { return whole_; }

 private:
  Verdict hit(const Event& event, Trap trap, bool input, int port, const Tensor& value, i64 at, std::string cause,
              std::vector<OperandElement> due_to = {});
  bool check_indices(const Event& event);
  bool check_divisors(const Event& event);
  bool check_state(const Event& event);
  bool check_floats(const Event& event, int port, const Unusual& unusual);
  bool check_origins(const Event& event, int port);
  bool check_elementwise(const Event& event, int port, const std::vector<i64>& bad);
  bool check_others(const Event& event, int port);
  bool check_integers(const Event& event, int port);
  bool check_result(const Event& event);
  bool check_written(const Event& event);

  const Session& session_;
  Traps traps_;
  Observer* also_;
  const Model* whole_ = nullptr;
  Computed running_;  // the step under way
  std::optional<TrapEvent> found_;
  std::optional<Computed> computed_;
  std::vector<OperandElement> due_to_;
  History history_;
};

/// What an element-wise layer of this type did to these operands: the trap that it is, and in words. Nothing where a
/// NaN or infinity was only passed on.
struct Judgment {
  Trap trap{};
  std::string cause;
};
std::optional<Judgment> judge(std::string_view type, const std::vector<double>& operands,
                              const std::vector<std::string>& texts, double result, ElementType declared);
/// Why the layer gave NaN or an infinity at an element of its output, and the operands' elements that it is due to.
struct Reason {
  std::string cause;
  std::vector<OperandElement> due_to;
};
Reason reason_for(const Computed& layer, int port, i64 at);

/// Where the operands' elements came from.
std::vector<TrapEvent::Step> origin_of(const History& history, const Model& whole, const Computed& layer,
                                       const std::vector<OperandElement>& due_to);
std::vector<TrapEvent::Step> origin_of(const History& history, const Model& whole, const Place& given);

}  // namespace ovir::tools
