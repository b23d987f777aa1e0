// ReduceMean, ReduceSum, ReduceMax, ReduceMin and ReduceL2 of f32 over neighboring axes; over all spatial axes, of
// blocked values too (global pooling).
#include <algorithm>

#include "fast/kernels/reduction/reduce.hpp"

#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::reduction {
namespace {

class ReductionKernel final : public Kernel {
 public:
  /// Axes [first, last).
  ReductionKernel(Reduction what, i64 first, i64 last, bool takes_blocks)
      : what_(what), first_(first), last_(last), takes_blocks_(takes_blocks) {}

  std::string name() const override { return "reduction"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    return x.rank() >= last_ ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& x = in[0];
    i64 outer = 1, n = 1, inner = 1;
    for (i64 i = 0; i < x.rank(); ++i) (i < first_ ? outer : (i < last_ ? n : inner)) *= x.dim(i);
    // [N][C/16][spatial][16]: the blocks of an image are as many rows of 16 as it has channels.
    if (x.layout == Layout::blocked) {
      outer /= kBlock;
      inner = kBlock;
    }
    reduce(what_, x.as<const float>(), out[0].as<float>(), outer, n, inner, runtime.pool());
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || takes_blocks_; }

 private:
  Reduction what_;
  i64 first_, last_;
  bool takes_blocks_;
};

Reduction reduction_of(std::string_view type) {
  if (type == "ReduceMean") return Reduction::mean;
  if (type == "ReduceMax") return Reduction::maximum;
  if (type == "ReduceL2") return Reduction::norm;
  return type == "ReduceMin" ? Reduction::minimum : Reduction::sum;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank()) return std::nullopt;
  auto axes = constant_axes(graph, graph.input(root, 1), shape.rank());
  if (!axes || axes->empty()) return std::nullopt;
  auto& list = *axes;
  std::sort(list.begin(), list.end());
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i] != list[i - 1] + 1) return std::nullopt;
  const auto first = list.front(), last = list.back() + 1;
  const bool blocks = first == 2 && last == shape.rank() && shape.is_static() && shape[1].length() % kBlock == 0;
  return Match{{root}, {x}, std::make_unique<ReductionKernel>(reduction_of(graph.type(root)), first, last, blocks)};
}

constexpr std::string_view kRoots[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"};

}  // namespace

extern constinit const Pattern pattern{.name = "reduction", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::reduction
