// An expansion (Convolution-1: pointwise, or of an image), a depthwise GroupConvolution-1 and a pointwise
// Convolution-1, each with what follows it, so that what lies between stays in the cache: for Precision::bf16 and int8.
#include "fast/kernels/convolution/inverted_residual.hpp"
#include "fast/kit/bf16_convolution.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/int8_convolution.hpp"

namespace ovir::fast::patterns::inverted_residual {
namespace {

/// What lies between two convolutions: nothing else is added to it, nobody else reads what it follows from.
bool lies_between(const Bf16Layer& layer) { return layer.ending.residual < 0 && layer.shared == 0 && !layer.written; }
bool is_last(const U8Layer& layer) {
  return !layer.ending.pool && (!layer.ending.is_activated() || layer.ending.activates_in_loops());
}
bool lies_between(const U8Layer& layer) { return layer.ending.result() && !layer.ending.adds && is_last(layer); }

bool is_last(const Bf16Layer& layer) { return !layer.written; }

bool expands(const ConvolutionShape& s, i64 lanes) {
  const NarrowGeometry g(s, lanes);
  return s.is_pointwise() || (g.image && !g.unrolled);
}

template <class Layer>
std::optional<Match> match_layers(const Graphlet& graph, int root, i64 lanes,
                                  std::optional<Layer> (*layer_of)(const Graphlet&, int),
                                  std::unique_ptr<const Kernel> (*kernel_of)(Layer, Layer, Layer)) {
  auto expansion = layer_of(graph, root);
  if (!expansion || !lies_between(*expansion) || !expands(expansion->shape, lanes)) return std::nullopt;
  const auto second = convolution_after(graph, expansion->nodes.back(), "GroupConvolution");
  if (second < 0) return std::nullopt;
  auto depthwise = layer_of(graph, second);
  if (!depthwise || depthwise->inputs[0].node != expansion->nodes.back() || !depthwise->shape.is_depthwise() ||
      depthwise->shape.is_volume() || !lies_between(*depthwise))
    return std::nullopt;
  const auto third = convolution_after(graph, depthwise->nodes.back(), "Convolution");
  if (third < 0) return std::nullopt;
  auto projection = layer_of(graph, third);
  if (!projection || !projection->shape.is_pointwise() || !is_last(*projection)) return std::nullopt;
  Match match{expansion->nodes, expansion->inputs, nullptr};
  for (const auto* layer : {&*depthwise, &*projection})
    match.nodes.insert(match.nodes.end(), layer->nodes.begin(), layer->nodes.end());
  match.inputs.insert(match.inputs.end(), projection->inputs.begin() + 1, projection->inputs.end());
  match.kernel = kernel_of(*std::move(expansion), *std::move(depthwise), *std::move(projection));
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  switch (graph.options().precision) {
    case Precision::bf16: return match_layers<Bf16Layer>(graph, root, 2, bf16_layer, bf16_kernel);
    case Precision::int8: return match_layers<U8Layer>(graph, root, 4, u8_layer, u8_kernel);
    default: return std::nullopt;
  }
}

constexpr std::string_view kRoots[] = {"Convolution"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "inverted_residual", .roots = kRoots, .match = match, .priority = Priority::group, .groups_only = true};

}  // namespace ovir::fast::patterns::inverted_residual
