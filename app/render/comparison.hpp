// What compare and bisect have found, as text and as JSON.
#pragma once
#include <string>
#include <vector>

#include "render/json.hpp"
#include "render/style.hpp"
#include "tools/compare.hpp"

namespace ovir::app {

/// A column of the table: a metric of --metric.
enum class Metric { max_abs, max_rel, ulp, rmse, cosine, psnr, nan, inf, top };
struct MetricColumn {
  Metric metric;
  i64 k = 0;  ///< of Metric::top
};
/// "max_abs,top5" as columns. Throws UsageError.
std::vector<MetricColumn> parse_metrics(const std::string& words);

/// `layer 5 "conv1" (Convolution)`, with the iteration and, where the layer has several, the output.
std::string place_text(const tools::TensorPlace& place);

struct ComparisonView {
  const tools::Comparison& comparison;
  const tools::Reference& reference;
  const std::vector<std::string>& unaligned;
  const std::vector<MetricColumn>& columns;
  bool per_layer = false;
};
std::string comparison_text(const ComparisonView& view, const Style& style);
Json comparison_json(const ComparisonView& view);

std::string bisection_text(const tools::Bisection& bisection, const tools::Reference& reference);
Json bisection_json(const tools::Bisection& bisection);

}  // namespace ovir::app
