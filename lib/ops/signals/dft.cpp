// DFT: the discrete Fourier transform along some axes of complex data.
// Spec: operation-sets/operation-specs/signals/dft-7
#include "ops/signals/common.hpp"

namespace ovir::ops::dft {
namespace {

using namespace fourier;

void infer(InferContext& c) {
  std::optional<std::int64_t> last;
  Dim last_size;
  auto shape = fourier::infer(c, true, last, last_size);
  if (shape.has_rank()) shape.push_back(Dim(2));
  c.output(0, std::move(shape));
}

void eval(EvalContext& c) {
  auto& out = c.out(0);   // before any work: a size asked for may be too large
  auto field = read(c.in(0), true);
  const auto p = plan(c, static_cast<std::int64_t>(field.shape.size()));
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    const auto length = p.sizes[i] == -1 ? field.shape[static_cast<std::size_t>(p.axes[i])] : p.sizes[i];
    field.along(p.axes[i], length, [](const Line& line) { return transform(line, false); });
  }
  write(field, out, true);
}

constexpr Version kVersions[] = {{.since = 7, .inputs = kInputs, .outputs = kOutputs, .infer = infer, .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "DFT", .versions = kVersions};

}  // namespace ovir::ops::dft
