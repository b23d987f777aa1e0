// Reductions of f32 over the last axes, with the chain of elementwise operations before them.
#include <algorithm>
#include <array>

#include "fast/kernels/elementwise/reduced_chain.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/operation_chain.hpp"
#include "fast/kit/reductions.hpp"

namespace ovir::fast::patterns::chain_reduction {
namespace {

class ReductionOfChain final : public Kernel {
 public:
  /// `values`: the shape of what is reduced, from axis `first` on.
  ReductionOfChain(Reduction what, Shape values, i64 first, ChainProgram program, const std::string& chain)
      : what_(what),
        values_(std::move(values)),
        first_(first),
        program_(std::move(program)),
        name_("chain_reduction." + chain) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    std::vector<std::span<const i64>> shapes;
    for (const auto& v : sizes.in) shapes.push_back(v.dims);
    auto state = std::make_unique<State>(
        ReducedChain(program_, what_, shapes, values_, static_cast<i64>(values_.size()) - first_));
    state->work = state->reserve(state->chain.scratch_size(runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    std::array<const float*, ChainProgram::kInputs> data;
    for (std::size_t i = 0; i < in.size(); ++i) data[i] = in[i].as<const float>();
    state.chain.run(std::span(data).first(in.size()), out[0].as<float>(), state.floats(state.work), runtime.pool());
  }

 private:
  struct State final : KernelState {
    explicit State(ReducedChain c) : chain(std::move(c)) {}
    ReducedChain chain;
    Scratch work;
  };

  Reduction what_;
  Shape values_;
  i64 first_;
  ChainProgram program_;
  std::string name_;
};

/// The first of the axes that are reduced, where they are the last ones; -1 otherwise.
i64 first_of_last(std::vector<i64> axes, i64 rank) {
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  const auto first = rank - std::ssize(axes);
  return !axes.empty() && axes.front() == first ? first : -1;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!shape.is_static() || x.port != 0 || graph.only_user(x) != root) return std::nullopt;
  const auto axes = constant_axes(graph, graph.input(root, 1), shape.rank());
  const auto first = axes ? first_of_last(*axes, shape.rank()) : -1;
  if (first < 0) return std::nullopt;
  const auto values = shape.to_shape();
  i64 terms = 1;
  for (auto axis = first; axis < shape.rank(); ++axis) terms *= values[axis];
  if (!ReducedChain::takes(terms)) return std::nullopt;
  auto chain = operation_chain(graph, x.node);
  // Not one that is computed in blocks of channels, as those are (global pooling).
  const bool in_blocks = chain && first == 2 && !chain->extents.empty() && values[1] % kBlock == 0;
  if (!chain || chain->has_slopes() || in_blocks) return std::nullopt;
  Match match{std::move(chain->nodes), {}, nullptr};
  match.nodes.push_back(root);
  for (const auto& operand : chain->operands) match.inputs.push_back(operand.value);
  match.kernel = std::make_unique<ReductionOfChain>(*reduction_of(graph.type(root)), values, first,
                                                    std::move(chain->program), chain->name);
  return match;
}

constexpr std::string_view kRoots[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"};

}  // namespace

/// Before `elementwise`, by its name.
extern constinit const Pattern pattern{
    .name = "chain_reduction", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::chain_reduction
