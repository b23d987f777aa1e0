#include "fast/kit/bf16_convolution.hpp"

#include "fast/kernels/convolution/inverted_residual.hpp"
#include "fast/kernels/convolution/planar_depthwise.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/transposed_bf16.hpp"
#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/convolution/winograd_bf16.hpp"
#include "fast/kit/convolution_method.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/volume_method.hpp"

namespace ovir::fast {
namespace {

enum class Way : std::uint8_t { direct, winograd, depthwise, transposed };
constexpr std::string_view kWays[] = {"bf16", "bf16_winograd2", "bf16_depthwise", "bf16_transposed"};
std::string name_of(Way way) { return std::string(kWays[static_cast<int>(way)]); }

Way way_of(const Bf16Layer& layer) {
  const auto& s = layer.shape;
  if (layer.transposed) return Way::transposed;
  if (s.is_depthwise()) return Way::depthwise;
  const bool worth_transforming = !layer.once || s.out_plane() >= kNarrowPixelsWorthTransforming;
  return worth_transforming && bf16_winograd_pays(s) ? Way::winograd : Way::direct;
}

/// Those of a depthwise convolution hold its bias, too; they are small, and not shared.
std::shared_ptr<const Buffer> packed_filters(const ConvolutionShape& s, Way way, const Bf16Layer& layer) {
  if (way == Way::depthwise) {
    auto to = std::make_shared<Buffer>(bf16_depthwise_filters_size(s));
    bf16_depthwise_pack(s, layer.filters().data(), layer.ending.bias.data(), to->data());
    return to;
  }
  const auto name = packing_name(name_of(way), s) + layer.origin.name;
  return layer.graph->shared<Buffer>(layer.origin.given, name, [&] {
    const auto filters = layer.filters();
    auto& pool = layer.graph->packers(s.weights());
    // Who packs writes zeros as well, each thread its own.
    const auto packed = [&](i64 size, const auto& pack) {
      auto to = Buffer::unwritten(size);
      pack(words(to));
      return std::make_shared<const Buffer>(std::move(to));
    };
    if (way == Way::winograd)
      return packed(bf16_winograd_filters_size(s), [&](Word* to) { bf16_winograd_pack(s, filters.data(), to, pool); });
    if (way == Way::transposed)
      return packed(bf16_transposed_filters_size(s),
                    [&](Word* to) { bf16_transposed_pack(s, filters.data(), to, pool); });
    const NarrowGeometry geometry(s, 2);
    return packed(geometry.filters_size(), [&](Word* to) { bf16_pack(geometry, filters.data(), to, pool); });
  });
}

/// What comes before a projection: an expansion, and a depthwise convolution of it.
struct Front {
  ConvolutionShape expansion, depthwise;
  Ending ending;
  Unary activation;
  std::shared_ptr<const Buffer> expansion_filters, depthwise_filters;

  Front(Bf16Layer expand, const Bf16Layer& filter)
      : expansion(expand.shape),
        depthwise(filter.shape),
        activation(filter.ending.activation),
        expansion_filters(packed_filters(expand.shape, Way::direct, expand)),
        depthwise_filters(packed_filters(filter.shape, Way::depthwise, filter)) {
    ending = std::move(expand.ending);
  }
};

class Bf16Convolution final : public Kernel {
 public:
  Bf16Convolution(Bf16Layer layer, std::optional<Front> front)
      : windows_(layer.windows), known_(layer.shape), front_(std::move(front)) {
    way_ = front_ ? Way::direct : way_of(layer);
    late_ = layer.once && !front_ && way_ == Way::direct;
    if (late_) source_ = layer.filters();
    else filters_ = packed_filters(known_, way_, layer);
    ending_ = std::move(layer.ending);
    const auto& first = front_ ? front_->expansion : known_;
    reads_image_ = !first.is_depthwise() && NarrowGeometry(first, 2).image;
  }

  std::string name() const override {
    if (front_) return "bf16.inverted_residual" + ending_.name;
    return name_of(way_) + ".convolution" + ending_.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (front_ && !keeps_plane(x, front_->expansion)) return nullptr;
    auto state = std::make_unique<State>(shape_for(x, y));
    const auto& s = state->shape;
    if (s.channels != known_.channels || s.outputs != known_.outputs) return nullptr;
    const auto* residual = ending_.residual < 0 ? nullptr : &sizes.in[ending_.residual];
    if (residual && residual->size() != y.size()) return nullptr;
    const auto words_out = s.batch * bf16_blocks(s.outputs) * s.out_plane() * kBlock;
    if (x.type == ElementType::f32 && !reads_image_)
      state->in = state->reserve(s.batch * bf16_blocks(x.dim(1)) * (x.size() / (x.dim(0) * x.dim(1))) * kBlock);
    if (y.type == ElementType::f32 && (y.layout == Layout::plain || way_ == Way::depthwise))
      state->out = state->reserve(words_out * 2);
    if (residual && residual->layout == Layout::plain) state->residual = state->reserve(words_out * 2);
    state->scratch = state->reserve(scratch_size(*state, runtime.threads()));
    if (late_) state->panels = state->reserve(once(NarrowGeometry(s, 2)).scratch_size(runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& s = state.shape;
    auto& pool = runtime.pool();
    const void* x = in[0].data;
    if (state.in) {
      const auto channels = in[0].dim(1), plane = in[0].size() / (in[0].dim(0) * channels);
      to_bf16_blocked(in[0].as<const float>(), in[0].layout == Layout::blocked, words(state, state.in), s.batch,
                      channels, plane, pool);
      x = state.floats(state.in);
    }
    const bool blocked = out[0].layout == Layout::blocked;
    auto* scratch = words(state, state.scratch);
    if (way_ == Way::depthwise) {
      auto* y = state.out ? words(state, state.out) : reinterpret_cast<Word*>(out[0].data);
      bf16_depthwise(s, filters_->data(), static_cast<const Word*>(x), y, ending_.activation, scratch, pool);
      if (state.out) from_bf16_blocked(y, out[0].as<float>(), blocked, s.batch, s.outputs, s.out_plane(), pool);
      return;
    }
    Bf16Blocked residual;
    if (ending_.residual >= 0) residual = blocked_of(in[ending_.residual]);
    if (state.residual) {
      to_blocked(residual.wide, state.floats(state.residual), s.batch, s.outputs, s.out_plane(), pool);
      residual.wide = state.floats(state.residual);
    }
    auto y = blocked_of(out[0]);
    if (state.out) y.wide = state.floats(state.out);
    const auto e = ending_.epilogue(nullptr);
    if (state.together) run_together(*state.together, x, y, residual, e, scratch, pool);
    else if (way_ == Way::winograd)
      bf16_winograd_convolution(s, words(*filters_), static_cast<const Word*>(x), y, residual, e, scratch, pool);
    else if (way_ == Way::transposed)
      bf16_transposed_convolution(s, words(*filters_), static_cast<const Word*>(x), y, residual, e, pool);
    else {
      const NarrowGeometry geometry(s, 2);
      const auto convolve = [&](const WordPanels& panels) {
        bf16_convolution(geometry, panels, x, y, residual, e, scratch, pool);
      };
      const auto make = [&](i64 panel, Word* read, Word* to) {
        const auto each = s.group_channels() * s.taps(), first = panel * kColumns,
                   count = std::min(kColumns, s.outputs - first);
        const auto* filters = source_.get(first * each, count * each, reinterpret_cast<float*>(read));
        bf16_pack_panel(geometry, panel, filters, to);
      };
      if (late_) once(geometry).run(words(state, state.panels), pool, make, convolve);
      else convolve(words(*filters_));
    }
    if (state.out) to_plain(y.wide, out[0].as<float>(), s.batch, s.outputs, s.out_plane(), pool);
  }

  bool reads(int input, Layout layout) const override { return layout == Layout::plain || input != 0 || !reads_image_; }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && (input != 0 || !reads_image_);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked;
  }
  /// Each place of the residual is read before the output's same place is written. What is expanded may be the residual
  /// itself, rows of which others still read.
  bool writes_over(int input) const override { return !front_ && ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    explicit State(const ConvolutionShape& s) : shape(s) {}
    ConvolutionShape shape;
    std::optional<InvertedResidual> together;
    Scratch in, residual, out, scratch, panels;
  };

  OncePanels once(const NarrowGeometry& g) const { return g.once(source_.is_read() ? g.panel_weights() : 0); }

  /// Of three convolutions the planes between are those that were known beforehand.
  ConvolutionShape shape_for(const View& x, const View& y) const {
    if (!front_) return with_planes(windows_, known_, x.dims, y.dims);
    auto s = known_;
    s.batch = x.dim(0);
    return s;
  }

  i64 scratch_size(State& state, int threads) const {
    const auto& s = state.shape;
    if (way_ == Way::depthwise) return narrow_depthwise_scratch_size(s, threads);
    if (way_ == Way::winograd) return bf16_winograd_scratch_size(s, threads);
    if (way_ == Way::transposed) return 0;
    if (!front_) return NarrowGeometry(s, 2).scratch_size(threads);
    auto expansion = front_->expansion, depthwise = front_->depthwise;
    expansion.batch = depthwise.batch = s.batch;
    state.together.emplace(expansion, depthwise, s, 2, threads);
    return state.together->expand.scratch_size(threads) + state.together->scratch_size(threads);
  }

  /// The scratch memory holds a padded image, if one is read, then what the threads need.
  void run_together(const InvertedResidual& g, const void* x, const Bf16Blocked& out, const Bf16Blocked& residual,
                    const Epilogue& e, Word* scratch, ThreadPool& pool) const {
    const auto& expand = g.expand;
    const auto* from = static_cast<const Word*>(x);
    if (expand.image) {
      image_to_bf16(expand, static_cast<const float*>(x), scratch, pool);
      from = scratch;
      scratch += expand.scratch_size(pool.threads());
    }
    const auto first = front_->ending.epilogue(nullptr);
    const auto& hidden = g.depthwise;
    const auto expanded = [&](const NarrowSum& sum, int pixels, i64 panel, Word* to) {
      const auto column = panel * kColumns;
      bf16_tile(sum, pixels, column, std::min(kColumns, hidden.channels - column), true, first, {},
                {.narrow = reinterpret_cast<std::uint16_t*>(to), .pixel = 2 * kBlock});
    };
    const auto filter = [&](const NarrowRows& rows, Word* to) {
      bf16_depthwise_rows(hidden, front_->depthwise_filters->data(), rows, front_->activation, to);
    };
    const auto project = [&](const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
      const auto column = panel * kColumns;
      bf16_tile(sum, pixels, column, std::min(kColumns, g.project.s.outputs - column), true, e,
                bf16_place(g.project.s, residual, panel, image, pixel),
                bf16_place(g.project.s, out, panel, image, pixel));
    };
    inverted_residual(g, words(*front_->expansion_filters), words(*filters_), from, {kZeroPixel}, scratch, pool,
                      {std::cref(expanded), std::cref(filter), std::cref(project)});
  }

  static Word* words(const Buffer& b) { return fast::words(b); }
  static Word* words(const KernelState& state, const Scratch& s) { return reinterpret_cast<Word*>(state.floats(s)); }
  static Bf16Blocked blocked_of(const View& v) {
    if (v.type == ElementType::f32) return {.wide = reinterpret_cast<float*>(v.data)};
    return {.narrow = reinterpret_cast<std::uint16_t*>(v.data)};
  }

  ConvolutionWindows windows_;
  ConvolutionShape known_;
  std::optional<Front> front_;
  Way way_ = Way::direct;
  bool reads_image_ = false, late_ = false;
  Ending ending_;
  std::shared_ptr<const Buffer> filters_;
  StoredWeights source_;  ///< of filters that each run packs
};

std::optional<Bf16Layer> transposed_layer(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root);
  const auto* filters = graph.options().steady() ? graph.constant(graph.input(root, 1)) : nullptr;
  if (!convolution || convolution->open || !filters || filters->type() != ElementType::f32) return std::nullopt;
  const auto& s = convolution->shape;
  if (s.groups > 1 || !s.has_windows_apart() || s.channels < kBlock || s.outputs < kBlock) return std::nullopt;
  Match match{convolution->nodes, {convolution->data}, nullptr};
  add_computed_inputs(graph, root, 2, match);
  auto ending = take_ending(graph, match, convolution->rank, 1, s.outputs);
  return Bf16Layer{.windows = convolution->windows,
                   .shape = s,
                   .filters = [filters] { return StoredWeights(filters->apart()); },
                   .origin = {graph.origin(graph.input(root, 1))},
                   .ending = std::move(ending),
                   .nodes = std::move(match.nodes),
                   .inputs = std::move(match.inputs),
                   .shared = convolution->shared,
                   .written = std::move(match.written),
                   .once = false,
                   .graph = &graph,
                   .transposed = true};
}

bool depthwise_ends_with(const Ending& ending) { return ending.residual < 0 && ending.slopes.size() == 0; }

/// Of few channels, or of one plane, Winograd's larger tiles in f32 are as fast or faster.
bool bf16_volume_pays(const ConvolutionShape& s, bool once) {
  if (s.slices.planes > 1 && std::min(s.channels, s.outputs) >= 2 * kColumns) return true;
  return volume_method(s, once, false, false) != ConvolutionMethod::winograd4;
}

std::optional<Bf16Layer> volume_layer(const Graphlet& graph, int root) {
  const auto convolution = static_volume(graph, root);
  const auto given = graph.input(root, 1);
  const auto* filters = graph.constant(given);
  const bool once = !graph.options().steady();
  if (!convolution || !filters || filters->type() != ElementType::f32) return std::nullopt;
  const auto& s = convolution->shape;
  if (s.groups > 1 ? !s.is_depthwise() : !bf16_volume_pays(s, once)) return std::nullopt;
  Match match{convolution->nodes, {convolution->data}, nullptr};
  auto ending = take_ending(graph, match, convolution->rank, 1, s.outputs);
  if (s.is_depthwise() && !depthwise_ends_with(ending)) return std::nullopt;
  return Bf16Layer{.windows = convolution->windows,
                   .shape = s,
                   .filters = [&graph, given, filters] { return StoredWeights(*filters, file_of(graph, given)); },
                   .origin = {graph.origin(given)},
                   .ending = std::move(ending),
                   .nodes = std::move(match.nodes),
                   .inputs = std::move(match.inputs),
                   .shared = convolution->shared,
                   .written = std::move(match.written),
                   .once = once,
                   .graph = &graph};
}

/// Whether a convolution's data are added as they are and nothing else is: a residual, of which nothing is rounded off.
bool adds_data(const ConvolutionSum& sum) {
  return sum.terms.size() == 2 && std::ranges::any_of(sum.terms, [](const SumTerm& term) {
           return !term.filters && std::ranges::all_of(term.scale, [](double s) { return s == 1; });
         });
}

}  // namespace

std::optional<Bf16Layer> bf16_layer(const Graphlet& graph, int root) {
  if (graph.type(root) == "ConvolutionBackpropData") return transposed_layer(graph, root);
  if (auto volume = volume_layer(graph, root)) return volume;
  // A single run has computed the branches in the time that it takes to add up their filters.
  auto sum = convolution_sum(graph, root, graph.options().steady(), true);
  if (sum && adds_data(*sum)) sum = convolution_sum(graph, root, false, true);
  if (!sum || sum->convolution().open) return std::nullopt;
  const auto& convolution = sum->convolution();
  const auto& s = convolution.shape;
  if ((s.groups > 1 && !s.is_depthwise() && !NarrowGeometry::takes_groups(s, 2)) || planar_depthwise_pays(s, false))
    return std::nullopt;
  Match match{sum->nodes, {convolution.data}, nullptr};
  auto ending = take_ending(graph, match, convolution.rank, 1, s.outputs, sum->ending());
  if (s.is_depthwise() && !depthwise_ends_with(ending)) return std::nullopt;
  auto filters = [&graph, root, sum = *sum] {
    const bool given = sum.terms.size() == 1 && !sum.scaled;
    return StoredWeights(sum.filters(graph), given ? file_of(graph, graph.input(root, 1)) : WeightsFile());
  };
  return Bf16Layer{convolution.windows,
                   s,
                   std::move(filters),
                   sum->origin(),
                   std::move(ending),
                   std::move(match.nodes),
                   std::move(match.inputs),
                   sum->shared,
                   std::move(match.written),
                   !graph.options().steady(),
                   &graph};
}

std::unique_ptr<const Kernel> bf16_kernel(Bf16Layer layer) {
  return std::make_unique<Bf16Convolution>(std::move(layer), std::nullopt);
}

std::unique_ptr<const Kernel> bf16_kernel(Bf16Layer expansion, Bf16Layer depthwise, Bf16Layer projection) {
  return std::make_unique<Bf16Convolution>(std::move(projection), Front(std::move(expansion), depthwise));
}

}  // namespace ovir::fast
