// Neighboring steps that compute row by row: one fork-join for all of them.
#include <algorithm>
#include <functional>

#include "exec/planned_work.hpp"
#include "exec/sized.hpp"
#include "op/work.hpp"

namespace ovir {

/// Finds neighboring steps that compute row by row: to hand out each of them would take longer than to compute it.
void Sized::join_rows(const Plan& plan, int threads) {
  constexpr i64 kLeastRows = 6;          // of a thread: fewer read weights more than they compute
  constexpr i64 kPartFloats = 64 << 10;  // that a part writes, while they stay in the second-level cache
  // Elementary steps, which take 12 µs: less is done before another thread has begun, has fetched its rows and given
  // them back.
  constexpr i64 kWorthSharing = 1'000'000;
  const bool wanted = threads > 1 && plan.options.has(kJoinRows);
  for (int s = 0; s < std::ssize(steps); s = steps[s].end) {
    auto& begin = steps[s];
    begin.first = s;
    begin.end = s + 1;
    const auto rows_of = [&](int i) {
      const auto& step = steps[i];
      const auto* kernel =
          step.how == How::kernel && step.state->scratch_bytes == 0 ? plan.steps[i].kernel.get() : nullptr;
      return kernel ? kernel->rows({step.in, step.out}) : 0;
    };
    const auto work_of = [&](int i) {
      const auto& value = plan.value(plan.steps[i].outputs[0]);
      return value.shape.is_static() ? step_work(plan, plan.steps[i], false) : kWorthSharing;
    };
    const auto rows = wanted ? rows_of(s) : 0;
    if (rows < kLeastRows * 2) continue;
    i64 kernels = 1, floats = begin.out[0].size();
    auto work = work_of(s);
    for (int i = s + 1; i < std::ssize(steps) && (steps[i].how == How::view || rows_of(i) == rows); ++i) {
      if (steps[i].how == How::view) continue;
      ++kernels;
      floats += steps[i].out[0].size();
      work = saturating_add(work, work_of(i));
      begin.end = i + 1;
    }
    if (kernels == 1) continue;
    begin.rows = rows;
    begin.parts = 1;
    if (work >= kWorthSharing)
      begin.parts = std::clamp<i64>((floats / kPartFloats + threads) / threads * threads, 1, rows / kLeastRows);
    for (int i = s + 1; i < begin.end; ++i) {
      steps[i].first = s;
      steps[i].end = begin.end;
    }
  }
}

void Sized::run_rows(const Plan& plan, int begin, ThreadPool& pool) const {
  const auto& first = steps[begin];
  const auto part = [&](i64 i) {
    for (int s = begin; s < first.end; ++s)
      if (const auto& step = steps[s]; step.how == How::kernel)
        plan.steps[s].kernel->run_rows(step.in, step.out, first.rows * i / first.parts,
                                       first.rows * (i + 1) / first.parts);
  };
  pool.run(first.parts, std::cref(part));
}

}  // namespace ovir
