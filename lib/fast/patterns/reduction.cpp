// Reductions over axes, of which at most two groups lie apart: of f32, integers and booleans; sums and means of f32
// with the Multiply before them. Over all spatial axes of f32, of blocked values too (global pooling).
#include <algorithm>

#include "fast/kit/functions.hpp"
#include "fast/kit/reductions.hpp"
#include "fast/kit/spelled_out.hpp"

namespace ovir::fast::patterns::reduction {
namespace {

/// Axes [parts, middle) and [first, last) are reduced; parts == middle: no more than the latter.
struct Axes {
  i64 parts, middle, first, last;
};

Reduced reduced(const View& x, const Axes& axes) {
  Reduced s;
  for (i64 i = 0; i < x.rank(); ++i) {
    if (i < axes.parts) s.outer *= x.dim(i);
    else if (i < axes.middle) s.parts *= x.dim(i);
    else if (i < axes.first) s.middle *= x.dim(i);
    else (i < axes.last ? s.n : s.inner) *= x.dim(i);
  }
  return s;
}

class ReductionKernel final : public Kernel {
 public:
  ReductionKernel(Reduction what, const Axes& axes, bool takes_blocks)
      : what_(what), axes_(axes), takes_blocks_(takes_blocks) {}

  std::string name() const override { return "reduction"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    if (x.rank() < axes_.last) return nullptr;
    auto state = std::make_unique<State>();
    if (x.layout == Layout::blocked && x.type == ElementType::f32 && x.dim(1) % kBlock != 0)
      state->blocks = state->reserve(x.dim(0) * round_up(x.dim(1), kBlock));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& x = in[0];
    auto shape = reduced(x, axes_);
    if (x.type == ElementType::bf16)
      return reduce_bf16_planes(what_, reinterpret_cast<const std::uint16_t*>(x.data), out[0].as<float>(), x.dim(0),
                                x.dim(1), shape.n, runtime.pool());
    // [N][C/16][spatial][16]: the blocks of an image are as many rows of 16.
    const auto channels = x.layout == Layout::blocked ? round_up(x.dim(1), kBlock) : 0;
    if (channels > 0) shape = {.outer = x.dim(0) * channels / kBlock, .n = shape.n, .inner = kBlock};
    auto* y = out[0].as<float>();
    reduce(what_, x.as<const float>(), state.blocks ? state.floats(state.blocks) : y, shape, runtime.pool());
    for (i64 image = 0; state.blocks && image < x.dim(0); ++image)
      std::copy_n(state.floats(state.blocks) + image * channels, x.dim(1), y + image * x.dim(1));
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || takes_blocks_; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return takes_blocks_ && type == ElementType::bf16 && layout == Layout::blocked &&
           (what_ == Reduction::mean || what_ == Reduction::sum || what_ == Reduction::norm);
  }

 private:
  struct State final : KernelState {
    Scratch blocks;  // of channels that do not fill them
  };
  Reduction what_;
  Axes axes_;
  bool takes_blocks_;
};

class SumOfProducts final : public Kernel {
 public:
  SumOfProducts(Reduction what, const Axes& axes) : what_(what), axes_(axes) {}

  std::string name() const override { return "reduction+Multiply"; }

  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    reduce_products(what_, in[0].as<const float>(), in[1].as<const float>(), out[0].as<float>(), reduced(in[0], axes_),
                    runtime.pool());
  }

 private:
  Reduction what_;
  Axes axes_;
};

class FoldKernel final : public Kernel {
 public:
  FoldKernel(Fold what, const Axes& axes) : what_(what), axes_(axes) {}

  std::string name() const override { return "fold"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    return x.rank() >= axes_.last && can_fold(what_, x.type) ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    fold(what_, in[0].type, in[0].data, out[0].data, reduced(in[0], axes_), runtime.pool());
  }

 private:
  Fold what_;
  Axes axes_;
};

/// Of integers and booleans.
std::optional<Fold> fold_of(std::string_view type) {
  struct Entry {
    std::string_view type;
    Fold what;
  };
  static constexpr Entry kEntries[] = {{"ReduceSum", Fold::sum},        {"ReduceMean", Fold::mean},
                                       {"ReduceL1", Fold::absolute},    {"ReduceProd", Fold::product},
                                       {"ReduceMax", Fold::maximum},    {"ReduceMin", Fold::minimum},
                                       {"ReduceLogicalAnd", Fold::all}, {"ReduceLogicalOr", Fold::any}};
  const auto* entry = std::ranges::find(kEntries, type, &Entry::type);
  return entry == std::end(kEntries) ? std::nullopt : std::optional(entry->what);
}

/// Nothing where there are none, or more than two groups of neighbors.
std::optional<Axes> axes_of(std::vector<i64> list) {
  if (list.empty()) return std::nullopt;
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  const auto ends = [&](std::size_t i) { return i + 1 == list.size() || list[i + 1] != list[i] + 1; };
  std::size_t split = 0;
  while (!ends(split)) ++split;
  if (split + 1 == list.size()) return Axes{list.front(), list.front(), list.front(), list.back() + 1};
  for (auto i = split + 1; i + 1 < list.size(); ++i)
    if (ends(i)) return std::nullopt;
  return Axes{list.front(), list[split] + 1, list[split + 1], list.back() + 1};
}

/// Whether a value is of an elementwise operation that nobody else needs: it had better stay in a chain.
bool ends_chain(const Graphlet& graph, ValueRef v, int user) {
  constexpr std::string_view kTypes[] = {"Add",     "Subtract", "Multiply",         "Divide",
                                         "Maximum", "Minimum",  "SquaredDifference"};
  return v.node >= 0 && graph.only_user(v) == user &&
         (function_of(graph, v.node) || std::ranges::find(kTypes, graph.type(v.node)) != std::end(kTypes));
}

/// The Multiply that alone gives x, of two values of the same shape; -1: there is none. Squares are those of norms.
int product_before(const Graphlet& graph, ValueRef x, int user) {
  if (graph.type(x.node) != "Multiply" || graph.only_user(x) != user ||
      same(graph.input(x.node, 0), graph.input(x.node, 1)))
    return -1;
  for (const int port : {0, 1}) {
    const auto v = graph.input(x.node, port);
    if (!is_f32(graph, v) || !graph.fact(v).shape.is_static() || graph.fact(v).shape != graph.fact(x).shape ||
        ends_chain(graph, v, x.node))
      return -1;
  }
  return x.node;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!shape.has_rank()) return std::nullopt;
  const auto list = constant_axes(graph, graph.input(root, 1), shape.rank());
  const auto axes = list ? axes_of(*list) : std::nullopt;
  if (!axes) return std::nullopt;
  const auto [parts, middle, first, last] = *axes;
  if (const auto reduces = reduction_of(graph.type(root)); reduces && is_f32(graph, x)) {
    const bool blocks = parts == middle && first == 2 && last == shape.rank() && shape.is_static();
    const bool adds = reduces == Reduction::sum || reduces == Reduction::mean;
    const bool whole = blocks && shape[1].length() % kBlock == 0;
    if (const auto product = adds && !whole ? product_before(graph, x, root) : -1; product >= 0)
      return Match{{product, root},
                   {graph.input(product, 0), graph.input(product, 1)},
                   std::make_unique<SumOfProducts>(*reduces, *axes)};
    return Match{{root}, {x}, std::make_unique<ReductionKernel>(*reduces, *axes, blocks)};
  }
  const auto folds = fold_of(graph.type(root));
  const auto stored = graph.stored(x);
  if (!folds || !can_fold(*folds, stored) || graph.stored({root, 0}) != stored) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<FoldKernel>(*folds, *axes)};
}

constexpr std::string_view kRoots[] = {"ReduceMean", "ReduceSum",  "ReduceMax",        "ReduceMin",      "ReduceL1",
                                       "ReduceL2",   "ReduceProd", "ReduceLogicalAnd", "ReduceLogicalOr"};

}  // namespace

extern constinit const Pattern pattern{.name = "reduction", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::reduction
