#include "fast/kit/zeros.hpp"

#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {

template <class Attrs>
std::optional<Zeros> zeros_before(const Graphlet& graph, int reader, const Attrs& attrs, std::span<const i64> kernel) {
  const auto pad = graph.input(reader, 0).node;
  if (graph.type(pad) != "Pad" || graph.only_user({pad, 0}) != reader ||
      graph.attrs<PadAttrs>(pad).pad_mode != PadMode::constant || attrs.auto_pad == AutoPad::same_upper ||
      attrs.auto_pad == AutoPad::same_lower)
    return std::nullopt;
  if (const auto value = graph.input(pad, 3); value.node >= 0 && number(graph, value) != 0.0F) return std::nullopt;
  Zeros zeros{pad, {}, {}};
  for (auto* list : {&zeros.begin, &zeros.end}) {
    const auto* constant = graph.constant(graph.input(pad, list == &zeros.begin ? 1 : 2));
    if (!constant || constant->size() != std::ssize(kernel) + 2) return std::nullopt;
    *list = to_i64(*constant);
    if ((*list)[0] != 0 || (*list)[1] != 0) return std::nullopt;
    list->erase(list->begin(), list->begin() + 2);
    const auto& own = list == &zeros.begin ? attrs.pads_begin : attrs.pads_end;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const auto before = attrs.auto_pad == AutoPad::valid ? 0 : nth_or(own, i, 0);
      const auto reach = (kernel[i] - 1) * nth_or(attrs.dilations, i, 1);
      if ((*list)[i] < 0 || (*list)[i] > reach - before) return std::nullopt;
      (*list)[i] += before;
    }
  }
  return zeros;
}

template std::optional<Zeros> zeros_before(const Graphlet&, int, const ConvolutionAttrs&, std::span<const i64>);
template std::optional<Zeros> zeros_before(const Graphlet&, int, const PoolAttrs&, std::span<const i64>);

}  // namespace ovir::fast
