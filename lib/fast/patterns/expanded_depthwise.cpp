// A pointwise Convolution-1 and the depthwise GroupConvolution-1 of what it gives, each with what follows it, in f32:
// large planes between them stay in the cache. For plans that run often.
#include "fast/kernels/convolution/expanded_depthwise.hpp"

#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/direct.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::expanded_depthwise {
namespace {

struct Layer {
  ConvolutionShape shape;
  const float* filters;
  Ending ending;
  std::vector<int> nodes;
};

/// With filters that are known and planes that do not change; nothing is added to what it gives.
std::optional<Layer> layer_of(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root);
  const auto* filters = graph.constant(graph.input(root, 1));
  if (!convolution || convolution->open || !filters || filters->type() != ElementType::f32) return std::nullopt;
  Match match{{root}, {graph.input(root, 0)}, nullptr};
  auto ending = take_ending(graph, match, convolution->rank, 1, convolution->shape.outputs);
  if (ending.residual >= 0) return std::nullopt;
  return Layer{convolution->shape, filters->data<float>(), std::move(ending), std::move(match.nodes)};
}

class ExpandedDepthwiseKernel final : public Kernel {
 public:
  ExpandedDepthwiseKernel(Layer expand, Layer filter)
      : expansion_(expand.shape),
        depthwise_(filter.shape),
        expand_filters_(direct_filters_size(expand.shape)),
        filters_(depthwise_filters_size(filter.shape)) {
    ThreadPool alone(1);
    direct_pack(expansion_, Weights(expand.filters), expand_filters_.data(), alone);
    depthwise_pack(depthwise_, filter.filters, filters_.data());
    expand_ending_ = std::move(expand.ending);
    ending_ = std::move(filter.ending);
  }

  std::string name() const override { return "expanded_depthwise.convolution" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (!keeps_plane(x, expansion_)) return nullptr;
    auto expansion = expansion_, depthwise = depthwise_;
    expansion.batch = depthwise.batch = x.dim(0);
    auto state = std::make_unique<State>(ExpandedDepthwise(expansion, depthwise, runtime.threads()));
    const auto size = [&](i64 channels, i64 plane) { return x.dim(0) * blocks_of(channels) * plane * kBlock; };
    if (x.layout == Layout::plain) state->in = state->reserve(size(expansion.channels, expansion.plane()));
    if (y.layout == Layout::plain) state->out = state->reserve(size(depthwise.channels, depthwise.out_plane()));
    state->work = state->reserve(state->what.scratch_size(runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &e = state.what.expansion, &d = state.what.depthwise;
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    if (state.in) {
      to_blocked(x, state.floats(state.in), e.batch, e.channels, e.plane(), pool);
      x = state.floats(state.in);
    }
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    fast::expanded_depthwise(state.what, expand_filters_.data(), expand_ending_.epilogue(nullptr), filters_.data(),
                             ending_.epilogue(nullptr), x, y, state.floats(state.work), pool);
    if (state.out) to_plain(y, out[0].as<float>(), d.batch, d.channels, d.out_plane(), pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }

 private:
  struct State final : KernelState {
    explicit State(const ExpandedDepthwise& w) : what(w) {}
    ExpandedDepthwise what;
    Scratch in, out, work;
  };

  ConvolutionShape expansion_, depthwise_;
  Ending expand_ending_, ending_;
  Buffer expand_filters_, filters_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  auto expand = layer_of(graph, root);
  if (!expand || !expand->shape.is_pointwise()) return std::nullopt;
  const auto last = expand->nodes.back(), next = graph.only_user({last, 0});
  if (graph.type(next) != "GroupConvolution" || graph.input(next, 0).node != last) return std::nullopt;
  auto filter = layer_of(graph, next);
  if (!filter || !expanded_depthwise_pays(expand->shape, filter->shape)) return std::nullopt;
  Match match{expand->nodes, {graph.input(root, 0)}, nullptr};
  match.nodes.insert(match.nodes.end(), filter->nodes.begin(), filter->nodes.end());
  match.kernel = std::make_unique<ExpandedDepthwiseKernel>(*std::move(expand), *std::move(filter));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution"};

}  // namespace

extern constinit const Pattern pattern{.name = "expanded_depthwise",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::group,
                                       .precision = Precision::f32,
                                       .steady_only = true};

}  // namespace ovir::fast::patterns::expanded_depthwise
