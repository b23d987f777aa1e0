#include "fast/kit/broadcasting.hpp"

#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast {
namespace {

template <class Attrs>
bool aligns(const Graphlet& graph, int node) {
  return graph.attrs<Attrs>(node).rule().kind != AutoBroadcast::pdpd;
}

}  // namespace

bool aligns_by_numpy(const Graphlet& graph, int node) {
  const auto type = graph.any_type(node);
  if (type == "Divide") return aligns<DivideAttrs>(graph, node);
  if (type == "FakeQuantize") return aligns<FakeQuantizeAttrs>(graph, node);
  return aligns<BroadcastAttrs>(graph, node);
}

}  // namespace ovir::fast
