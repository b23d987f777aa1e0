// Transpose of f32. Channels that come last, or first, are taken from, or brought into, blocked values.
#include <algorithm>
#include <array>

#include "fast/kernels/movement/permute.hpp"
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
    static constexpr i64 kSwap[] = {0, 2, 1, 3};
    // [N][C/16][plane][16] to [N][plane][C/16][16], or back.
    if (x.layout == Layout::blocked) {
      const i64 dims[] = {x.dim(0), x.dim(1) / kBlock, x.dim(2) * x.dim(3), kBlock};
      return permute(dims, kSwap, x.as<const float>(), y.as<float>(), runtime.pool());
    }
    if (y.layout == Layout::blocked) {
      const i64 dims[] = {x.dim(0), x.dim(1) * x.dim(2), x.dim(3) / kBlock, kBlock};
      return permute(dims, kSwap, x.as<const float>(), y.as<float>(), runtime.pool());
    }
    permute(x.dims, order_, x.as<const float>(), y.as<float>(), runtime.pool());
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

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() > kMaxDims) return std::nullopt;
  auto order = constant_axes(graph, graph.input(root, 1), shape.rank());
  if (!order || std::ssize(*order) != shape.rank()) return std::nullopt;
  auto& axes = *order;
  const auto& channels = shape.rank() == 4 ? shape[axes == std::vector<i64>{0, 3, 1, 2} ? 3 : 1] : Dim();
  const bool whole_blocks = shape.rank() == 4 && channels.is_static() && channels.length() % kBlock == 0;
  return Match{{root}, {x}, std::make_unique<TransposeKernel>(std::move(axes), whole_blocks)};
}

constexpr std::string_view kRoots[] = {"Transpose"};

}  // namespace

extern constinit const Pattern pattern{.name = "transpose", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::transpose
