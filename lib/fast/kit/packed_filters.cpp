#include "fast/kit/packed_filters.hpp"

#include <fmt/format.h>

#include "fast/kit/turned.hpp"

namespace ovir::fast {
namespace {

std::shared_ptr<const Buffer> packed(ConvolutionMethod method, const ConvolutionShape& s, const Tensor& filters,
                                     ThreadPool& pool) {
  auto to = std::make_shared<Buffer>(filters_size(method, s), pool);
  pack(method, s, filters.data<float>(), to->data(), pool);
  return to;
}

}  // namespace

std::shared_ptr<const Buffer> packed_filters(const Graphlet& graph, const ConvolutionSum& sum,
                                             const std::optional<ReachedTaps>& taps, ConvolutionMethod method,
                                             const ConvolutionShape& s) {
  const auto origin = sum.origin();
  auto name = packing_name(method, s) + origin.name;
  if (taps) name += fmt::format(" of {}", taps->name(sum.shape()));
  return graph.shared<Buffer>(origin.given, name, [&] {
    const auto all = sum.filters(graph);
    const auto filters = taps ? taps->of(all, sum.shape()) : all;
    return packed(method, s, filters, graph.packers(s.weights()));
  });
}

std::shared_ptr<const Buffer> packed_filters(const Graphlet& graph, ValueRef filters, ConvolutionMethod method,
                                             const ConvolutionShape& s, bool turns) {
  return graph.shared<Buffer>(filters, packing_name(method, s) + (turns ? " turned" : ""), [&] {
    const auto given = graph.constant(filters)->apart();
    return packed(method, s, turns ? turned_filters(s, given) : given, graph.packers(s.weights()));
  });
}

}  // namespace ovir::fast
