#include "exec/shape_plans.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "diag/diagnostic.hpp"

namespace ovir {
namespace {

/// Sizes that are remembered; and of those that have a plan of their own, weights that may be packed for these alone
/// besides what the last few have.
constexpr std::size_t kRecent = 64, kLast = 4;
constexpr i64 kWeights = i64{32} << 20;
/// To pack as many weights as the first plan did takes as long as some runs: later plans may do so in one of so many.
/// To pack a few takes no longer than to make a plan.
constexpr i64 kRunsForEach = 8, kFewWeights = i64{64} << 10;

constexpr i64 kFilterRank = 3;

/// Whether data of open sizes meet filters with spatial axes: convolutions gain what is worth another plan, products of
/// matrices do not.
bool convolves(const Node& node, const Facts& facts) {
  if (!node.version || !node.version->macs || node.inputs.size() < 2) return false;
  const auto &data = facts.of(node.inputs[0]).shape, &filters = facts.of(node.inputs[1]).shape;
  return !data.is_static() && filters.is_static() && filters.rank() >= kFilterRank;
}

bool has_states(const Model& model) {
  return std::ranges::any_of(model.nodes, [](const Node& node) {
    return (node.op && (node.op->kind == Kind::read_value || node.op->kind == Kind::assign)) ||
           std::ranges::any_of(node.bodies, [](const auto& body) { return has_states(*body); });
  });
}

}  // namespace

bool ShapePlans::serve(const Model& model, const Facts& facts) {
  const auto is_open = [&](int parameter) { return !facts.of({parameter, 0}).shape.is_static(); };
  return std::ranges::any_of(model.parameters, is_open) && !has_states(model) &&
         std::ranges::any_of(model.nodes, [&](const Node& node) { return convolves(node, facts); });
}

bool ShapePlans::is_too_often() const { return later_packed_ > kFewWeights + runs_ * (first_packed_ / kRunsForEach); }

Executor* ShapePlans::find(std::span<const Tensor> inputs, const MemoryBudget& memory) {
  if (!make_) return nullptr;
  ++runs_;
  const auto same = [](const Tensor& t, const Shape& s) { return t.shape() == s; };
  auto found = std::find_if(recent_.begin(), recent_.end(), [&](const Known& known) {
    return std::equal(inputs.begin(), inputs.end(), known.shapes.begin(), known.shapes.end(), same);
  });
  if (found == recent_.end()) {
    if (recent_.size() >= kRecent) recent_.pop_back();
    auto& known = recent_.emplace_front();
    for (const auto& t : inputs) known.shapes.push_back(t.shape());
    found = recent_.begin();
  }
  recent_.splice(recent_.begin(), recent_, found);
  auto& known = recent_.front();
  if (known.tried || is_too_often()) return known.executor.get();
  const auto is_short = [&] { return memory.used() > memory.limit() / 2; };
  while (is_short() && recent_.size() > 1) recent_.pop_back();
  if (is_short()) return nullptr;
  make(known);
  trim();
  return known.executor.get();
}

void ShapePlans::trim() {
  std::size_t plans = 0;
  i64 packed = 0;
  const auto is_beyond = [&](const Known& known) {
    if (!known.executor) return false;
    packed += known.executor->plan()->packed;
    return ++plans > kLast && packed > kWeights;
  };
  recent_.erase(std::find_if(recent_.begin(), recent_.end(), is_beyond), recent_.end());
}

void ShapePlans::make(Known& known) {
  known.tried = true;
  try {
    auto plan = make_(known.shapes);
    if (!plan) return;
    if (std::exchange(is_first_, false)) first_packed_ = plan->packed;
    else later_packed_ += plan->packed;
    known.executor = std::make_unique<Executor>(std::move(plan), arenas_);
  } catch (const Failure&) {  // the plan for all shapes says what is wrong
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace ovir
