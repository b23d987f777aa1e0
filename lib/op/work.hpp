// What a kernel has to do, in elementary steps of about a nanosecond each in a reference kernel, estimated before it
// runs; and how many steps a run may take, so that a file of a kilobyte cannot ask for hours.
#pragma once
#include <span>
#include <string>

#include "base/checked.hpp"
#include "diag/diagnostic.hpp"
#include "op/fact.hpp"
#include "op/op_def.hpp"

namespace ovir {

/// The number of elements along the axes from `first`; INT64_MAX where it is more.
i64 saturating_count(const Shape& shape, i64 first = 0);

/// The steps of a version's reference kernel. Output lengths that only the data decide count as the least possible. 0
/// where the shape of an input is open.
i64 steps_of(const Version& version, const void* attrs, std::span<const Fact> inputs, std::span<const Fact> outputs);
i64 steps_of(const Version& version, const void* attrs, std::span<const Tensor> inputs, std::span<const Fact> outputs);

/// A kernel of the fast tier takes as many steps at a time.
inline constexpr i64 kStepsAtOnce = 16;

/// What a run may take where nobody says: a floor, and more for a larger model and larger inputs. `bytes`: of both.
i64 default_work_limit(i64 bytes);

/// Thrown where a budget does not suffice (E0004).
struct OverWork : Failure {
  using Failure::Failure;
};

/// The steps that a run may still take. Used by one thread.
class WorkBudget {
 public:
  explicit WorkBudget(i64 limit) : limit_(limit) {}
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  /// Throws OverWork, and takes nothing, where fewer than `steps` are left.
  void take(i64 steps);
  i64 limit() const { return limit_; }

  /// While it lives, what this thread spends counts against `budget`.
  class Scope {
   public:
    explicit Scope(WorkBudget& budget);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WorkBudget* before_;
  };

 private:
  const i64 limit_;
  i64 used_ = 0;
};

/// Counts against the budget of this thread, if it has one. Kernels whose work the data decide call it themselves,
/// before they begin with a part of it.
void spend(i64 steps);

/// "1.5e+12 elementary steps".
std::string steps_text(i64 steps);

}  // namespace ovir
