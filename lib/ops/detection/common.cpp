#include "ops/detection/common.hpp"

namespace ovir::ops::detection {

void infer_priors(InferContext& c, std::int64_t priors_per_point, const std::vector<float>& variance) {
  c.require_attr(variance.size() <= 1 || variance.size() == 4, "variance", "it must have 0, 1 or 4 elements, not {}", variance.size());
  for (int port = 0; port < c.input_count(); ++port) {
    c.require_rank(port, 1);
    if (c.shape(port).has_rank()) c.require(c.shape(port)[0].contains(2), port, Code::E0506, "{} of {} must hold a height and a width, but its shape is {}", c.port_name(port), c.op().type, to_string(c.shape(port)));
  }
  Dim count;
  if (const auto grid = c.dims(0); grid && grid->size() == 2) count = (*grid)[0] * (*grid)[1] * Dim(priors_per_point) * Dim(4);
  c.output(0, PartialShape{Dim(2), count});
}

void fill_variances(Tensor& out, const std::vector<float>& variance) {
  const auto n = out.dim(1);
  auto* row = out.mutable_data<float>() + n;
  for (std::int64_t i = 0; i < n; ++i) row[i] = variance.empty() ? 0.1F : variance[variance.size() == 4 ? static_cast<std::size_t>(i % 4) : 0];
}

}  // namespace ovir::ops::detection
