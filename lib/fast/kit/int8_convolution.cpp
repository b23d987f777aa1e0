#include "fast/kit/int8_convolution.hpp"

#include <algorithm>
#include <cmath>

#include "fast/kernels/convolution/inverted_residual.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/convolution/winograd_u8.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/int8_filters.hpp"
#include "fast/kit/pooling.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {

namespace {

Word* words(float* p) { return reinterpret_cast<Word*>(p); }

/// What comes before a projection: an expansion, and a depthwise convolution of it.
struct Front {
  ConvolutionShape expansion, depthwise;
  U8Filters expand, filter;
  U8Pads pads;  // around what is expanded

  Front(const U8Layer& first, const U8Layer& second)
      : expansion(first.shape),
        depthwise(second.shape),
        expand(first, false),
        filter(second, false),
        pads(second.pads) {}
};

class U8Convolution final : public Kernel {
 public:
  /// `in` and `pads`: of the first convolution.
  U8Convolution(const U8Layer& layer, std::optional<Front> front, const Levels& in,
                const std::vector<std::uint8_t>& pads)
      : windows_(layer.windows),
        known_(layer.shape),
        averages_(layer.averages),
        front_(std::move(front)),
        in_(in, first().channels),
        pads_(pads),
        pool_(layer.ending.pool),
        filters_(layer, !layer.often && !front_ && !layer.winograd && !layer.shape.is_depthwise()) {
    const auto& ending = layer.ending;
    name_ = way() + ending.name;
    adds_ = ending.adds;
    if (ending.other) other_.emplace(*ending.other, known_.outputs);
    if (const auto* result = ending.result()) {
      quantization_ = result->quantization;
      out_.emplace(*result, known_.outputs);
    }
    reads_image_ = !first().is_depthwise() && NarrowGeometry(first(), 4).image;
  }

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if ((front_ || pool_) && !keeps_plane(x, first())) return nullptr;
    auto state = std::make_unique<State>(shapes_for(x, y));
    const auto &s = state->shape, &from = state->first;
    if (s.channels != known_.channels || s.outputs != known_.outputs) return nullptr;
    const auto blocks_out = s.batch * u8_blocks(s.outputs) * kBlock;
    const auto words_out = blocks_out * (pool_ ? pool_->out_plane() : s.out_plane());
    if (x.type == ElementType::f32)
      state->in = state->reserve(reads_image_ ? NarrowGeometry(from, 4).images_size()
                                              : s.batch * u8_blocks(from.channels) * from.plane() * kBlock);
    if (adds_ && sizes.in[1].size() != y.size()) return nullptr;
    if (other_ && sizes.in[1].type == ElementType::f32) state->residual = state->reserve(words_out);
    if (adds_ && !other_ && sizes.in[1].layout == Layout::plain) state->residual = state->reserve(words_out * 4);
    if (out_ && y.type == ElementType::f32) state->out = state->reserve(words_out);
    if (!out_ && y.layout == Layout::plain) state->out = state->reserve(words_out * 4);
    if (pool_) state->pooled = state->reserve(blocks_out * s.out_plane());
    state->scratch = state->reserve(scratch_size(*state, runtime.threads()));
    if (!front_ && filters_.way() == U8Way::direct)
      state->filters = state->reserve(filters_.scratch_size(NarrowGeometry(s, 4), runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &s = state.shape, &from = state.first;
    auto& pool = runtime.pool();
    const auto bytes = [&](const Scratch& at) { return reinterpret_cast<std::uint8_t*>(state.floats(at)); };
    const auto* x = reinterpret_cast<const Word*>(in[0].data);
    if (state.in) {
      if (reads_image_)
        image_to_u8(NarrowGeometry(from, 4), in[0].as<const float>(), in_.scale(), pads_.level(),
                    words(state.floats(state.in)), pool);
      else
        to_u8_blocked(in[0].as<const float>(), in[0].layout == Layout::blocked, in_.scale(), bytes(state.in), s.batch,
                      from.channels, from.plane(), pool);
      x = words(state.floats(state.in));
    }
    U8Blocked residual;
    if (other_) {
      residual.levels = reinterpret_cast<std::uint8_t*>(in[1].data);
      if (state.residual) {
        residual.levels = bytes(state.residual);
        to_u8_blocked(in[1].as<const float>(), in[1].layout == Layout::blocked, other_->scale(), residual.levels,
                      s.batch, s.outputs, s.out_plane(), pool);
      }
    } else if (adds_) {
      residual.wide = reinterpret_cast<float*>(in[1].data);
      if (state.residual) {
        residual.wide = state.floats(state.residual);
        to_blocked(in[1].as<const float>(), residual.wide, s.batch, s.outputs, s.out_plane(), pool);
      }
    }
    U8Blocked y;
    if (out_) y.levels = state.out ? bytes(state.out) : reinterpret_cast<std::uint8_t*>(out[0].data);
    else y.wide = state.out ? state.floats(state.out) : out[0].as<float>();
    const auto result = y;
    if (pool_) y.levels = bytes(state.pooled);
    auto* scratch = words(state.floats(state.scratch));
    if (state.together) run_together(*state.together, x, y, residual, scratch, pool);
    else if (s.is_depthwise()) u8_depthwise(s, filters_.bytes(), x, pads_.get(), y, filters_.epilogue(), scratch, pool);
    else if (filters_.way() == U8Way::winograd)
      u8_winograd_convolution(s, filters_.words(), x, pads_.level(), y, residual, filters_.epilogue(), scratch, pool);
    else {
      const NarrowGeometry geometry(s, 4);
      auto* memory = state.filters ? state.floats(state.filters) : nullptr;
      filters_.use_with(geometry, memory, pool, [&](const WordPanels& panels, const U8Epilogue& e) {
        u8_convolution(geometry, panels, x, pads_.level(), y, residual, e, scratch, pool);
      });
    }
    if (pool_) {
      auto window = *pool_;
      window.batch = s.batch;
      max_pool(window, state.floats(state.pooled), reinterpret_cast<float*>(result.levels), pool, u8_pool());
    }
    if (!state.out) return;
    const bool blocked = out[0].layout == Layout::blocked;
    if (out_)
      from_u8_blocked(result.levels, out_->scale(), out[0].as<float>(), blocked, s.batch, s.outputs,
                      pool_ ? pool_->out_plane() : s.out_plane(), pool);
    else to_plain(y.wide, out[0].as<float>(), s.batch, s.outputs, s.out_plane(), pool);
  }

  bool reads(int input, Layout layout) const override { return layout == Layout::plain || input != 0 || !reads_image_; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && (input != 0 ? other_.has_value() : !reads_image_);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && out_;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return quantization_; }
  /// Each place of the residual is read before the output's same place is written. What is expanded may be the residual
  /// itself, rows of which others still read.
  bool writes_over(int input) const override { return !front_ && adds_ && input == 1; }

 private:
  struct State final : KernelState {
    explicit State(const std::pair<ConvolutionShape, ConvolutionShape>& shapes)
        : first(shapes.first), shape(shapes.second) {}
    ConvolutionShape first, shape;
    std::optional<InvertedResidual> together;
    Scratch in, residual, pooled, out, scratch, filters;
  };

  std::string way() const {
    if (front_) return "int8.inverted_residual";
    if (filters_.way() == U8Way::winograd) return "int8_winograd4.convolution";
    if (averages_) return "int8.average_pool";
    return known_.is_depthwise() ? "int8_depthwise.convolution" : "int8.convolution";
  }
  const ConvolutionShape& first() const { return front_ ? front_->expansion : known_; }

  /// Of the first convolution and of the last. Planes between are those that were known beforehand.
  std::pair<ConvolutionShape, ConvolutionShape> shapes_for(const View& x, const View& y) const {
    if (!front_ && !pool_) {
      const auto s = with_planes(windows_, known_, x.dims, y.dims);
      return {s, s};
    }
    auto from = first(), s = known_;
    from.batch = s.batch = x.dim(0);
    return {from, s};
  }

  i64 scratch_size(State& state, int threads) const {
    const auto& s = state.shape;
    if (front_) {
      auto depthwise = front_->depthwise;
      depthwise.batch = s.batch;
      state.together.emplace(state.first, depthwise, s, 4, threads);
      return state.together->scratch_size(threads);
    }
    if (s.is_depthwise()) return narrow_depthwise_scratch_size(s, threads);
    if (filters_.way() == U8Way::winograd) return u8_winograd_scratch_size(s, threads);
    return reads_image_ ? 0 : NarrowGeometry(s, 4).scratch_size(threads);
  }

  void run_together(const InvertedResidual& g, const Word* x, const U8Blocked& out, const U8Blocked& residual,
                    Word* scratch, ThreadPool& pool) const {
    const auto bytes = [](Word* p) { return reinterpret_cast<std::uint8_t*>(p); };
    const auto expand = [&](const NarrowSum& sum, int pixels, i64 panel, Word* to) {
      u8_tile(sum, pixels, panel, front_->expand.epilogue(), bytes(to));
    };
    const auto filter = [&](const NarrowRows& rows, Word* to) {
      u8_depthwise_rows(g.depthwise, front_->filter.bytes(), rows, front_->filter.epilogue(), bytes(to));
    };
    const auto project = [&](const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
      u8_tile(g.project.s, out, residual, filters_.epilogue(), sum, pixels, panel, image, pixel);
    };
    inverted_residual(g, front_->expand.words(), filters_.words(), x, front_->pads.get(), scratch, pool,
                      {std::cref(expand), std::cref(filter), std::cref(project)});
  }

  ConvolutionWindows windows_;
  ConvolutionShape known_;
  bool averages_;
  std::optional<Front> front_;
  std::string name_;
  U8Table in_;
  U8Pads pads_;
  std::optional<ConvolutionShape> pool_;
  bool reads_image_ = false, adds_ = false;
  std::optional<U8Table> other_, out_;
  std::shared_ptr<const ovir::Quantization> quantization_;
  U8Filters filters_;
};

/// Without an instruction for u8 by i8 Winograd's large tiles in f32 are faster, but for few channels.
bool groups_pay(const ConvolutionShape& s) {
  const bool few = s.group_channels() < 2 * kBlock;
  return NarrowGeometry::takes_groups(s, 4) && (narrow_isa().has_u8 || few || winograd_tile(s) != WinogradTile::four);
}

/// Of planes alone, or with a Pad of zeros before it; of volumes of one group, or depthwise.
std::optional<StaticConvolution> convolution_of(const Graphlet& graph, int root) {
  if (auto volume = static_volume(graph, root)) {
    if (volume->shape.groups > 1 && !volume->shape.is_depthwise()) return std::nullopt;
    return volume;
  }
  auto convolution = static_convolution(graph, root, 4, true);
  const bool alone = convolution && std::ssize(convolution->nodes) == 1;
  const bool padded = convolution && std::ssize(convolution->nodes) == 2 && convolution->nodes[1] == root;
  return alone || padded ? std::move(convolution) : static_convolution(graph, root);
}

/// An AvgPool as a depthwise convolution, where all windows count as many numbers, those of padding as well.
std::optional<StaticConvolution> average_of(const Graphlet& graph, int root) {
  const auto& attrs = graph.attrs<PoolAttrs>(root);
  const auto data = graph.input(root, 0);
  const auto &in = graph.fact(data).shape, &out = graph.fact({root, 0}).shape;
  if (!is_f32(graph, data) || !in.is_static() || in.rank() != 4 || !out.is_static()) return std::nullopt;
  const auto pooled = pooled_shape(attrs, in.to_shape(), out.to_shape());
  if (!pooled || goes_beyond(attrs, in.to_shape(), out.to_shape())) return std::nullopt;
  const auto& s = pooled->shape;
  const bool padded = s.pad_top + s.pad_left + pooled->pad_bottom + pooled->pad_right > 0;
  if (padded && attrs.exclude_pad) return std::nullopt;
  ConvolutionWindows windows;
  windows.attrs.strides = attrs.strides;
  windows.attrs.pads_begin = attrs.pads_begin;
  windows.attrs.pads_end = attrs.pads_end;
  windows.attrs.dilations = {s.dilation_y, s.dilation_x};
  windows.attrs.auto_pad = attrs.auto_pad;
  return StaticConvolution{std::move(windows), s, 4, false, false, data, {root}, 0};
}
I8Weights average_weights(const ConvolutionShape& s) {
  const std::vector<std::int8_t> ones(s.weights(), 1);
  return {Tensor::of<std::int8_t>(ElementType::i8, {s.outputs, 1, s.kernel_height, s.kernel_width}, ones),
          std::vector<float>(s.outputs, 1 / static_cast<float>(s.taps()))};
}

/// What a convolution by integers reads.
struct U8Operands {
  StaticConvolution convolution;
  Levels in;
  I8Weights weights;

  static std::optional<U8Operands> of(const Graphlet& graph, int root, decltype(i8_weights) weights_of) {
    const bool averages = graph.type(root) == "AvgPool";
    auto convolution = averages ? average_of(graph, root) : convolution_of(graph, root);
    if (!convolution || convolution->open) return std::nullopt;
    const auto& s = convolution->shape;
    const bool depthwise = s.is_depthwise();
    if (depthwise ? s.taps() > kMaxDepthwiseTaps : s.groups > 1 && !groups_pay(s)) return std::nullopt;
    auto in = levels_of(graph, convolution->data);
    if (!in || (!depthwise && !in->is_single())) return std::nullopt;
    if ((NarrowGeometry(s, 4).padded || depthwise) && in->padding().empty()) return std::nullopt;
    auto weights = averages ? average_weights(s) : weights_of(graph, root, 1, Outputs{s.outputs});
    if (!weights) return std::nullopt;
    return U8Operands{*std::move(convolution), *std::move(in), *std::move(weights)};
  }
};

}  // namespace

std::vector<int> u8_weights_nodes(const Graphlet& graph, int root) {
  auto weights = U8Operands::of(graph, root, stored_i8_weights);
  return weights ? std::move(weights->weights.nodes) : std::vector<int>();
}

std::optional<U8Layer> u8_layer(const Graphlet& graph, int root) {
  auto operands = U8Operands::of(graph, root, i8_weights);
  if (!operands) return std::nullopt;
  auto& [convolution, in, weights] = *operands;
  const auto& s = convolution.shape;
  const bool depthwise = s.is_depthwise();
  const auto data = convolution.data;
  Match match{weights.nodes, {data}, nullptr};
  match.nodes.insert(match.nodes.end(), convolution.nodes.begin(), convolution.nodes.end());
  // What only an image's convolution reads is quantized as it is read.
  if (!depthwise && NarrowGeometry(s, 4).image && graph.type(data.node) == "FakeQuantize" &&
      graph.only_user(data) == convolution.nodes.front()) {
    match.nodes.insert(match.nodes.begin(), data.node);
    match.inputs = {graph.input(data.node, 0)};
    if (!is_f32(graph, match.inputs[0])) return std::nullopt;
  }
  auto ending = take_u8_ending(graph, match, convolution.rank, s.outputs, !depthwise);
  const bool often = graph.options().steady();
  // Without an instruction for u8 by i8 transforming weights pays in a single run, too.
  const bool many = !narrow_isa().has_u8 && s.out_plane() >= kNarrowPixelsWorthTransforming;
  const bool winograd = (often || many) && u8_winograd_pays(s) && u8_winograd_is_exact(*weights.sums(graph, s.outputs));
  auto pads = in.padding();
  if (pads.empty()) pads = {0};  // none are needed
  return U8Layer{convolution.windows,
                 s,
                 std::move(weights),
                 in,
                 std::move(pads),
                 std::move(ending),
                 std::move(match.nodes),
                 std::move(match.inputs),
                 often,
                 winograd,
                 graph.type(root) == "AvgPool",
                 &graph};
}

std::unique_ptr<const Kernel> u8_kernel(U8Layer layer) {
  return std::make_unique<U8Convolution>(layer, std::nullopt, layer.in, layer.pads);
}

std::unique_ptr<const Kernel> u8_kernel(U8Layer expansion, U8Layer depthwise, U8Layer projection) {
  return std::make_unique<U8Convolution>(projection, Front(expansion, depthwise), expansion.in, expansion.pads);
}

}  // namespace ovir::fast
