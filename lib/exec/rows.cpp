// Neighboring steps that compute row by row, or by pieces: one fork-join for all of them.
#include <algorithm>
#include <functional>

#include "exec/planned_work.hpp"
#include "exec/sized.hpp"
#include "op/work.hpp"

namespace ovir {
namespace {

constexpr i64 kLeastRows = 6;          // of a thread: fewer read weights more than they compute
constexpr i64 kPartFloats = 64 << 10;  // that a part writes, while they stay in the second-level cache
// Elementary steps, which take 12 µs: less is done before another thread has begun, has fetched its rows and given
// them back.
constexpr i64 kWorthSharing = 700'000;
// A millisecond in one thread: such a step's rows are best all read before the weights of the next come.
constexpr i64 kWorthAnOwnJob = 60'000'000;

}  // namespace

/// Finds neighboring steps that compute row by row, or by pieces: to hand out each of them would take longer than to
/// compute it. Those between which no thread waits for another are a phase.
void Sized::join_rows(const Plan& plan, int threads) {
  const bool wanted = threads > 1 && plan.options.has(kJoinRows);
  const auto work_of = [&](int s) {
    const auto& value = plan.value(plan.steps[s].outputs[0]);
    return value.shape.is_static() ? step_work(plan, plan.steps[s], false) : kWorthSharing;
  };
  const auto phase_of = [&](int s) {
    const auto& step = steps[s];
    Phase phase{.begin = s, .end = s + 1};
    if (step.how != How::kernel || !plan.steps[s].initial_of.empty()) return phase;
    const auto& kernel = *plan.steps[s].kernel;
    const auto rows = step.state->scratch_bytes == 0 ? kernel.rows({step.in, step.out}) : 0;
    phase.by_rows = rows >= 2 * kLeastRows;
    phase.items = phase.by_rows ? rows : kernel.pieces(*step.state);
    if (work_of(s) >= kWorthAnOwnJob) phase.items = 0;
    return phase;
  };
  for (int s = 0; s < std::ssize(steps);) {
    Joined found{.end = s + 1, .parts = 1, .phases = {}};
    auto& phases = found.phases;
    i64 kernels = 0, work = 0, floats = 0, most_floats = 0, least_rows = INT64_MAX;
    for (int i = s;
         wanted && i < std::ssize(steps) && (kernels == 0 || steps[i].how == How::view || phase_of(i).items > 0); ++i) {
      if (kernels > 0 && steps[i].how == How::view) continue;
      const auto phase = phase_of(i);
      if (phase.items == 0) break;
      if (!phases.empty() && phase.by_rows && phases.back().by_rows && phase.items == phases.back().items) {
        phases.back().end = i + 1;
      } else {
        phases.push_back(phase);
        floats = 0;
      }
      ++kernels;
      work = saturating_add(work, work_of(i));
      floats += steps[i].out[0].size();
      most_floats = std::max(most_floats, floats);
      if (phase.by_rows) least_rows = std::min(least_rows, phase.items);
      found.end = i + 1;
    }
    if (kernels > 1) {
      if (work >= kWorthSharing)
        found.parts =
            std::clamp<i64>((most_floats / kPartFloats + threads) / threads * threads, 1, least_rows / kLeastRows);
      for (const auto& phase : phases)
        for (int i = phase.begin; i < phase.end; ++i) {
          steps[i].first = phase.begin;
          steps[i].end = phase.end;
        }
      steps[s].joined = static_cast<int>(joined.size());
      joined.push_back(found);
    }
    for (; s < found.end; ++s)
      if (steps[s].end == 0) {
        steps[s].first = s;
        steps[s].end = s + 1;
      }
  }
}

void Sized::run_joined(const Plan& plan, const Joined& what, ThreadPool& pool) const {
  const auto part = [&](i64 p, i64 i, int thread) {
    const auto& phase = what.phases[p];
    const auto begin = phase.items * i / what.parts, end = phase.items * (i + 1) / what.parts;
    if (begin == end) return;
    for (int s = phase.begin; s < phase.end; ++s) {
      const auto& step = steps[s];
      if (step.how != How::kernel) continue;
      const auto& kernel = *plan.steps[s].kernel;
      if (phase.by_rows) kernel.run_rows(step.in, step.out, begin, end);
      else kernel.run_pieces(*step.state, step.in, step.out, begin, end, thread);
    }
  };
  pool.run_phases(std::ssize(what.phases), what.parts, std::cref(part));
}

}  // namespace ovir
