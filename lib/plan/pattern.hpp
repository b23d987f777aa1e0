// Pattern: how the fast tier takes nodes: a function that looks at a node and those around it and gives a kernel for
// them. One file a pattern, found by its name; each may be switched off.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.hpp"
#include "plan/plan.hpp"

namespace ovir {

/// What a pattern sees of a model: nodes that no step has taken, their neighbours and what was inferred. It may be
/// asked about nodes and values that there are not (node < 0), as of inputs that a node does not have: they have no
/// type, no inputs and no users, and nothing is known of them.
class Graphlet {
 public:
  /// `groups`: who asks takes groups of nodes; otherwise single ones.
  Graphlet(const Plan& plan, const std::vector<char>& free, bool groups);

  /// Whether who asks takes so many nodes: to be looked at before weights are packed for them.
  bool takes(const std::vector<int>& nodes) const { return (nodes.size() > 1) == groups_; }

  const PlanOptions& options() const { return plan_->options; }
  /// The threads that pack so many weights: to wake others for few takes longer than to pack them.
  ThreadPool& packers(i64 weights) const {
    constexpr i64 kWorthWaking = 128 << 10;
    if (plan_->options.made) plan_->options.made->packed += weights;
    return plan_->options.pool && weights >= kWorthWaking ? *plan_->options.pool : alone_;
  }
  const Node& node(int i) const { return (*plan_->model)[i]; }
  /// The type, as the specification spells it, of a node that may be taken; empty for others and for extensions.
  std::string_view type(int i) const;
  /// The same of any node, also of one that may not be taken.
  std::string_view any_type(int i) const;
  template <class A>
  const A& attrs(int i) const {
    return node(i).version->attrs.as<A>(node(i).attrs.get());
  }
  /// Input `port` of a node, before what changes nothing; node < 0 where it has none.
  ValueRef input(int i, int port) const;
  const Fact& fact(ValueRef v) const { return v.node < 0 ? nothing_ : plan_->facts->of(v); }
  /// What its bytes are between steps.
  ElementType stored(ValueRef v) const;
  /// The value, in its stored type, where it is known before the run; null otherwise.
  const Tensor* constant(ValueRef v) const;
  /// What a Constant holds, in the type that it has in the file; null for other nodes.
  const Tensor* given(ValueRef v) const;
  /// The constant of f16 or bf16 that this f32 value is, itself or by a Convert; node < 0: none.
  ValueRef narrow(ValueRef v) const;
  /// The same constant's tensor, in its own type; null: none.
  const Tensor* narrow_constant(ValueRef v) const { return given(narrow(v)); }
  /// What stands for a value that follows from constants alone, the same in all plans of the model: where the model has
  /// the constant that it is, itself or by a Convert, or the node that computes it; null: it does not.
  const void* origin(ValueRef v) const;
  /// What `make` makes of a constant, as a shared pointer, but once for all that ask by the same name, as layers that
  /// share their weights do, and plans of the model for other shapes. `name` says all that it depends on besides.
  /// `given`: origin() of the constant; where that is null, nothing is shared.
  template <class T, class Make>
  std::shared_ptr<const T> shared(const void* given, const std::string& name, const Make& make) const {
    if (!given || !plan_->options.made) return make();
    auto& made = plan_->options.made->named[{given, name}];
    if (!made) made = make();
    return std::static_pointer_cast<const T>(made);
  }
  template <class T, class Make>
  std::shared_ptr<const T> shared(ValueRef constant, const std::string& name, const Make& make) const {
    return shared<T>(origin(constant), name, make);
  }
  /// The one node that reads this output, where it is only one, may be taken, and no Result receives the value; else
  /// -1.
  int only_user(ValueRef v) const;
  /// The nodes that read this output, the last of a step that has several; -1: a Result.
  std::span<const int> users(ValueRef v) const;
  /// Whether somebody reads the output, if the node has it.
  bool is_read(ValueRef v) const;
  /// How often steps and Results read a value of the plan.
  int reads(int value) const { return static_cast<int>(users_[value].size()); }
  int reads(ValueRef v) const;

 private:
  const Plan* plan_;
  const std::vector<char>* free_;
  bool groups_;
  mutable ThreadPool alone_{1};
  Fact nothing_;                         // of a value that there is not
  std::vector<std::vector<int>> users_;  // by value
};

/// The nodes that a pattern takes, in topological order: the last one gives the outputs, nobody else reads what the
/// others compute.
struct Match {
  std::vector<int> nodes;
  std::vector<ValueRef> inputs;  ///< the kernel's operands
  std::unique_ptr<const Kernel> kernel;
  /// So many nodes at the beginning are left to others, too, who may read what they compute; where all of those take
  /// them as well, their own steps go.
  std::size_t shared = 0;
  /// The shape in which the kernel writes output 0, where that is a view of it: the same bytes under its own shape.
  std::optional<Shape> written{};
};

/// Who is asked first where several begin at the same nodes; among equals, by name.
enum class Priority : std::uint8_t {
  unchanged,  ///< takes single operations that change nothing: its matches have no kernel, and input 0 is the output
  group,      ///< takes several operations of which those below would take one each
  narrow,     ///< reads or computes in fewer bits than f32
  packed,     ///< packs its weights, keeps values blocked, or takes a large group
  library,    ///< of the oneDNN module, which takes single operations
  plain,      ///< the others
  elements,   ///< chains of elements, of which all others take parts
};

struct Pattern {
  std::string_view name;  ///< that of its file
  /// Operation types at which it begins.
  std::span<const std::string_view> roots;
  bool begins_at(std::string_view type) const { return std::find(roots.begin(), roots.end(), type) != roots.end(); }
  /// The largest group around `root` that the pattern can compute. A pattern decides by types and ranks; sizes that do
  /// not suit are the kernel's prepare() to refuse.
  std::optional<Match> (*match)(const Graphlet& graph, int root);
  /// Nodes before `root` that follow from constants and that the pattern takes all the same, so that they are not
  /// computed beforehand; null: none.
  std::vector<int> (*unfolded)(const Graphlet& graph, int root) = nullptr;
  Priority priority = Priority::plain;
  std::optional<Precision> precision{};  ///< for plans of this one; empty: of any
  bool steady_only = false;              ///< for plans that run often
  bool groups_only = false;              ///< it takes no single node, so it is no reason why one was not taken

  bool serves(const PlanOptions& options) const {
    return (!precision || precision == options.precision) && (!steady_only || options.steady());
  }
};

}  // namespace ovir
