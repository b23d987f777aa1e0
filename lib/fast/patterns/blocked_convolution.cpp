// Convolution-1, GroupConvolution-1, ConvolutionBackpropData-1 and GroupConvolutionBackpropData-1 of one and two
// spatial axes, and what follows them, also with a Pad of zeros before them, or dilated ones in batches. Filters are
// packed when the plan is made, where it runs often and knows them; else in each run, by all threads, into scratch
// memory that stays in the cache.
#include <limits>

#include "fast/kernels/convolution/bf16x3.hpp"
#include "fast/kernels/convolution/clipped.hpp"
#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/few_outputs.hpp"
#include "fast/kernels/convolution/groups.hpp"
#include "fast/kernels/convolution/overlap_add.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/planar_depthwise.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/transposed_few.hpp"
#include "fast/kernels/convolution/transposed_product.hpp"
#include "fast/kernels/convolution/transposed_winograd.hpp"
#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kit/packed_filters.hpp"
#include "fast/kit/turned.hpp"

namespace ovir::fast::patterns::blocked_convolution {
namespace {

/// Output pixels of a side from which on products of three parts are preferred to Winograd's tiles of 2 × 2, and up to
/// which to those of 4 × 4.
constexpr i64 kSideWorthSplitting = 12, kSideTooLargeToSplit = 24;

/// Whether a single run brings values into blocks and back where it cannot leave them there: of many pixels, or where
/// that is little beside the sums of each. `open`: planes are not known.
bool is_worth_reordering(const ConvolutionShape& s, bool open) {
  constexpr i64 kPixels = 400, kSteps = 64;
  const bool many = !open && s.out_plane() >= kPixels;
  return many || (s.group_channels() * s.taps() >= kSteps && s.group_outputs() >= kBlock);
}

/// Convolutions of the patches of an image have more than most kernels take. Packed in a single run, their filters
/// would take memory and save no time.
constexpr i64 kAnyTaps = std::numeric_limits<i64>::max();

/// The most taps that a method takes.
i64 most_taps(ConvolutionMethod method) {
  if (method == ConvolutionMethod::planar || method == ConvolutionMethod::planar_depthwise) return kAnyTaps;
  return method == ConvolutionMethod::depthwise ? kMaxDepthwiseTaps : kMaxTaps;
}

/// `images`: there are so many at least. `once`: filters are packed in every run. `open`: planes are not known. `adds`:
/// there is a residual. `constant`: filters are known.
ConvolutionMethod choose(const ConvolutionShape& s, i64 images, bool once, bool open, bool adds, bool constant) {
  if (planar_depthwise_pays(s, open)) return ConvolutionMethod::planar_depthwise;
  if (s.is_by_channel()) return ConvolutionMethod::depthwise;
  if (groups_slide(s)) return ConvolutionMethod::grouped;
  const bool single = !open && s.out_width == 1;  // which would fill no vector with its neighbors
  if (constant && !adds && !single && few_outputs_pays(s)) return ConvolutionMethod::few_outputs;
  if (s.groups == 1 && s.channels <= kFewChannels && planar_taps(s) <= kMaxPlanarTaps) return ConvolutionMethod::planar;
  if (!open && s.is_sampled()) return choose(s.sampled(), images, once, open, adds, constant);
  const bool splits = !open && bf16x3_convolution_pays(s);
  const bool by_groups = groups_pay(s);
  if (s.is_pointwise()) {
    if (JoinedGroups(s).joined == 1) return splits ? ConvolutionMethod::bf16x3 : ConvolutionMethod::pointwise;
    return by_groups ? ConvolutionMethod::groups : ConvolutionMethod::direct;  // others multiply by all that are joined
  }
  const auto tile = winograd_tile(s, images, once);
  // As fast with vectors of 16 as Winograd's small tiles, and rounds less.
  if (by_groups && s.group_channels() < 2 * kBlock && isa().lanes == kBlock && tile != WinogradTile::four)
    return ConvolutionMethod::groups;
  if (!open && !tile && clipped_pays(s)) return ConvolutionMethod::clipped;
  // On two threads as fast as Winograd's small tiles or faster, and rounds less.
  const bool strided = tile && side_of(*tile).stride > 1;
  const auto side = std::min(s.out_height, s.out_width);
  const bool middling = strided || (tile == WinogradTile::two && side >= kSideWorthSplitting) ||
                        (tile == WinogradTile::four && side >= kSideWorthSplitting && side < kSideTooLargeToSplit);
  if (splits && (!tile || middling)) return ConvolutionMethod::bf16x3;
  if (tile) return winograd_of(*tile);
  return by_groups ? ConvolutionMethod::groups : ConvolutionMethod::direct;
}

ConvolutionMethod choose_transposed(const StaticConvolution& convolution, bool once, bool adds) {
  const auto& s = convolution.shape;
  const bool open = convolution.open;
  if (s.is_depthwise()) return ConvolutionMethod::transposed_depthwise;
  // Those that follow from the output's size may be others in each run.
  const bool knows_pads = !open || !convolution.windows.fits_output;
  if (!once && !adds && knows_pads && transposed_few_pays(s)) return ConvolutionMethod::transposed_few;
  if (open) return ConvolutionMethod::transposed;
  if (transposed_product_pays(s)) return ConvolutionMethod::transposed_product;
  return !once && transposed_winograd_pays(s) ? ConvolutionMethod::transposed_winograd : ConvolutionMethod::transposed;
}

i64 blocked_size(i64 batch, i64 channels, i64 plane) { return batch * blocks_of(channels) * plane * kBlock; }

class BlockedConvolution final : public Kernel {
 public:
  /// `filters`: those known when the plan is made, packed; null: they are operand 1, and may be read from `file`.
  BlockedConvolution(const ConvolutionWindows& windows, const ConvolutionShape& s, ConvolutionMethod method,
                     std::shared_ptr<const Buffer> filters, WeightsFile file, Ending ending)
      : windows_(windows),
        known_(s),
        sampled_(s.is_sampled() && (method == ConvolutionMethod::pointwise || method == ConvolutionMethod::bf16x3)),
        method_(method),
        ending_(std::move(ending)),
        filters_(std::move(filters)) {
    const bool in_panels = method == ConvolutionMethod::direct || method == ConvolutionMethod::pointwise ||
                           method == ConvolutionMethod::clipped || method == ConvolutionMethod::bf16x3 ||
                           tile_of(method).has_value();
    const bool in_order = s.groups == 1 || (!tile_of(method) && s.packs_as_one_group());
    if (in_panels && in_order && panel_floats() <= kMaxFiltersRead) file_ = std::move(file);
  }

  std::string name() const override { return std::string(fast::name(method_)) + ".convolution" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    auto& s = state->shape = with_planes(windows_, known_, sizes.in[0].dims, sizes.out[0].dims);
    const auto& out = sizes.out[0];
    if (s.channels != known_.channels || s.outputs != known_.outputs) return nullptr;
    if (sampled_ ? !s.is_sampled() : method_ == ConvolutionMethod::pointwise && !s.is_pointwise()) return nullptr;
    const auto residual = ending_.residual < 0 ? nullptr : &sizes.in[ending_.residual];
    if (residual && residual->size() != out.size()) return nullptr;
    const auto threads = runtime.threads();
    if (sizes.in[0].layout == Layout::plain && !reads_planes())
      state->in = state->reserve(blocked_size(s.batch, s.channels, s.plane()));
    if (sampled_) {
      state->pixels = state->reserve(blocked_size(s.batch, s.channels, s.out_plane()));
      state->whole = s;
      s = s.sampled();
    }
    if (out.layout == Layout::plain && !writes_planes(method_))
      state->out = state->reserve(blocked_size(s.batch, s.outputs, s.out_plane()));
    if (residual && residual->layout == Layout::plain && !is_plain(method_))
      state->residual = state->reserve(blocked_size(s.batch, s.outputs, s.out_plane()));
    state->by_panels = !filters_ && packs_by_panels(method_, s);
    if (state->by_panels) {
      state->work = state->reserve(once_scratch_size(method_, s, threads));
      return state;
    }
    state->work = state->reserve(scratch_size(method_, s, threads));
    if (!filters_) state->filters = state->reserve(filters_size(method_, known_));
    if (file_) state->room = state->reserve(threads * panel_floats());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& s = state.shape;
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    if (state.in) {
      const auto plane = sampled_ ? state.whole.plane() : s.plane();
      to_blocked(x, state.floats(state.in), s.batch, s.channels, plane, pool);
      x = state.floats(state.in);
    }
    if (sampled_) {
      gather_pixels(state.whole, x, state.floats(state.pixels), pool);
      x = state.floats(state.pixels);
    }
    const float* residual = nullptr;
    if (ending_.residual >= 0) {
      residual = in[ending_.residual].as<const float>();
      if (state.residual) {
        to_blocked(residual, state.floats(state.residual), s.batch, s.outputs, s.out_plane(), pool);
        residual = state.floats(state.residual);
      }
    }
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    const auto epilogue = ending_.epilogue(residual);
    const auto given = file_ ? Weights(file_, state.room ? state.floats(state.room) : nullptr)
                             : Weights(!filters_ ? in[1].as<const float>() : nullptr);
    if (state.by_panels) {
      compute_once(method_, s, given, x, y, epilogue, state.floats(state.work), pool);
    } else {
      const auto* filters = state.filters ? state.floats(state.filters) : filters_->data();
      if (state.filters) pack(method_, known_, given, state.floats(state.filters), pool);
      const bool planes = out[0].layout == Layout::plain && !state.out;
      compute(method_, s, filters, x, y, planes, epilogue, state.floats(state.work), pool);
    }
    if (state.out) to_plain(y, out[0].as<float>(), s.batch, s.outputs, s.out_plane(), pool);
  }

  bool reads(int input, Layout layout) const override {
    if (input == 1 && !filters_) return layout == Layout::plain;
    return layout == Layout::plain || (input == 0 ? !reads_planes() : !is_plain(method_));
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || !is_plain(method_); }
  bool holds(int input) const override { return input == 1 && file_; }
  /// Each place of the residual is read before the output's same place is written.
  /// Those of plain planes add taps to the output before the residual is read.
  bool writes_over(int input) const override { return !is_plain(method_) && ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    ConvolutionShape shape, whole;  ///< `whole`: before pixels are gathered
    Scratch in, pixels, residual, out, work, filters, room;
    bool by_panels = false;  ///< filters are packed while they are used
  };

  bool reads_planes() const {
    return is_plain(method_) || method_ == ConvolutionMethod::planar ||
           (method_ == ConvolutionMethod::few_outputs && few_outputs_reads_planes(known_));
  }
  i64 panel_floats() const { return std::min(kColumns, known_.outputs) * known_.group_channels() * known_.taps(); }

  ConvolutionWindows windows_;
  ConvolutionShape known_;
  bool sampled_;  ///< pixels are gathered first
  ConvolutionMethod method_;
  Ending ending_;
  std::shared_ptr<const Buffer> filters_;
  WeightsFile file_;
};

i64 least_images(const Graphlet& graph, ValueRef data) { return std::max<i64>(graph.fact(data).shape[0].min, 1); }

/// One whose filters are packed when the plan is made, with the branches beside it.
std::optional<Match> packed_match(const Graphlet& graph, int root) {
  const auto sum = convolution_sum(graph, root, true, true, kAnyTaps);
  if (!sum) return std::nullopt;
  auto convolution = sum->convolution();
  const auto taps = reached_taps(convolution);
  if (taps) convolution = taps->of(std::move(convolution));
  const auto& s = convolution.shape;
  Match match{sum->nodes, {convolution.data}, nullptr, sum->shared};
  auto ending = take_ending(graph, match, convolution.rank, 1, s.outputs, sum->ending());
  const auto method =
      choose(s, least_images(graph, convolution.data), false, convolution.open, ending.residual >= 0, true);
  if (s.taps() > most_taps(method) || !graph.takes(match.nodes)) return std::nullopt;
  auto packed = packed_filters(graph, *sum, taps, method, s);
  match.kernel = std::make_unique<BlockedConvolution>(convolution.windows, s, method, std::move(packed), WeightsFile(),
                                                      std::move(ending));
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  auto convolution = static_convolution(graph, root, 4, true, kAnyTaps);
  if (!convolution) return std::nullopt;
  const auto filters = graph.input(root, 1);
  const auto* packed = graph.options().steady() ? graph.constant(filters) : nullptr;
  if (packed && packed->type() != ElementType::f32) return std::nullopt;
  if (convolution->transposed && (has_long_strides(*convolution) || overlap_add_pays(convolution->shape)))
    return std::nullopt;
  auto forward = packed ? turned(graph, root, *convolution) : std::nullopt;
  const bool turns = forward.has_value();
  if (turns) convolution = std::move(forward);
  const auto& [windows, known, rank, open, transposed, input, nodes, shared] = *convolution;
  // Values whose sizes are found when the step runs lie plainly.
  if (!graph.options().steady() && !transposed && !graph.fact(input).shape.is_static() &&
      !is_worth_reordering(known, open))
    return std::nullopt;
  if (packed && !transposed && !turns) return packed_match(graph, root);
  if (transposed && known.taps() > kMaxTaps) return std::nullopt;
  Match match{nodes, {input}, nullptr, shared};
  if (!packed) match.inputs.push_back(filters);
  add_computed_inputs(graph, root, 2, match);  // the size that a transposed one's output shall have
  auto ending = take_ending(graph, match, rank, 1, known.outputs);
  const auto method = transposed ? choose_transposed(*convolution, !packed, ending.residual >= 0)
                                 : choose(known, least_images(graph, input), !packed, open, ending.residual >= 0,
                                          graph.constant(filters));
  if (known.taps() > most_taps(method) || !graph.takes(match.nodes)) return std::nullopt;
  auto own = packed ? packed_filters(graph, filters, method, known, turns) : nullptr;
  match.kernel = std::make_unique<BlockedConvolution>(
      windows, known, method, std::move(own), packed ? WeightsFile() : file_of(graph, filters), std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution", "ConvolutionBackpropData",
                                       "GroupConvolutionBackpropData"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "blocked_convolution", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::blocked_convolution
