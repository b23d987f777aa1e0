// Convolution-1 of one group, depthwise GroupConvolution-1, and ConvolutionBackpropData-1 whose taps do not overlap,
// with constant filters in bf16 and what follows them. For Precision::bf16.
#include "fast/kit/bf16_convolution.hpp"

namespace ovir::fast::patterns::bf16_convolution {
namespace {

std::optional<Match> match(const Graphlet& graph, int root) {
  auto layer = bf16_layer(graph, root);
  if (!layer || !graph.takes(layer->nodes)) return std::nullopt;
  Match match{layer->nodes, layer->inputs, nullptr, layer->shared, layer->written};
  match.kernel = bf16_kernel(*std::move(layer));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution", "ConvolutionBackpropData"};

}  // namespace

extern constinit const Pattern pattern{.name = "bf16_convolution",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::bf16};

}  // namespace ovir::fast::patterns::bf16_convolution
