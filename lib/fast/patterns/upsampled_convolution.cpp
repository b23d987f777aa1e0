// Interpolate of images to more pixels and a convolution of single pixels behind it, which change places: the weights
// of what an output pixel reads add up to 1, so it is the same to convolve the fewer pixels first.
#include "fast/kernels/convolution/pointwise.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/image_resize.hpp"
#include "fast/kit/packed_filters.hpp"
#include "fast/kit/spelled_out.hpp"

namespace ovir::fast::patterns::upsampled_convolution {
namespace {

constexpr auto kMethod = ConvolutionMethod::pointwise;

class UpsampledConvolution final : public Kernel {
 public:
  /// `shape`: of the pixels that are read. `filters`: packed; null: operand 1, packed in every run.
  UpsampledConvolution(ImageResize resize, const ConvolutionShape& shape, std::shared_ptr<const Buffer> filters,
                       Buffer bias)
      : resize_(std::move(resize)), shape_(shape), filters_(std::move(filters)), bias_(std::move(bias)) {}

  std::string name() const override {
    return std::string(bias_.size() ? "pointwise.convolution+bias" : "pointwise.convolution") +
           (resize_.is_nearest() ? "+resize.nearest" : "+resize.linear");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    const auto& s = shape_;
    const auto kept = y.rank() == 4 && y.dim(1) == s.outputs;
    if (x.rank() != 4 || !kept || x.dim(0) != s.batch || x.dim(1) != s.channels || y.dim(0) != s.batch ||
        x.dim(2) != s.height || x.dim(3) != s.width)
      return nullptr;
    auto state = std::make_unique<State>();
    state->rows = resize_.rows(x.dims, y.dims);
    state->columns = resize_.columns(x.dims, y.dims);
    const auto few = s.batch * blocks_of(s.outputs) * s.plane() * kBlock;
    if (x.layout == Layout::plain) state->in = state->reserve(s.batch * blocks_of(s.channels) * s.plane() * kBlock);
    state->few = state->reserve(few);
    if (y.layout == Layout::plain) state->planes = state->reserve(few);
    if (!filters_) state->filters = state->reserve(filters_size(kMethod, s));
    state->rooms = state->reserve(resize_scratch_size(resizing(*state, y), runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& s = shape_;
    const auto* x = in[0].as<const float>();
    if (state.in) {
      to_blocked(x, state.floats(state.in), s.batch, s.channels, s.plane(), pool);
      x = state.floats(state.in);
    }
    if (state.filters) pack(kMethod, s, in[1].as<const float>(), state.floats(state.filters), pool);
    const auto* filters = filters_ ? filters_->data() : state.floats(state.filters);
    auto* few = state.floats(state.few);
    pointwise_convolution(s, filters, x, few, Epilogue{.bias = bias_.size() ? bias_.data() : nullptr}, pool);
    if (state.planes) {
      to_plain(few, state.floats(state.planes), s.batch, s.outputs, s.plane(), pool);
      few = state.floats(state.planes);
    }
    resize(resizing(state, out[0]), few, out[0].as<float>(), state.rooms ? state.floats(state.rooms) : nullptr, pool);
  }

  bool reads(int input, Layout layout) const override { return input == 0 || layout == Layout::plain; }
  bool writes(Layout) const override { return true; }

 private:
  struct State final : KernelState {
    std::vector<AxisSource> rows, columns;
    Scratch in, few, planes, filters, rooms;
  };

  Resizing resizing(const State& state, const View& y) const {
    const bool blocked = y.layout == Layout::blocked;
    return {.planes = shape_.batch * (blocked ? blocks_of(shape_.outputs) : shape_.outputs),
            .height = shape_.height,
            .width = shape_.width,
            .rows = state.rows,
            .columns = state.columns,
            .nearest = resize_.is_nearest(),
            .channels = blocked ? kBlock : 1};
  }

  ImageResize resize_;
  ConvolutionShape shape_;
  std::shared_ptr<const Buffer> filters_;
  Buffer bias_;
};

/// From so many channels on the convolution takes longer than a pass over its output, which an activation behind it is
/// then for.
constexpr i64 kChannelsWorthAPass = 64;

std::optional<Match> match(const Graphlet& graph, int root) {
  auto images = image_resize(graph, root);
  if (!images || images->resize.channels_last) return std::nullopt;
  auto& [resize, match] = *images;
  const auto node = graph.only_user({match.nodes.back(), 0});
  if (graph.type(node) != "Convolution" || graph.input(node, 0).node != match.nodes.back()) return std::nullopt;
  const auto convolution = static_convolution(graph, node);
  const auto& few = graph.fact(match.inputs[0]).shape;
  const auto filters = graph.input(node, 1);
  const auto* values = graph.constant(filters);
  if (!convolution || convolution->open || convolution->rank != 4 || !few.is_static() || !values ||
      !graph.fact({node, 0}).shape.is_static())
    return std::nullopt;
  auto s = convolution->shape;
  if (!s.is_pointwise() || s.groups != 1 || s.outputs > s.channels || s.channels < kChannelsWorthAPass)
    return std::nullopt;
  const auto dims = few.to_shape();
  const auto pixels = s.out_plane();
  s.batch = dims[0];
  s.height = s.out_height = dims[2];
  s.width = s.out_width = dims[3];
  if (pixels < 2 * s.plane()) return std::nullopt;
  match.nodes.push_back(node);
  Buffer bias;
  if (const auto add = followed_by(graph, node, "Add"); add && aligns_by_numpy(graph, add->first))
    if (const auto* numbers = per_channel(graph, graph.input(add->first, 1 - add->second), 4, 1, s.outputs)) {
      bias = padded(std::span(numbers->data<float>(), s.outputs));
      match.nodes.push_back(add->first);
    }
  std::shared_ptr<const Buffer> packed;
  if (graph.options().steady()) packed = packed_filters(graph, filters, kMethod, s);
  else match.inputs.insert(match.inputs.begin() + 1, filters);
  match.kernel = std::make_unique<UpsampledConvolution>(std::move(resize), s, std::move(packed), std::move(bias));
  return std::move(match);
}

constexpr std::string_view kRoots[] = {"Interpolate"};

}  // namespace

extern constinit const Pattern pattern{.name = "upsampled_convolution",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::group,
                                       .precision = Precision::f32,
                                       .groups_only = true};

}  // namespace ovir::fast::patterns::upsampled_convolution
