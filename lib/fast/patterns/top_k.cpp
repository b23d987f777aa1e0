// TopK of any numbers along any axis.
#include <limits>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/top_k.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::top_k {
namespace {

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const TopKAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "top_k"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto& x = sizes.in[0];
    if (x.rank() == 0 || !is_among(x.type, Numbers{})) return nullptr;
    const auto t = described(x, sizes.out[0]);
    if (t.n > std::numeric_limits<std::int32_t>::max()) return nullptr;
    auto state = std::make_unique<State>();
    state->lists = state->reserve(top_k_scratch(t, x.type) * slots_for(runtime.pool()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    fast::top_k(described(in[0], out[0]), in[0], out.data(), out.size() > 1 ? &out[1] : nullptr,
                state.floats(state.lists), runtime.pool());
  }

 private:
  struct State final : KernelState {
    Scratch lists;
  };

  TopK described(const View& x, const View& values) const {
    const AroundAxis from(x.dims, attrs_.axis), to(values.dims, attrs_.axis);
    return {
        attrs_.mode == TopKMode::max, attrs_.sort == TopKSort::index, from.outer, from.length, from.inner, to.length};
  }

  TopKAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  if (!is_among(graph.stored(x), Numbers{}) || graph.stored({root, 0}) != graph.stored(x)) return std::nullopt;
  return Match{{root}, {x, graph.input(root, 1)}, std::make_unique<TopKKernel>(graph.attrs<TopKAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"TopK"};

}  // namespace

extern constinit const Pattern pattern{.name = "top_k", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::top_k
