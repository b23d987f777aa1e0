// A pointwise Convolution-1, or one of an image, the depthwise GroupConvolution-1 of what it gives and, where one
// follows, a pointwise Convolution-1 of that, each with what follows it, in f32: what lies between stays in the cache.
// Plans that run once take those of large planes, whose filters are few.
#include "fast/kernels/convolution/expanded_depthwise.hpp"

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/packed_filters.hpp"

namespace ovir::fast::patterns::expanded_depthwise {
namespace {

/// A convolution with filters that are known and planes that do not change.
struct Convolved {
  ConvolutionShape shape;
  std::optional<ConvolutionSum> sum{};
  Ending ending{};
  std::vector<int> nodes{};
  std::vector<ValueRef> inputs{};
  std::optional<Shape> written{};
};

std::optional<Convolved> convolved(const Graphlet& graph, int root) {
  auto sum = convolution_sum(graph, root, true, true);
  if (!sum || sum->convolution().open || sum->shared > 0) return std::nullopt;
  const auto& convolution = sum->convolution();
  const auto shape = convolution.shape;
  Match match{sum->nodes, {convolution.data}, nullptr};
  auto ending = take_ending(graph, match, convolution.rank, 1, shape.outputs, sum->ending());
  return Convolved{shape,
                   std::move(sum),
                   std::move(ending),
                   std::move(match.nodes),
                   std::move(match.inputs),
                   std::move(match.written)};
}

/// How often nodes read an output.
int reads(const Graphlet& graph, const std::vector<int>& nodes, int of) {
  int count = 0;
  for (const auto node : nodes)
    count += static_cast<int>(std::ranges::count(graph.node(node).inputs, of, [](ValueRef v) { return v.node; }));
  return count;
}

/// The convolution, or the sum of some, that alone reads what a layer gives; it begins with one of this type, which may
/// have a Pad before it.
std::optional<Convolved> convolved_after(const Graphlet& graph, const Convolved& layer, std::string_view type) {
  if (layer.ending.residual >= 0 || layer.written) return std::nullopt;
  const auto last = layer.nodes.back();
  const auto users = graph.users({last, 0});
  const auto first = std::ranges::find(users, type, [&](int user) { return graph.type(behind_pad(graph, user)); });
  if (first == users.end()) return std::nullopt;
  auto next = convolved(graph, behind_pad(graph, *first));
  if (!next || next->sum->convolution().data.node != last) return std::nullopt;
  return reads(graph, next->sum->nodes, last) == std::ssize(users) ? std::move(next) : std::nullopt;
}

/// Its filters as a kernel of its own packs them.
struct Packed {
  std::shared_ptr<const Buffer> filters{};
  Ending ending{};

  PackedLayer with(const float* residual) const {
    return {filters ? filters->data() : nullptr, ending.epilogue(residual)};
  }
};

Packed packed(const Graphlet& graph, Convolved layer) {
  const auto& s = layer.shape;
  if (s.outputs == 0) return {};
  const auto method = s.is_depthwise()   ? ConvolutionMethod::depthwise
                      : s.is_pointwise() ? ConvolutionMethod::pointwise
                                         : ConvolutionMethod::planar;
  return {packed_filters(graph, *layer.sum, std::nullopt, method, s), std::move(layer.ending)};
}

class ExpandedDepthwiseKernel final : public Kernel {
 public:
  /// A projection of no outputs is none.
  ExpandedDepthwiseKernel(Convolved expansion, Convolved depthwise, Convolved projection, const Graphlet& graph)
      : expansion_(expansion.shape),
        depthwise_(depthwise.shape),
        projection_(projection.shape),
        expand_(packed(graph, std::move(expansion))),
        filter_(packed(graph, std::move(depthwise))),
        project_(packed(graph, std::move(projection))) {}

  std::string name() const override {
    return projects() ? "inverted_residual" + project_.ending.name : "expanded_depthwise" + filter_.ending.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (!keeps_plane(x, expansion_)) return nullptr;
    auto expansion = expansion_, depthwise = depthwise_, projection = projection_;
    expansion.batch = depthwise.batch = projection.batch = x.dim(0);
    const auto* residual = residual_ < 0 ? nullptr : &sizes.in[residual_];
    if (residual && residual->size() != y.size()) return nullptr;
    const auto threads = runtime.threads();
    auto state = std::make_unique<State>(ExpandedDepthwise(expansion, depthwise, projection, threads));
    const auto size = [&](i64 channels, i64 plane) { return x.dim(0) * blocks_of(channels) * plane * kBlock; };
    const auto& last = projects() ? projection : depthwise;
    if (x.layout == Layout::plain && !state->what.planar)
      state->in = state->reserve(size(expansion.channels, expansion.plane()));
    if (y.layout == Layout::plain) state->out = state->reserve(size(last.outputs, last.out_plane()));
    if (residual && residual->layout == Layout::plain)
      state->residual = state->reserve(size(last.outputs, last.out_plane()));
    state->work = state->reserve(state->what.scratch_size(threads));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& e = state.what.expansion;
    const auto& last = projects() ? state.what.projection : state.what.depthwise;
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    if (state.in) {
      to_blocked(x, state.floats(state.in), e.batch, e.channels, e.plane(), pool);
      x = state.floats(state.in);
    }
    const auto* residual = residual_ < 0 ? nullptr : in[residual_].as<const float>();
    if (state.residual) {
      to_blocked(residual, state.floats(state.residual), last.batch, last.outputs, last.out_plane(), pool);
      residual = state.floats(state.residual);
    }
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    fast::expanded_depthwise(state.what, expand_.with(nullptr), filter_.with(nullptr), project_.with(residual), x, y,
                             state.floats(state.work), pool);
    if (state.out) to_plain(y, out[0].as<float>(), last.batch, last.outputs, last.out_plane(), pool);
  }

  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || input != 0 || expansion_.is_pointwise();
  }
  bool writes(Layout) const override { return true; }
  /// By rows what is expanded may be the residual itself, rows of which others still read.
  bool writes_over(int input) const override {
    return !ExpandedDepthwise::is_by_rows(depthwise_) && project_.ending.writes_over(input);
  }

 private:
  struct State final : KernelState {
    explicit State(const ExpandedDepthwise& w) : what(w) {}
    ExpandedDepthwise what;
    Scratch in, residual, out, work;
  };

  bool projects() const { return projection_.outputs > 0; }

  ConvolutionShape expansion_, depthwise_, projection_;
  Packed expand_, filter_, project_;
  int residual_ = project_.ending.residual;  ///< the operand; -1: none
};

/// Whether the filters are few beside what is not stored between: those of a single run are packed beforehand, too.
bool has_large_planes(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root);
  return convolution && convolution->shape.out_plane() >= ExpandedDepthwise::kLargePlane;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (!graph.options().steady() && !has_large_planes(graph, root)) return std::nullopt;
  auto expansion = convolved(graph, root);
  if (!expansion) return std::nullopt;
  auto depthwise = convolved_after(graph, *expansion, "GroupConvolution");
  if (!depthwise || !ExpandedDepthwise::supports(expansion->shape, depthwise->shape)) return std::nullopt;
  auto projection = convolved_after(graph, *depthwise, "Convolution");
  if (!projection || !projection->shape.is_pointwise() || projection->shape.groups > 1) {
    if (depthwise->ending.residual >= 0) return std::nullopt;
    projection = Convolved{};
  }
  Match match{expansion->nodes, {expansion->sum->convolution().data}, nullptr};
  for (const auto* layer : {&*depthwise, &*projection})
    match.nodes.insert(match.nodes.end(), layer->nodes.begin(), layer->nodes.end());
  if (projection->ending.residual >= 0) match.inputs.push_back(projection->inputs.at(projection->ending.residual));
  match.written = projection->sum ? projection->written : depthwise->written;
  match.kernel = std::make_unique<ExpandedDepthwiseKernel>(*std::move(expansion), *std::move(depthwise),
                                                           *std::move(projection), graph);
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution"};

}  // namespace

extern constinit const Pattern pattern{.name = "expanded_depthwise",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::group,
                                       .precision = Precision::f32,
                                       .groups_only = true};

}  // namespace ovir::fast::patterns::expanded_depthwise
