// Transpose. Channels of f32 that come last, or first, are taken from, or brought into, blocked values; also where a
// Reshape makes one axis of the plane, as encoders of images have it: [N][H·W][C] before and after convolutions.
#include <algorithm>
#include <array>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/movement/strided.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::transpose {
namespace {

constexpr i64 kMaxDims = 8;
constexpr std::array<i64, 4> kChannelsLast{0, 2, 3, 1}, kChannelsFirst{0, 3, 1, 2};

class TransposeKernel final : public Kernel {
 public:
  /// `whole_blocks`: channels fill the blocks of a tensor of rank 4.
  TransposeKernel(std::vector<i64> order, bool whole_blocks) : order_(std::move(order)), whole_blocks_(whole_blocks) {}

  std::string name() const override { return "transpose"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].rank() == std::ssize(order_) ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &x = in[0], &y = out[0];
    if (x.layout == Layout::blocked)
      return blocked_to_rows(x.as<const float>(), y.as<float>(), x.dim(0), x.dim(1), x.dim(2) * x.dim(3),
                             runtime.pool());
    if (y.layout == Layout::blocked)
      return rows_to_blocked(x.as<const float>(), y.as<float>(), y.dim(0), y.dim(1), y.dim(2) * y.dim(3),
                             runtime.pool());
    if (x.data != y.data) permute(x.dims, order_, x.as<const float>(), y.as<float>(), runtime.pool());
  }

  /// Where only axes of one element change places.
  std::optional<i64> place_in_input(int, const Sizes& sizes) const override {
    const auto& x = sizes.in[0];
    if (x.layout != Layout::plain || sizes.out[0].layout != Layout::plain) return std::nullopt;
    i64 last = -1;
    for (const auto axis : order_) {
      if (x.dim(axis) == 1) continue;
      if (axis < last) return std::nullopt;
      last = axis;
    }
    return 0;
  }

  bool reads(int, Layout layout) const override {
    return layout == Layout::plain || (whole_blocks_ && std::ranges::equal(order_, kChannelsLast));
  }
  bool writes(Layout layout) const override {
    return layout == Layout::plain || (whole_blocks_ && std::ranges::equal(order_, kChannelsFirst));
  }

 private:
  std::vector<i64> order_;
  bool whole_blocks_;
};

/// Of any type but f32.
class ElementsKernel final : public Kernel {
 public:
  explicit ElementsKernel(std::vector<i64> order) : order_(std::move(order)) {}

  std::string name() const override { return "transpose"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& from = sizes.in[0];
    if (from.rank() != std::ssize(order_) || from.type != sizes.out[0].type) return nullptr;
    auto state = std::make_unique<State>();
    std::array<i64, kMaxDims> strides{};
    i64 stride = 1;
    for (auto d = from.rank(); d-- > 0; stride *= from.dim(d)) strides[d] = stride;
    for (const auto d : order_) state->axes.add(from.dim(d), strides[d]);
    return state;
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    auto& pool = runtime.pool();
    const auto width = byte_width(out[0].type);
    if (width == 1 && permute_pixels(in[0].dims, order_, reinterpret_cast<const std::uint8_t*>(in[0].data),
                                     reinterpret_cast<std::uint8_t*>(out[0].data), pool))
      return;
    copy_strided(static_cast<State&>(state).axes, width, in[0].data, out[0].data, pool);
  }

 private:
  struct State final : KernelState {
    StridedAxes axes;
  };
  std::vector<i64> order_;
};

/// Between [N][H·W][C] and [N][C][H][W], whose channels fill their blocks.
class PlaneKernel final : public Kernel {
 public:
  explicit PlaneKernel(bool to_plane) : to_plane_(to_plane) {}

  std::string name() const override { return to_plane_ ? "transpose+planes" : "planes+transpose"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &planes = to_plane_ ? sizes.out[0] : sizes.in[0], &rows = to_plane_ ? sizes.in[0] : sizes.out[0];
    const bool fits = planes.rank() == 4 && rows.rank() == 3 && planes.dim(0) == rows.dim(0) &&
                      planes.dim(1) == rows.dim(2) && planes.size() == rows.size() && rows.dim(2) % kBlock == 0;
    return fits ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto* x = in[0].as<const float>();
    auto* y = out[0].as<float>();
    const auto& planes = to_plane_ ? out[0] : in[0];
    const auto batch = planes.dim(0), channels = planes.dim(1), plane = planes.dim(2) * planes.dim(3);
    auto& pool = runtime.pool();
    if (planes.layout == Layout::blocked)
      return (to_plane_ ? rows_to_blocked : blocked_to_rows)(x, y, batch, channels, plane, pool);
    static constexpr i64 kSwap[] = {0, 2, 1};
    const i64 dims[] = {batch, to_plane_ ? plane : channels, to_plane_ ? channels : plane};
    permute(dims, kSwap, x, y, pool);
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || !to_plane_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || to_plane_; }

 private:
  bool to_plane_;
};

/// Whether `planes` is [N][C][H][W] of the [N][H·W][C] that a Transpose reads or gives.
bool are_planes_of(const Graphlet& graph, ValueRef planes, ValueRef rows) {
  const auto &p = graph.fact(planes).shape, &r = graph.fact(rows).shape;
  return p.is_static() && r.is_static() && p.rank() == 4 && r.rank() == 3 && p[0] == r[0] && p[1] == r[2] &&
         p[1].length() % kBlock == 0 && p[2].length() > 0 && p[3].length() > 0 &&
         r[1].length() / p[2].length() == p[3].length() && r[1].length() % p[2].length() == 0;
}

/// Transpose of [N][H·W][C] and the Reshape behind it, or before it, that tells rows from columns.
std::optional<Match> match_planes(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  if (const auto after = graph.only_user({root, 0});
      graph.type(after) == "Reshape" && graph.input(after, 0).node == root && are_planes_of(graph, {after, 0}, x))
    return Match{{root, after}, {x}, std::make_unique<PlaneKernel>(true)};
  if (graph.type(x.node) != "Reshape" || graph.only_user(x) != root) return std::nullopt;
  const auto planes = graph.input(x.node, 0);
  if (!is_f32(graph, planes) || !are_planes_of(graph, planes, {root, 0})) return std::nullopt;
  return Match{{x.node, root}, {planes}, std::make_unique<PlaneKernel>(false)};
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  const auto type = graph.stored(x);
  if (!is_bytes(type) || byte_width(type) > 8 || !shape.has_rank() || shape.rank() > kMaxDims) return std::nullopt;
  auto order = constant_axes(graph, graph.input(root, 1), shape.rank());
  if (!order || order->empty() || std::ssize(*order) != shape.rank()) return std::nullopt;
  if (!is_f32(graph, x)) return Match{{root}, {x}, std::make_unique<ElementsKernel>(std::move(*order))};
  auto& axes = *order;
  if (axes == std::vector<i64>{0, 2, 1})
    if (auto with_planes = match_planes(graph, root)) return with_planes;
  const auto& channels = shape.rank() == 4 ? shape[axes == std::vector<i64>{0, 3, 1, 2} ? 3 : 1] : Dim();
  const bool whole_blocks = shape.rank() == 4 && channels.is_static() && channels.length() % kBlock == 0;
  return Match{{root}, {x}, std::make_unique<TransposeKernel>(std::move(axes), whole_blocks)};
}

constexpr std::string_view kRoots[] = {"Transpose"};

}  // namespace

extern constinit const Pattern pattern{.name = "transpose", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::transpose
