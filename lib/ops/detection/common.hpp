// What the operations of this family share: the demands on regions, how ROIAlign and its kin sample them, and the grid
// of prior boxes.
#pragma once
#include "op/kit/bilinear_sample.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::detection {

/// A count among the attributes of position-sensitive pooling.
void require_count(const InferContext& c, i64 v, std::string_view attribute);

/// Regions in input `port`, each of `numbers` numbers, which `words` are. Gives how many there are.
Dim require_rois(const InferContext& c, int port, i64 numbers = 5,
                 std::string_view words = "5 numbers for each region");

/// In a kernel: the feature maps hold the image that region `roi` says it is of, in input `port`.
void require_batch(const EvalContext& c, int port, i64 roi, i64 batch, const Tensor& maps);

/// Position-sensitive pooling: the value at (x, y), 0 outside of the plane.
template <class T>
T bilinear(const T* map, float x, float y, i64 width, i64 height) {
  if (!(x >= 0 && y >= 0 && x < static_cast<float>(width) && y < static_cast<float>(height))) return 0;
  const auto left = static_cast<i64>(x), top = static_cast<i64>(y);
  const auto right = std::min(static_cast<i64>(std::ceil(x)), width - 1),
             bottom = std::min(static_cast<i64>(std::ceil(y)), height - 1);
  const auto dx = static_cast<T>(x - static_cast<float>(left)), dy = static_cast<T>(y - static_cast<float>(top));
  const auto row = [&](i64 r) { return map[r * width + left] + (map[r * width + right] - map[r * width + left]) * dx; };
  return row(top) + (row(bottom) - row(top)) * dy;
}

using ovir::BilinearSample;
using ovir::kMaxBinSamples;
void require_sampling_ratio(const InferContext& c, i64 sampling_ratio);
/// What `samples` of all channels cost, before they are taken.
inline void spend_samples(i64 samples, i64 channels) {
  constexpr i64 kSample = 8, kSampleOfChannel = 4;
  spend(saturating_mul(samples, saturating_add(kSample, saturating_mul(kSampleOfChannel, channels))));
}
/// How many samples are taken along a side of a bin of region `roi`, of input `port`: as many as asked for, or one a
/// pixel.
i64 bin_samples(const EvalContext& c, int port, double side, i64 sampling_ratio, i64 roi);

// --- ROIAlign and ROIAlignRotated

/// The demands on attributes of both.
template <class Attrs>
void require_bins(const InferContext& c, const Attrs& a) {
  c.require_attr(a.pooled_h > 0, "pooled_h", "must be positive, but is {}", a.pooled_h);
  c.require_attr(a.pooled_w > 0, "pooled_w", "must be positive, but is {}", a.pooled_w);
  require_sampling_ratio(c, a.sampling_ratio);
}
/// Their inputs data, rois and batch_indices, and the output.
void infer_aligned(InferContext& c, i64 pooled_h, i64 pooled_w, i64 numbers, std::string_view words);
/// Their samples: visit(bin, x, y, n) for the n points in each bin of a region of `w` by `h` that begins at (x0, y0),
/// each of all channels.
template <class T, class Attrs, class F>
void sample_bins(const EvalContext& c, const Attrs& a, i64 roi, i64 channels, T x0, T y0, T w, T h, F visit) {
  const T bin_w = w / static_cast<T>(a.pooled_w), bin_h = h / static_cast<T>(a.pooled_h), half = static_cast<T>(0.5);
  const auto nx = bin_samples(c, 1, static_cast<double>(bin_w), a.sampling_ratio, roi),
             ny = bin_samples(c, 1, static_cast<double>(bin_h), a.sampling_ratio, roi);
  spend_samples(saturating_mul(saturating_mul(a.pooled_h, a.pooled_w), nx * ny), channels);
  for (i64 ph = 0; ph < a.pooled_h; ++ph)
    for (i64 pw = 0; pw < a.pooled_w; ++pw)
      for (i64 iy = 0; iy < ny; ++iy)
        for (i64 ix = 0; ix < nx; ++ix) {
          const T y = y0 + static_cast<T>(ph) * bin_h + bin_h / static_cast<T>(ny) * (static_cast<T>(iy) + half);
          const T x = x0 + static_cast<T>(pw) * bin_w + bin_w / static_cast<T>(nx) * (static_cast<T>(ix) + half);
          visit(ph * a.pooled_w + pw, x, y, static_cast<T>(nx * ny));
        }
}

// --- PriorBox and PriorBoxClustered

void require_variance(const InferContext& c, const std::vector<float>& variance);
/// Height and width of grid and image.
void require_grid(const InferContext& c);
/// [2, 4 · boxes of the whole grid].
void output_priors(InferContext& c, std::size_t boxes_a_point);
/// The second row: the variance of each coordinate.
void put_variances(Tensor& out, const std::vector<float>& variance);

}  // namespace ovir::ops::detection
