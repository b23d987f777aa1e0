#include "ops/activation/common.hpp"

namespace ovir::ops {

void infer_softmax(InferContext& c) {
  if (c.shape(0).has_rank()) c.require_axis(c.attrs<SoftmaxAttrs>().axis, -1, c.shape(0).rank());
  c.output(0, c.shape(0));
}

}  // namespace ovir::ops
