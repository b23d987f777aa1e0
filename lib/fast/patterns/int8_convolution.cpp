// Convolution-1 and GroupConvolution-1 of quantized values by quantized weights in integers, and AvgPool of quantized
// values, with the bias, bounds, residual and FakeQuantize that follow: for Precision::int8.
#include "fast/kit/int8_convolution.hpp"

namespace ovir::fast::patterns::int8_convolution {
namespace {

std::optional<Match> match(const Graphlet& graph, int root) {
  auto layer = u8_layer(graph, root);
  if (!layer || !graph.takes(layer->nodes)) return std::nullopt;
  Match match{layer->nodes, layer->inputs, nullptr};
  match.kernel = u8_kernel(*std::move(layer));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution", "AvgPool"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_convolution",
                                       .roots = kRoots,
                                       .match = match,
                                       .unfolded = u8_weights_nodes,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_convolution
