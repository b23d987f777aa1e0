// GridSample of f32.
#include "fast/kernels/image/grid_sample.hpp"

#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::grid_sample {
namespace {

class GridSample final : public Kernel {
 public:
  explicit GridSample(const GridSampleAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "grid_sample"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto what = sampling(sizes.in[0], sizes.out[0]);
    if (!takes_grid_sample(what)) return nullptr;
    auto state = std::make_unique<State>();
    state->scratch = state->reserve(grid_sample_scratch_size(what));
    return state;
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    fast::grid_sample(sampling(in[0], out[0]), in[0].as<const float>(), in[1].as<const float>(), out[0].as<float>(),
                      state.floats(static_cast<State&>(state).scratch), runtime.pool());
  }

 private:
  struct State final : KernelState {
    Scratch scratch;
  };

  GridSampling sampling(const View& x, const View& out) const {
    return {.batch = x.dim(0),
            .channels = x.dim(1),
            .height = x.dim(2),
            .width = x.dim(3),
            .points = out.dim(2) * out.dim(3),
            .attrs = attrs_};
  }

  GridSampleAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), grid = graph.input(root, 1);
  if (!is_f32(graph, x) || !is_f32(graph, grid)) return std::nullopt;
  return Match{{root}, {x, grid}, std::make_unique<GridSample>(graph.attrs<GridSampleAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"GridSample"};

}  // namespace

extern constinit const Pattern pattern{.name = "grid_sample", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::grid_sample
