// GridSample of f32.
#include "fast/kernels/image/grid_sample.hpp"

#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::grid_sample {
namespace {

class GridSample final : public Kernel {
 public:
  explicit GridSample(const GridSampleAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "grid_sample"; }

  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& x = in[0];
    const GridSampling what{.batch = x.dim(0),
                            .channels = x.dim(1),
                            .height = x.dim(2),
                            .width = x.dim(3),
                            .points = out[0].dim(2) * out[0].dim(3),
                            .attrs = attrs_};
    fast::grid_sample(what, x.as<const float>(), in[1].as<const float>(), out[0].as<float>(), runtime.pool());
  }

 private:
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
