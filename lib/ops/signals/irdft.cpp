// IRDFT: the inverse of RDFT: real data from the half of a spectrum that is not redundant.
// Spec: operation-sets/operation-specs/signals/irdft-9
#include "ops/signals/common.hpp"

namespace ovir::ops::irdft {
namespace {

using namespace signals;

void infer(InferContext& c) {
  std::optional<i64> last;
  Dim last_size;
  auto shape = signals::infer(c, true, last, last_size);
  if (shape.has_rank() && last) {
    // "If signal_size is not given or -1, the last axis has 2 * (n - 1) elements."
    if (last_size == Dim(0)) shape[*last] = (shape[*last] - Dim(1)) * Dim(2);
    else shape[*last] = last_size;
  } else if (shape.has_rank() && !c.ints(1)) {
    for (auto& d : shape.dims()) d = Dim();
  }
  c.output(0, std::move(shape));
}

void eval(EvalContext& c) {
  auto& out = c.out(0);  // before any work: a size asked for may be too large
  auto field = read(c.in(0), true, c.memory());
  const auto p = transform(c, std::ssize(field.shape));
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    const auto had = field.shape[p.axes[i]];
    const bool halved = i + 1 == p.axes.size();
    auto length = halved ? std::max<i64>(0, 2 * (had - 1)) : had;
    if (p.sizes[i] != -1) length = p.sizes[i];
    Fourier fourier(length, Direction::inverse, c.memory());
    Line whole(length, c.memory());
    field.along(p.axes[i], halved ? length / 2 + 1 : length, [&](const Line& line) {
      std::copy_n(line.begin(), std::min(line.size(), whole.size()), whole.begin());
      // The other half: X[n - k] is the conjugate of X[k].
      for (i64 k = 1; halved && k < (length + 1) / 2; ++k) whole[length - k] = std::conj(line[k]);
      return fourier.restored(whole);
    });
  }
  write(field, out, false);
}

constexpr Version kVersions[] = {
    {.since = 9, .inputs = kInputs, .outputs = kOutputs, .infer = infer, .reads = ports(1, 2), .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "IRDFT", .spec = "signals/irdft", .versions = kVersions};

}  // namespace ovir::ops::irdft
