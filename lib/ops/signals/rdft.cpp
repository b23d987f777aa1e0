// RDFT: the discrete Fourier transform of real data; of the last of its axes only the half that is not redundant is
// kept. Spec: operation-sets/operation-specs/signals/rdft-9
#include "ops/signals/common.hpp"

namespace ovir::ops::rdft {
namespace {

using namespace signals;

void infer(InferContext& c) {
  std::optional<i64> last;
  Dim last_size;
  auto shape = signals::infer(c, false, last, last_size);
  if (shape.has_rank()) {
    if (last) shape[*last] = div_floor(shape[*last], 2) + Dim(1);
    else if (!c.ints(1))
      for (auto& d : shape.dims()) d = hull(d, div_floor(d, 2) + Dim(1));
    shape.push_back(Dim(2));
  }
  c.output(0, std::move(shape));
}

void eval(EvalContext& c) {
  auto& out = c.out(0);  // before any work: a size asked for may be too large
  auto field = read(c.in(0), false, c.memory());
  const auto p = transform(c, std::ssize(field.shape));
  for (std::size_t i = p.axes.size(); i-- > 0;) {
    const auto length = p.sizes[i] == -1 ? field.shape[p.axes[i]] : p.sizes[i];
    const bool halved = i + 1 == p.axes.size();
    Fourier fourier(length, Direction::forward, c.memory());
    field.along(p.axes[i], length, [&](const Line& line) {
      const auto to = fourier(line);
      return halved && !to.empty() ? to.first(line.size() / 2 + 1) : to;
    });
  }
  write(field, out, true);
}

constexpr Version kVersions[] = {
    {.since = 9, .inputs = kInputs, .outputs = kOutputs, .infer = infer, .reads = ports(1, 2), .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "RDFT", .spec = "signals/rdft", .versions = kVersions};

}  // namespace ovir::ops::rdft
