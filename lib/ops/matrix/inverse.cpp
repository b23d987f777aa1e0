// Inverse: the inverses of the matrices in the last two axes, or the transposes of the inverses.
// Spec: operation-sets/operation-specs/matrix/inverse-14
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::inverse {
namespace {

struct Attrs {
  bool adjoint = false;
};

void infer(InferContext& c) {
  c.require_rank_at_least(0, 2);
  auto out = c.shape(0);
  if (out.has_rank()) {
    const auto rank = out.rank();
    out[rank - 1] = out[rank - 2] = c.require_same_dim(out[rank - 2], out[rank - 1], 0, "the number of rows",
                                                       "the number of columns of the matrices");
  }
  c.output(0, std::move(out));
}

/// Gauss and Jordan with the largest pivot of each column; infinities and NaNs where there is no inverse.
void invert(std::vector<double> m, std::vector<double>& inverse, i64 n) {
  inverse.assign(n * n, 0);
  for (i64 i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (i64 column = 0; column < n; ++column) {
    auto pivot = column;
    for (auto i = column; i < n; ++i)
      if (std::abs(m[i * n + column]) > std::abs(m[pivot * n + column])) pivot = i;
    const auto divisor = m[pivot * n + column];
    for (auto* matrix : {&m, &inverse}) {
      auto* row = matrix->data() + column * n;
      if (pivot != column) std::swap_ranges(row, row + n, matrix->data() + pivot * n);
      for (i64 j = 0; j < n; ++j) row[j] /= divisor;
    }
    for (i64 i = 0; i < n; ++i) {
      const auto factor = m[i * n + column];
      if (i == column || factor == 0) continue;
      for (auto* matrix : {&m, &inverse})
        for (i64 j = 0; j < n; ++j) (*matrix)[i * n + j] -= factor * (*matrix)[column * n + j];
    }
  }
}

void eval(EvalContext& c) {
  const auto& from = c.in(0);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto n = from.dim(from.rank() - 1), size = n * n;
  const bool adjoint = c.attrs<Attrs>().adjoint;
  std::vector<double> inverse;
  dispatch(to.type(), Floats{}, [&]<class T>() {
    for (i64 at = 0; at < from.size(); at += size) {
      invert(std::vector<double>(from.data<T>() + at, from.data<T>() + at + size), inverse, n);
      // "If adjoint == true, then it is sufficient to transpose the resulting matrix."
      for (i64 i = 0; i < size; ++i)
        to.mutable_data<T>()[at + i] = static_cast<T>(inverse[adjoint ? i % n * n + i / n : i]);
    }
  });
}

/// Every column changes all others of the matrix and of its inverse.
i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  return saturating_mul(saturating_count(in[0]), saturating_mul(2, in[0].back()));
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs = attributes<Attrs, Attr<"adjoint", &Attrs::adjoint>>;
constexpr Version kVersions[] = {{.since = 14,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .eval = eval,
                                  .steps = steps}};

}  // namespace

extern constinit const OpDef def{.type = "Inverse", .spec = "matrix/inverse", .versions = kVersions};

}  // namespace ovir::ops::inverse
