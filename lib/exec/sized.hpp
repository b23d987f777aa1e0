// Sized: a plan for given shapes: where every value lies, and what every step has prepared.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "op/eval_context.hpp"
#include "plan/plan.hpp"

namespace ovir {

enum class How : std::uint8_t {
  dynamic,    ///< shapes are found when the step runs; outputs are allocated then
  view,       ///< nothing to do: the output is the input under another shape
  kernel,     ///< a planned kernel on views
  reference,  ///< the reference kernel of one node, into planned outputs
};

struct SizedStep {
  How how = How::dynamic;
  std::span<View> in, out;  ///< of a kernel
  std::unique_ptr<KernelState> state;
  struct Patch {
    View* view;
    int value;
  };
  std::vector<Patch> patches;                  ///< views of values that lie elsewhere in every run
  std::vector<Tensor> inputs, targets;         ///< of a reference kernel
  std::vector<std::pair<Tensor*, int>> moved;  ///< those of them that lie elsewhere in every run
  std::vector<Fact> facts;
  std::vector<ElementType> stored;
  std::vector<std::uint8_t> unwanted;
  std::optional<EvalContext> eval;
  int overwrites = -1;  ///< the input that a kernel's output 0 is written over
  /// Steps [first, end) run at the same time, on some rows in each thread.
  int first = 0, end = 0;
  int joined = -1;  ///< of the first of several steps that are one job: which of Sized::joined
};

/// Steps [begin, end) that run at the same time, each thread some rows of all of them, or one step by its pieces.
struct Phase {
  int begin = 0, end = 0;
  i64 items = 0;  ///< rows or pieces
  bool by_rows = false;
};

/// Neighboring steps that are one job, phase by phase.
struct Joined {
  int end = 0;    ///< the step behind the last
  i64 parts = 1;  ///< of every phase, one or more in each thread
  std::vector<Phase> phases;
};

/// Storage of a result for the next run. There are two, since who gets the results may still hold those of the last
/// run: what a body feeds back to itself.
class Spare {
 public:
  /// See renew().
  Tensor& renewed(ElementType type, const Shape& shape);

 private:
  std::array<Tensor, 2> tensors_;
};

/// Memory for intermediate values of runs that are never under way at the same time.
class Arenas {
 public:
  /// From the thread's MemoryBudget, where what the last one got is not enough.
  std::shared_ptr<std::byte> take(i64 bytes);

 private:
  std::shared_ptr<std::byte> last_;
  i64 bytes_ = 0;
};

struct Sized {
  /// `shapes`: by value; empty where a value's shape is not known before the run. `recorded`: a run has found them, so
  /// what follows from them has been judged.
  Sized(const Plan& plan, std::vector<std::optional<Shape>> shapes, Runtime& runtime, Arenas& arenas,
        bool recorded = false);
  Sized(const Sized&) = delete;
  Sized& operator=(const Sized&) = delete;

  std::vector<std::optional<Shape>> shapes;
  std::shared_ptr<std::byte> arena;
  i64 arena_bytes = 0;
  std::vector<Tensor> tensors;               ///< by value
  std::vector<i64> rooms;                    ///< by value: View::room
  std::vector<char> fixed;                   ///< by value: lies in the same place in every run
  std::vector<char> planned;                 ///< by value: a planned step writes it, outside of the arena (a result)
  std::vector<std::pair<int, Spare>> spare;  ///< those values, and their storage
  std::vector<Tensor> conversions;           ///< by parameter: storage of converted()
  std::vector<Spare> copies;                 ///< by result: storage of result()
  std::vector<int> moving;                   ///< values that do not lie in the same place in every run
  std::vector<SizedStep> steps;
  std::vector<Joined> joined;
  std::vector<View> views;
  bool all_planned = true;  ///< no step is dynamic
  i64 work = 0;             ///< of the steps that are not dynamic, see step_work

  /// Output 0 of a view becomes input 0 under its shape.
  void pass_on(const Plan& plan, const Step& step);
  /// Points a kernel's views at values that lie elsewhere in every run.
  void bind_moved(const SizedStep& step) const;
  void run_joined(const Plan& plan, const Joined& what, ThreadPool& pool) const;

  /// The caller's value in the type it is stored in.
  Tensor converted(std::size_t parameter, const Tensor& given, ElementType stored, ThreadPool& pool);
  /// A value as a result, which the caller may keep: a copy where it lies in the arena, in the model or in an input.
  Tensor result(const Plan& plan, std::size_t k);

 private:
  void prepare_kernels(const Plan& plan, Runtime& runtime, bool recorded);
  void join_rows(const Plan& plan, int threads);  // rows.cpp
  void place_values(const Plan& plan, Arenas& arenas);
  void bind_kernels(const Plan& plan);
  void bind_references(const Plan& plan);
};

}  // namespace ovir
