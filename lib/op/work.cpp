#include "op/work.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace ovir {
namespace {

constexpr i64 kFloor = 10'000'000'000;
constexpr i64 kStepsOfAByte = 10'000;
/// To find out what to do, to allocate an output.
constexpr i64 kStepsOfALayer = 1'000;
/// An element is written for the first time: its page may have to be made.
constexpr i64 kStepsOfAnOutput = 4;

/// What Scope puts in place: a budget belongs to a run, and a run to a thread.
WorkBudget*& budget_of_thread() {
  thread_local WorkBudget* budget = nullptr;
  return budget;
}

i64 steps_of(const Version& version, const void* attrs, std::span<const Shape> inputs, std::span<const Fact> outputs) {
  if (version.view || version.shape_only || !version.eval) return 0;
  std::vector<Shape> made;
  i64 n = kStepsOfALayer;
  for (const auto& fact : outputs) {
    Shape shape;
    if (fact.shape.has_rank())
      for (const auto& d : fact.shape) shape.push_back(d.min);
    const auto count = saturating_count(shape);
    if (count == std::numeric_limits<i64>::max()) return 0;  // no memory holds it, which is what is to be said
    n = saturating_add(n, saturating_mul(kStepsOfAnOutput, count));
    made.push_back(std::move(shape));
  }
  // What moves elements reads no more than it writes.
  if (version.lift == Lift::compute)
    for (const auto& shape : inputs) n = saturating_add(n, saturating_count(shape));
  const auto more = version.steps ? version.steps : version.macs;
  return more ? saturating_add(n, more(version, attrs, inputs, made)) : n;
}

}  // namespace

i64 saturating_count(const Shape& shape, i64 first) {
  return checked_product(std::span(shape.begin() + std::min(first, shape.rank()), shape.end()))
      .value_or(std::numeric_limits<i64>::max());
}

i64 steps_of(const Version& version, const void* attrs, std::span<const Fact> inputs, std::span<const Fact> outputs) {
  std::vector<Shape> shapes;
  for (const auto& fact : inputs) {
    if (!fact.shape.is_static()) return 0;
    shapes.push_back(fact.shape.to_shape());
  }
  return steps_of(version, attrs, shapes, outputs);
}

i64 steps_of(const Version& version, const void* attrs, std::span<const Tensor> inputs, std::span<const Fact> outputs) {
  std::vector<Shape> shapes;
  for (const auto& tensor : inputs) shapes.push_back(tensor.shape());
  return steps_of(version, attrs, shapes, outputs);
}

i64 default_work_limit(i64 bytes) { return saturating_add(kFloor, saturating_mul(kStepsOfAByte, bytes)); }

void WorkBudget::take(i64 steps) {
  if (steps > limit_ - used_) {
    const auto taken = steps_text(saturating_add(used_, steps)), allowed = steps_text(limit_);
    throw OverWork(diagnose(Code::E0004, taken == allowed
                                             ? fmt::format("the model takes more than the {} that are allowed", allowed)
                                             : fmt::format("the model takes {} or more, but {:.2g} are allowed", taken,
                                                           static_cast<double>(limit_))));
  }
  used_ += steps;
}

WorkBudget::Scope::Scope(WorkBudget& budget) : before_(std::exchange(budget_of_thread(), &budget)) {}
WorkBudget::Scope::~Scope() { budget_of_thread() = before_; }

void spend(i64 steps) {
  if (auto* const budget = budget_of_thread()) budget->take(steps);
}

std::string steps_text(i64 steps) { return fmt::format("{:.2g} elementary steps", static_cast<double>(steps)); }

}  // namespace ovir
