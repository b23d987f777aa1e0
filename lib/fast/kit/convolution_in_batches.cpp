#include "fast/kit/convolution_in_batches.hpp"

#include <algorithm>

#include "fast/kit/functions.hpp"

namespace ovir::fast {
namespace {

/// SpaceToBatch or BatchToSpace, whose numbers are known: one for each axis, blocks and what is added, or cropped.
struct Blocks {
  std::vector<i64> blocks, begin, end;
};
std::optional<Blocks> blocks_of(const Graphlet& graph, int node, i64 rank) {
  Blocks b;
  int port = 0;
  for (auto* list : {&b.blocks, &b.begin, &b.end}) {
    const auto* constant = graph.constant(graph.input(node, ++port));
    if (!constant || constant->size() != rank) return std::nullopt;
    *list = to_i64(*constant);
    if (std::ranges::any_of(*list, [](i64 n) { return n < 0 || n > kMaxGeometry; })) return std::nullopt;
  }
  for (const auto axis : {0, 1})  // batch and channels
    if (b.blocks[axis] != 1 || b.begin[axis] != 0 || b.end[axis] != 0) return std::nullopt;
  return b;
}

/// Whether `wide` is `narrow` with so many axes of length 1 before the spatial ones. Only batches may be open.
bool adds_ones(const PartialShape& narrow, const PartialShape& wide, i64 ones) {
  if (!narrow.has_rank() || !wide.has_rank() || wide.rank() != narrow.rank() + ones) return false;
  for (i64 axis = 1; axis < wide.rank(); ++axis) {
    const auto length = axis == 1 ? narrow[1] : axis < 2 + ones ? Dim(1) : narrow[axis - ones];
    if (!length.is_static() || !is_same(length, wide[axis])) return false;
  }
  return true;
}

/// The nodes from SpaceToBatch to BatchToSpace; empty where they are others.
std::vector<int> nodes_around(const Graphlet& graph, int root) {
  std::vector<int> nodes{root};
  const auto before = [&] { return graph.input(nodes.front(), 0).node; };
  const auto after = [&] { return graph.only_user({nodes.back(), 0}); };
  while (is_view(graph, before())) nodes.insert(nodes.begin(), before());
  while (is_view(graph, after())) nodes.push_back(after());
  if (graph.type(before()) != "SpaceToBatch" || graph.type(after()) != "BatchToSpace") return {};
  nodes.insert(nodes.begin(), before());
  nodes.push_back(after());
  return nodes;
}

/// How many nodes at the beginning compute what others read, too, or lead to it. `end`: of those that may.
std::size_t shared_nodes(const Graphlet& graph, const std::vector<int>& nodes, std::size_t end) {
  while (end > 0 && graph.only_user({nodes[end - 1], 0}) >= 0) --end;
  return end;
}

/// What a window of the images is of the data. Image r of a block has their pixels r, r + block, …, after `begin`
/// zeros; of the results so many at either side are cropped.
std::optional<Window> window_of_data(const Window& own, i64 block, i64 begin, i64 end, i64 crop_begin, i64 crop_end) {
  const auto wide = [&](i64 n) { return n <= kMaxGeometry ? n * block : kMaxGeometry + 1; };
  auto w = own;
  w.dilation = wide(own.dilation);
  w.pad_begin = wide(own.pad_begin) + begin - crop_begin;
  w.pad_end = wide(own.pad_end) + end - crop_end;
  // Every window has some of the data in it, or could have.
  const auto is_pad = [&](i64 n) { return n >= 0 && n < w.extent(); };
  if (own.stride != 1 || own.pad_begin < 0 || own.pad_end < 0 || w.dilation > kMaxGeometry || !is_pad(w.pad_begin) ||
      !is_pad(w.pad_end))
    return std::nullopt;
  return w;
}

}  // namespace

std::optional<ConvolutionInBatches> convolution_in_batches(const Graphlet& graph, int root,
                                                           std::span<const i64> kernel) {
  auto nodes = nodes_around(graph, root);
  if (nodes.empty()) return std::nullopt;
  const auto first = nodes.front(), last = nodes.back();
  const auto& images = graph.fact({first, 0}).shape;
  const auto &in = graph.fact(graph.input(root, 0)).shape, &out = graph.fact({root, 0}).shape;
  if (!images.has_rank() || !in.has_rank() || images.rank() < 3) return std::nullopt;
  const auto rank = images.rank(), ones = in.rank() - rank;
  if (ones < 0 || in.rank() != std::ssize(kernel) + 2 || !adds_ones(images, in, ones) ||
      !adds_ones(graph.fact(graph.input(last, 0)).shape, out, ones))
    return std::nullopt;
  const auto space = blocks_of(graph, first, rank), results = blocks_of(graph, last, rank);
  if (!space || !results || space->blocks != results->blocks) return std::nullopt;
  const auto& attrs = graph.attrs<ConvolutionAttrs>(root);
  ConvolutionAttrs whole;
  for (i64 axis = 2; axis < in.rank(); ++axis) {
    const auto i = axis - 2;
    const auto own = attrs.window(static_cast<std::size_t>(i), kernel[i]).resolved(in[axis].length());
    if (i < ones) {
      if (own.kernel != 1 || own.pad_begin != 0 || own.pad_end != 0) return std::nullopt;
      continue;
    }
    const auto at = axis - ones;
    const auto w =
        window_of_data(own, space->blocks[at], space->begin[at], space->end[at], results->begin[at], results->end[at]);
    if (!w) return std::nullopt;
    whole.strides.push_back(1);
    whole.dilations.push_back(w->dilation);
    whole.pads_begin.push_back(w->pad_begin);
    whole.pads_end.push_back(w->pad_end);
  }
  const auto at = static_cast<std::size_t>(std::ranges::find(nodes, root) - nodes.begin());
  const auto shared = shared_nodes(graph, nodes, at);
  return ConvolutionInBatches{std::move(nodes), shared, ones, std::move(whole)};
}

int within_batches(const Graphlet& graph, int node) {
  if (graph.type(node) != "BatchToSpace") return node;
  do node = graph.input(node, 0).node;
  while (is_view(graph, node));
  return node;
}

}  // namespace ovir::fast
