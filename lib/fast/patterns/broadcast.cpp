// Broadcast to a constant shape of what is as large already, as assignments to slices have it. It is not copied where
// it may stay.
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::broadcast {
namespace {

class Broadcast final : public Kernel {
 public:
  std::string name() const override { return "broadcast"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &from = sizes.in[0], &to = sizes.out[0];
    return from.type == to.type && from.size() == to.size() ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    copy_runs(in[0].data, 0, out[0].data, 0, run_bytes(out[0], 0), 1, runtime.pool());
  }

  bool writes_over(int) const override { return true; }
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto from = graph.input(root, 0);
  const auto &shape = graph.fact(from).shape, &to = graph.fact({root, 0}).shape;
  // With a mapping of axes, which is input 2, equal lengths need not be the same axes.
  const bool same =
      shape.is_static() && to.is_static() && shape.to_shape() == to.to_shape() && graph.constant(graph.input(root, 1));
  if (!same || graph.input(root, 2).node >= 0 || !is_bytes(graph.stored(from))) return std::nullopt;
  return Match{{root}, {from}, std::make_unique<Broadcast>()};
}

constexpr std::string_view kRoots[] = {"Broadcast"};

}  // namespace

extern constinit const Pattern pattern{.name = "broadcast", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::broadcast
