// Plan: how a Model is run: values, and the steps that compute them. Immutable and free of actual shapes, so sessions
// and threads share it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.hpp"
#include "plan/kernel.hpp"

namespace ovir {

enum class Tier : std::uint8_t { reference, fast };

/// In what floats are computed.
enum class Precision : std::uint8_t {
  f32,       ///< in f32; narrower ones (f16, bf16, f8…) are storage, rounded by Convert and at the model's outputs
  declared,  ///< every value is rounded to its declared type
  bf16,      ///< as f32, but products and convolutions by constants in bf16 with sums in f32, and values between them
  int8,      ///< as f32, but what FakeQuantize brings onto up to 256 levels in u8 by i8 with sums in i32
};

struct Pattern;

/// What kernels have made of constants (Graphlet::shared), for one plan or several of a model.
struct MadeOfConstants {
  std::map<std::pair<const void*, std::string>, std::shared_ptr<const void>> named;  ///< by the bytes and a name
  i64 packed = 0;  ///< weights that were packed, by Graphlet::packers()

  void forget_unused() {
    std::erase_if(named, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
};

struct PlanOptions {
  Tier tier = Tier::fast;
  Precision precision = Precision::f32;
  /// How often the plan will run: where once, nothing is spent on what pays over many runs (packed weights, constants
  /// folded beforehand).
  i64 expected_runs = 1;
  std::vector<const Pattern*> patterns{};   ///< of the fast tier, in order of preference
  std::string until{};                      ///< the last pass to run, by name; empty: all
  std::vector<std::string> without{};       ///< passes, or patterns, to leave out, by name
  ThreadPool* pool = nullptr;               ///< packs weights while the plan is made; null: the caller alone
  std::shared_ptr<MadeOfConstants> made{};  ///< for further plans of the model; null: for this one alone
  bool steady() const { return expected_runs > 1; }
  bool has(std::string_view name) const;
};

enum class Role : std::uint8_t { intermediate, parameter, constant };

/// A tensor between steps.
struct Value {
  ElementType declared = ElementType::dynamic;         ///< as inferred
  ElementType stored = ElementType::dynamic;           ///< what its bytes are
  std::shared_ptr<const Quantization> quantization{};  ///< of floats that are stored as u8
  Layout layout = Layout::plain;
  Role role = Role::intermediate;
  PartialShape shape = PartialShape::unknown_rank();
  ValueRef source;      ///< whose output it is; node < 0 where a pass made it
  Tensor constant;      ///< of a constant
  int narrow = -1;      ///< the constant of a narrower float whose elements these are, in f32; -1: none
  int reads = 0;        ///< by steps and results
  bool result = false;  ///< a Result receives it
  i64 grows = -1;       ///< of a state that a run appends to in place: the axis; it may have room there
};

/// What a step does with a state that grows, see plan/caches.cpp.
enum class Caching : std::uint8_t {
  none,
  read,     ///< ReadValue
  reorder,  ///< Gather along axis 0
  append,   ///< Concat of the state and what is new
  keep,     ///< Assign
};

struct Plan;
struct Step {
  std::vector<int> nodes;                ///< of the model; one, or the group that a pattern took, in order
  std::vector<int> inputs, outputs;      ///< values
  std::vector<ValueRef> operands;        ///< by input: what of the model it is
  std::unique_ptr<const Kernel> kernel;  ///< null: the reference kernels of the nodes
  std::optional<Shape> written;          ///< the shape in which the kernel writes output 0, a view of that
  std::string why;                       ///< why not a faster kernel; may be empty
  std::vector<std::shared_ptr<const Plan>> bodies;
  bool infers = true;      ///< shapes are inferred at run time: inputs or outputs are not static, or values are judged
  bool by_shapes = false;  ///< inference follows from the shapes of the model's inputs and states
  bool view = false;       ///< output 0 is input 0 under another shape
  Caching caching = Caching::none;
  std::vector<int> frees;  ///< values that no later step reads
  /// If not empty, the steps of ReadValues: it computes only initial values of their variables, which are needed where
  /// these have none.
  std::vector<int> initial_of;
};

struct Plan {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Facts> facts;
  PlanOptions options;  ///< without what serves only to make it
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<int> parameters;             ///< values, by Parameter in file order
  std::vector<int> results;                ///< values, by Result in file order
  std::vector<std::vector<int>> value_of;  ///< by node and output: the value that stands for it
  i64 packed = 0;                          ///< weights that were packed for this plan

  const Value& value(int id) const { return values[id]; }
  const Node& node(const Step& step) const { return (*model)[step.nodes.back()]; }
};

/// No pass, but left out alike: what a session makes of neighboring steps that compute row by row (exec/rows.cpp).
inline constexpr std::string_view kJoinRows = "rows";

/// Passes that `until` may name, in the order in which they run.
std::vector<std::string_view> pass_names();

/// Whether a pass of this name may be left out.
bool is_optional_pass(std::string_view name);

/// Model and Facts -> Plan, pass by pass. The facts must be sound and the model complete. Throws std::invalid_argument
/// where `until` names no pass.
std::shared_ptr<const Plan> make_plan(std::shared_ptr<const Model> model, std::shared_ptr<const Facts> facts,
                                      const PlanOptions& options);

}  // namespace ovir
