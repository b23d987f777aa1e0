// The passes that make a plan, in the order in which make_plan runs them: each changes the plan in place. `fold`,
// `fuse`, `choose`, `layout` and `caches` may be left out by name (PlanOptions::without); Precision::declared leaves
// `precision` with nothing to do.
#pragma once
#include "plan/plan.hpp"

namespace ovir::plan_passes {

/// One step a node that computes, one value an output.
void lower(Plan& plan, const PlanOptions& options);
/// What every value is stored as, and conversions where a constant is stored otherwise.
void precision(Plan& plan);
/// Values that are known become constants; in a plan that runs often, so does all that follows from constants. Steps
/// that no result and no state depends on go.
void fold(Plan& plan, const PlanOptions& options);
/// Groups of nodes for which a pattern has one kernel.
void fuse(Plan& plan, const PlanOptions& options);
/// A kernel for single nodes.
void choose(Plan& plan, const PlanOptions& options);
/// Layouts between kernels that have the choice.
void layout(Plan& plan);
/// States that a run appends to, where they can grow in place.
void caches(Plan& plan);
/// What dies where, which outputs are views, which steps infer shapes when they run, and which serve only as initial
/// values of variables.
void lifetimes(Plan& plan);

/// Output 0 is input 0's bytes, perhaps under another shape.
bool is_view(const Plan& plan, const Step& step);

/// What the patterns offer is taken: groups of nodes, or single ones.
void take_nodes(Plan& plan, const PlanOptions& options, bool groups);
/// Whether a step only gives the bytes of input 0 another shape, which is settled before the run.
bool passes_on(const Plan& plan, const Step& step);

/// Whether patterns are offered a step: a node that computes, without bodies, none of whose operands is so large that
/// its bytes cannot be counted. The reference kernels refuse those when it comes to allocating them.
bool is_offered(const Plan& plan, const Step& step);

/// The value that stands for an output of a node.
int value_of(const Plan& plan, ValueRef v);
/// Whether both are one value, as what goes into a step that changes nothing, and what came out of it.
inline bool is_same_value(const Plan& plan, ValueRef a, ValueRef b) {
  return a.node >= 0 && b.node >= 0 && value_of(plan, a) == value_of(plan, b);
}
inline bool is_half(ElementType t) { return t == ElementType::f16 || t == ElementType::bf16; }
/// A float of fewer bits than f32.
inline bool is_narrow(ElementType t) { return contains(kNarrowFloat, t) || is_half(t); }
/// Leaves out the steps that no result and no state depends on. By value: whether somebody needs it.
std::vector<char> remove_unread(Plan& plan);
/// Leaves out the steps that are marked.
void remove_steps(Plan& plan, const std::vector<char>& gone);

}  // namespace ovir::plan_passes
