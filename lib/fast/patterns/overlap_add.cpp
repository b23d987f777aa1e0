// ConvolutionBackpropData-1 and GroupConvolutionBackpropData-1 of one and two spatial axes with many taps or long
// strides, as vocoders and inverse transforms have them.
#include "fast/kernels/convolution/overlap_add.hpp"

#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::overlap_add {
namespace {

class OverlapAdd final : public Kernel {
 public:
  explicit OverlapAdd(const StaticConvolution& convolution)
      : windows_(convolution.windows), known_(convolution.shape) {}

  std::string name() const override { return "overlap_add.convolution"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    state->shape = with_planes(windows_, known_, sizes.in[0].dims, sizes.out[0].dims);
    if (!overlap_add_pays(state->shape)) return nullptr;
    state->product = patches_of(state->shape);
    const auto& p = state->product;
    state->patches = state->reserve(p.count() * p.m * p.n);
    state->work = state->reserve(batched_product_scratch_size(p, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto* patches = state.floats(state.patches);
    batched_product(state.product, in[0].as<const float>(), in[1].as<const float>(), patches, {},
                    state.floats(state.work), runtime.pool());
    fast::overlap_add(state.shape, patches, out[0].as<float>(), runtime.pool());
  }

 private:
  struct State final : KernelState {
    ConvolutionShape shape;
    BatchedProduct product;
    Scratch patches, work;
  };

  ConvolutionWindows windows_;
  ConvolutionShape known_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root, 4, false, std::numeric_limits<i64>::max());
  if (!convolution) return std::nullopt;
  if (!convolution->transposed || !overlap_add_pays(convolution->shape)) return std::nullopt;
  Match match{{root}, {graph.input(root, 0), graph.input(root, 1)}, std::make_unique<OverlapAdd>(*convolution)};
  add_computed_inputs(graph, root, 2, match);  // the size that a transposed one's output shall have
  return match;
}

constexpr std::string_view kRoots[] = {"ConvolutionBackpropData", "GroupConvolutionBackpropData"};

}  // namespace

extern constinit const Pattern pattern{.name = "overlap_add", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::overlap_add
