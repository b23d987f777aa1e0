#include "ops/detection/common.hpp"

#include "op/ports.hpp"

namespace ovir::ops::detection {

void require_count(const InferContext& c, i64 v, std::string_view attribute) {
  c.require_attr(0 < v && v < (1 << 20), attribute, "must be in 1..{1}, but is {0}", v, (1 << 20) - 1);
}

Dim require_rois(const InferContext& c, int port, i64 numbers, std::string_view words) {
  const auto& shape = c.shape(port);
  if (!shape.has_rank()) return {};
  c.require(shape[1].contains(numbers), port, Code::E0506, "input \"rois\" of {} must hold {}, but its shape is {}",
            c.op().type, words, to_string(shape));
  return shape[0];
}

void require_batch(const EvalContext& c, int port, i64 roi, i64 batch, const Tensor& maps) {
  if (batch < 0 || batch >= maps.dim(0))
    fail_at(c.version(), port, Code::E0507,
            fmt::format("region {} names image {}, but \"data\" has {}", roi, batch, counted(maps.dim(0), "image")));
}

void require_sampling_ratio(const InferContext& c, i64 sampling_ratio) {
  c.require_attr(0 <= sampling_ratio && sampling_ratio <= kMaxBinSamples, "sampling_ratio",
                 "must be in 0..{1}, but is {0}", sampling_ratio, kMaxBinSamples);
}

i64 bin_samples(const EvalContext& c, int port, double side, i64 sampling_ratio, i64 roi) {
  if (sampling_ratio > 0) return sampling_ratio;
  if (!(side <= static_cast<double>(kMaxBinSamples)))
    fail_at(c.version(), port, Code::E0508, fmt::format("region {} is too large to be sampled", roi));
  return static_cast<i64>(std::ceil(std::max(side, 0.0)));
}

void infer_aligned(InferContext& c, i64 pooled_h, i64 pooled_w, i64 numbers, std::string_view words) {
  enum Input { data, rois, batch_indices };
  c.require_rank(data, 4);
  c.require_rank(rois, 2);
  c.require_rank(batch_indices, 1);
  const auto channels = c.shape(data).dim(1);
  auto count = require_rois(c, rois, numbers, words);
  if (c.shape(batch_indices).has_rank())
    count = c.require_same_dim(count, c.shape(batch_indices)[0], batch_indices, "the number of \"rois\"",
                               "that of \"batch_indices\"");
  const auto& maps = c.shape(data);
  c.require(!maps.has_rank() || count.min == 0 || channels.min == 0 || (maps[2].max > 0 && maps[3].max > 0), data,
            Code::E0506, "{} cannot sample feature maps of shape {}", c.op().type, to_string(maps));
  c.output(0, PartialShape{count, channels, Dim(pooled_h), Dim(pooled_w)});
}

namespace {
enum GridInput { output_size, image_size };
}

void require_variance(const InferContext& c, const std::vector<float>& variance) {
  c.require_attr(variance.size() <= 1 || variance.size() == 4, "variance", "must hold 0, 1 or 4 numbers, but holds {}",
                 counted(variance.size(), "number"));
}

void require_grid(const InferContext& c) {
  for (const auto port : {output_size, image_size}) {
    c.require_rank(port, 1);
    if (c.shape(port).has_rank())
      c.require(c.shape(port)[0].contains(2), port, Code::E0506,
                "input \"{}\" of {} must hold 2 numbers (height, width), but its shape is {}", c.port_name(port),
                c.op().type, to_string(c.shape(port)));
  }
  if (const auto size = c.ints(output_size))
    for (const auto n : *size)
      c.require(n >= 0, output_size, Code::E0508,
                "input \"output_size\" of {} must hold lengths of 0 or more, but holds {}", c.op().type, n);
}

void output_priors(InferContext& c, std::size_t boxes_a_point) {
  Dim length;
  if (const auto size = c.dims(output_size); size && size->size() == 2)
    length = (*size)[0] * (*size)[1] * Dim(4 * boxes_a_point);
  c.output(0, {Dim(2), length});
}

void put_variances(Tensor& out, const std::vector<float>& variance) {
  auto* to = out.mutable_data<float>() + out.dim(1);
  for (i64 i = 0; i < out.dim(1); ++i) to[i] = variance.empty() ? 0.1F : variance[variance.size() == 1 ? 0 : i % 4];
}

}  // namespace ovir::ops::detection
