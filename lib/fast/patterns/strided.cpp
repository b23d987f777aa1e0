// Broadcast, Tile, Slice, StridedSlice, ShuffleChannels, SpaceToDepth and DepthToSpace of any type: each reads its
// input with a stride along every axis of the output.
#include "fast/kernels/movement/strided.hpp"

#include <algorithm>
#include <functional>

#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/movement_attrs.hpp"
#include "op/kit/strided_slicing.hpp"

namespace ovir::fast::patterns::strided {
namespace {

using Dims = std::span<const i64>;

/// The axes by which an output of these dims reads its input; false where sizes do not fit.
using LayOut = std::function<bool(Dims in, Dims out, StridedAxes& axes)>;

class StridedKernel final : public Kernel {
 public:
  StridedKernel(std::string name, LayOut lay_out) : name_(std::move(name)), lay_out_(std::move(lay_out)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &from = sizes.in[0], &to = sizes.out[0];
    auto state = std::make_unique<State>();
    return from.type == to.type && lay_out_(from.dims, to.dims, state->axes) ? std::move(state) : nullptr;
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& axes = static_cast<State&>(state).axes;
    const auto width = byte_width(out[0].type);
    if (in[0].data + axes.first * width == out[0].data) return;  // as place_in_input() has it
    copy_strided(axes, width, in[0].data, out[0].data, runtime.pool());
  }

  std::optional<i64> place_in_input(int, const Sizes& sizes) const override {
    const auto &from = sizes.in[0], &to = sizes.out[0];
    StridedAxes axes;
    const bool together =
        from.type == to.type && lay_out_(from.dims, to.dims, axes) && axes.rank == 1 && axes.list[0].stride == 1;
    return together ? std::optional(axes.first * byte_width(to.type)) : std::nullopt;
  }

 private:
  struct State final : KernelState {
    StridedAxes axes;
  };
  std::string name_;
  LayOut lay_out_;
};

/// Of dims where they lie together.
std::vector<i64> strides_of(Dims dims) {
  std::vector<i64> strides(dims.size());
  i64 stride = 1;
  for (auto i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

/// `from`, read as `view`, with its axes in another order.
bool permuted(Dims view, Dims order, StridedAxes& axes) {
  const auto strides = strides_of(view);
  return std::ranges::all_of(order, [&](i64 axis) { return axes.add(view[axis], strides[axis]); });
}

/// `axes`: of the output, that axes of the input are; empty: the last ones.
bool broadcast(Dims in, Dims out, std::vector<i64> places, bool first_ones, StridedAxes& axes) {
  if (std::ssize(in) > std::ssize(out)) return false;
  for (i64 i = 0; places.size() < in.size(); ++i)
    places.push_back(first_ones ? i : i + std::ssize(out) - std::ssize(in));
  const auto strides = strides_of(in);
  std::vector<i64> walk(out.size(), 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 1) continue;
    if (in[i] != out[places[i]]) return false;
    walk[places[i]] = strides[i];
  }
  if (out.empty()) return axes.add(1, 0);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!axes.add(out[i], walk[i])) return false;
  return true;
}

std::optional<LayOut> broadcast_of(const Graphlet& graph, int root) {
  const auto mode = graph.attrs<BroadcastModeAttrs>(root).mode;
  std::vector<i64> places;
  if (mode == BroadcastMode::explicit_) {
    const auto axes = graph.input(root, 2);
    const auto &in = graph.fact(graph.input(root, 0)).shape, &out = graph.fact({root, 0}).shape;
    if (!in.has_rank() || in.rank() == 0 || !out.has_rank()) return std::nullopt;
    auto given = constant_axes(graph, axes, out.rank());
    if (!given || std::ssize(*given) != in.rank()) return std::nullopt;
    places = std::move(*given);
  }
  return [=](Dims in, Dims out, StridedAxes& axes) {
    return broadcast(in, out, places, mode == BroadcastMode::pdpd, axes);
  };
}

/// A step along an axis of repetitions stays where it is.
bool tile(Dims in, Dims out, StridedAxes& axes) {
  const auto strides = strides_of(in);
  const auto added = std::ssize(out) - std::ssize(in);
  if (added < 0) return false;
  if (out.empty()) return axes.add(1, 0);
  for (i64 i = 0; i < std::ssize(out); ++i) {
    const auto length = i < added ? 1 : in[i - added];
    if (out[i] % length != 0) return false;
    if (!axes.add(out[i] / length, 0) || !axes.add(length, i < added ? 0 : strides[i - added])) return false;
  }
  return true;
}

std::optional<std::vector<i64>> numbers(const Graphlet& graph, ValueRef v) {
  const auto* t = graph.constant(v);
  if (!t || (t->type() != ElementType::i32 && t->type() != ElementType::i64)) return std::nullopt;
  const auto list = to_i64(*t);
  return std::vector<i64>(list.begin(), list.end());
}

std::optional<LayOut> slice_of(const Graphlet& graph, int root) {
  const auto& shape = graph.fact(graph.input(root, 0)).shape;
  if (!shape.has_rank()) return std::nullopt;
  auto starts = numbers(graph, graph.input(root, 1)), steps = numbers(graph, graph.input(root, 3));
  auto along = starts;
  if (graph.input(root, 4).node >= 0) along = constant_axes(graph, graph.input(root, 4), shape.rank());
  else
    for (i64 i = 0; along && i < std::ssize(*along); ++i) (*along)[i] = i;
  if (!starts || !steps || !along || starts->size() != along->size() || steps->size() != along->size())
    return std::nullopt;
  return [starts = *starts, steps = *steps, along = *along](Dims in, Dims out, StridedAxes& axes) {
    if (in.size() != out.size()) return false;
    auto strides = strides_of(in);
    for (std::size_t i = 0; i < along.size(); ++i) {
      const auto axis = along[i], length = in[axis];
      const auto start = starts[i] < 0 ? starts[i] + length : starts[i];
      axes.first += std::clamp<i64>(start, 0, steps[i] > 0 ? length : length - 1) * strides[axis];
      strides[axis] = out[axis] > 1 ? strides[axis] * steps[i] : 0;  // what is never taken may be huge
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!axes.add(out[i], strides[i])) return false;
    return true;
  };
}

std::optional<LayOut> strided_slice_of(const Graphlet& graph, int root) {
  auto begins = numbers(graph, graph.input(root, 1)), ends = numbers(graph, graph.input(root, 2));
  auto steps = std::optional(std::vector<i64>());
  if (const auto given = graph.input(root, 3); given.node >= 0) steps = numbers(graph, given);
  if (!begins || !ends || !steps) return std::nullopt;
  return [attrs = graph.attrs<StridedSliceAttrs>(root), begins = std::move(*begins), ends = std::move(*ends),
          steps = std::move(*steps)](Dims in, Dims, StridedAxes& axes) {
    const auto part = strided_slicing::part_of(attrs, Shape(in.begin(), in.end()), begins, ends, steps);
    axes.first = part.first;
    if (part.shape.empty()) return axes.add(1, 0);
    for (i64 i = 0; i < part.shape.rank(); ++i)
      if (!axes.add(part.shape[i], part.walk[i])) return false;
    return true;
  };
}

std::optional<LayOut> shuffle_of(const Graphlet& graph, int root) {
  const auto attrs = graph.attrs<ShuffleChannelsAttrs>(root);
  return [attrs](Dims in, Dims, StridedAxes& axes) {
    const AroundAxis a(in, attrs.axis);
    return permuted({{a.outer, attrs.group, a.length / attrs.group, a.inner}}, {{0, 2, 1, 3}}, axes);
  };
}

/// Data as [N, C, d1, b1, …] becomes [N, b1, …, C, d1, …] (blocks_first) or [N, C, b1, …, d1, …].
bool space_to_depth(Dims in, const BlockAttrs& attrs, StridedAxes& axes) {
  std::vector<i64> view{in[0], in[1]}, order{0}, space;
  for (std::size_t i = 2; i < in.size(); ++i) view.insert(view.end(), {in[i] / attrs.block_size, attrs.block_size});
  if (attrs.mode == BlockMode::depth_first) order.push_back(1);
  for (i64 i = 2; i < std::ssize(view); i += 2) {
    space.push_back(i);
    order.push_back(i + 1);
  }
  if (attrs.mode == BlockMode::blocks_first) order.push_back(1);
  order.insert(order.end(), space.begin(), space.end());
  return permuted(view, order, axes);
}

/// [N, b1, …, C, d1, …] or [N, C, b1, …, d1, …] becomes [N, C, d1, b1, …].
bool depth_to_space(Dims in, Dims out, const BlockAttrs& attrs, StridedAxes& axes) {
  const auto count = std::ssize(in) - 2;
  const bool first = attrs.mode == BlockMode::blocks_first;
  std::vector<i64> view(1 + count, attrs.block_size);
  view[0] = in[0];
  view.insert(first ? view.end() : view.begin() + 1, out[1]);
  view.insert(view.end(), in.begin() + 2, in.end());
  std::vector<i64> order{0, first ? 1 + count : 1};
  for (i64 i = 0; i < count; ++i) order.insert(order.end(), {2 + count + i, i + (first ? 1 : 2)});
  return permuted(view, order, axes);
}

std::optional<LayOut> lay_out_of(const Graphlet& graph, int root) {
  const auto type = graph.type(root);
  if (type == "Broadcast") return broadcast_of(graph, root);
  if (type == "Tile") return tile;
  if (type == "Slice") return slice_of(graph, root);
  if (type == "StridedSlice") return strided_slice_of(graph, root);
  if (type == "ShuffleChannels") return shuffle_of(graph, root);
  const auto attrs = graph.attrs<BlockAttrs>(root);
  if (type == "SpaceToDepth")
    return [attrs](Dims in, Dims, StridedAxes& axes) { return space_to_depth(in, attrs, axes); };
  return [attrs](Dims in, Dims out, StridedAxes& axes) { return depth_to_space(in, out, attrs, axes); };
}

struct Name {
  std::string_view type, kernel;
};
constexpr Name kNames[] = {{"Broadcast", "strided.broadcast"},
                           {"Tile", "strided.tile"},
                           {"Slice", "strided.slice"},
                           {"StridedSlice", "strided.strided_slice"},
                           {"ShuffleChannels", "strided.shuffle_channels"},
                           {"SpaceToDepth", "strided.space_to_depth"},
                           {"DepthToSpace", "strided.depth_to_space"}};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto from = graph.input(root, 0);
  const auto type = graph.stored(from);
  if (!is_bytes(type) || byte_width(type) > 8) return std::nullopt;
  auto lay_out = lay_out_of(graph, root);
  if (!lay_out) return std::nullopt;
  const auto* name = std::ranges::find(kNames, graph.type(root), &Name::type);
  Match match{{root}, {from}, std::make_unique<StridedKernel>(std::string(name->kernel), std::move(*lay_out))};
  add_computed_inputs(graph, root, 1, match);
  return match;
}

constexpr std::string_view kRoots[] = {"Broadcast",       "Tile",         "Slice",       "StridedSlice",
                                       "ShuffleChannels", "SpaceToDepth", "DepthToSpace"};

}  // namespace

extern constinit const Pattern pattern{.name = "strided", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::strided
