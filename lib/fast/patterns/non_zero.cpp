// NonZero of elements of any type.
#include "fast/kernels/selection/non_zero.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/functions.hpp"
#include "plan/measuring_kernel.hpp"

namespace ovir::fast::patterns::non_zero {
namespace {

class NonZero final : public MeasuringKernel {
 public:
  std::string name() const override { return "non_zero"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    if (!is_among(x.type, Numbers{} + Boolean{})) return nullptr;
    auto state = std::make_unique<State>();
    state->counts = state->reserve(non_zero_scratch(x));
    return state;
  }

  void measure(KernelState& prepared, std::span<const View> in, std::span<Shape> out, Runtime& runtime) const override {
    out[0] = {std::max<i64>(in[0].rank(), 1), count(prepared, in[0], runtime)};
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    if (!state.is_counted) count(prepared, in[0], runtime);
    state.is_counted = false;
    put_non_zero(in[0], is_float(in[0]), out[0], state.floats(state.counts), runtime.pool());
  }

 private:
  struct State final : KernelState {
    Scratch counts;
    bool is_counted = false;
  };

  static bool is_float(const View& x) { return is_among(x.type, Floats{}); }
  static i64 count(KernelState& prepared, const View& x, Runtime& runtime) {
    auto& state = static_cast<State&>(prepared);
    state.is_counted = true;
    return count_non_zero(x, is_float(x), state.floats(state.counts), runtime.pool());
  }
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  if (!is_among(graph.stored(x), Numbers{} + Boolean{}) || !is_among(graph.stored({root, 0}), Indices{}))
    return std::nullopt;
  return Match{{root}, {x}, std::make_unique<NonZero>()};
}

constexpr std::string_view kRoots[] = {"NonZero"};

}  // namespace

extern constinit const Pattern pattern{.name = "non_zero", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::non_zero
