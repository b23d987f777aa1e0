// Convolution-1 of three spatial axes, GroupConvolution-1 of one group or depthwise, ConvolutionBackpropData-1 of
// stride 1 and constant filters, and what follows them.
// Filters are packed when the plan is made, where it runs often and knows them; else in each run.
#include "fast/kernels/convolution/planar_depthwise.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/turned.hpp"
#include "fast/kit/volume_method.hpp"

namespace ovir::fast::patterns::volume_convolution {
namespace {

class VolumeConvolution final : public Kernel {
 public:
  /// `known`: the volume of an image, of one pixel where it is `open`. `filters`: those known when the plan is made;
  /// null: they are operand 1, and may be read from `file`.
  VolumeConvolution(const ConvolutionWindows& windows, const VolumeShape& known, bool open, ConvolutionMethod method,
                    const float* filters, WeightsFile file, Ending ending, ThreadPool& pool)
      : windows_(windows), known_(known), open_(open), method_(method), ending_(std::move(ending)) {
    if (room_floats() <= kMaxFiltersRead && reads_file(method)) file_ = std::move(file);
    if (!filters) return;
    packs_ = false;
    filters_ = Buffer(filters_size(method_, known_), pool);
    pack(method_, known_, filters, filters_.data(), pool);
  }

  std::string name() const override {
    return "volume." + std::string(fast::name(method_)) + ".convolution" + ending_.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &data = sizes.in[0], &out = sizes.out[0];
    auto state = std::make_unique<State>();
    auto& v = state->shape = known_;
    v.slice = with_planes(windows_, known_.slice, data.dims, out.dims);
    const auto& s = v.slice;
    const auto* residual = ending_.residual < 0 ? nullptr : &sizes.in[ending_.residual];
    if (s.channels != known_.slice.channels || s.outputs != known_.slice.outputs ||
        (residual && residual->size() != out.size()))
      return nullptr;
    if (open_) {
      const auto depth = windows_.along(0, v.kernel_planes, data.dim(2), out.dim(2));
      v.slices = data.dim(2);
      v.out_slices = out.dim(2);
      v.pad = depth.pad_begin;
      if (packs_ && can_trim(method_)) v = v.trimmed();
    }
    const auto of = [&](i64 channels, i64 volume) { return s.batch * blocks_of(channels) * volume * kBlock; };
    if (data.layout == Layout::plain && !reads_plain(method_, v))
      state->in = state->reserve(of(s.channels, v.volume()));
    if (out.layout == Layout::plain && !writes_planes(method_))
      state->out = state->reserve(of(s.outputs, v.out_volume()));
    if (residual && residual->layout == Layout::plain && !is_plain(method_))
      state->residual = state->reserve(of(s.outputs, v.out_volume()));
    const auto threads = runtime.threads();
    state->by_panels = packs_ && packs_by_panels(method_, v);
    if (state->by_panels) {
      state->work = state->reserve(once_scratch_size(method_, v, threads));
      return state;
    }
    state->work = state->reserve(scratch_size(method_, v, threads));
    if (!packs_) return state;
    state->filters = state->reserve(filters_size(method_, v));
    if (file_) state->room = state->reserve(threads * room_floats());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& v = state.shape;
    const auto& s = v.slice;
    auto& pool = runtime.pool();
    const auto blocked = [&](const View& from, const Scratch& room, i64 channels, i64 volume) {
      if (!room) return from.as<const float>();
      to_blocked(from.as<const float>(), state.floats(room), s.batch, channels, volume, pool);
      return const_cast<const float*>(state.floats(room));
    };
    const auto* x = blocked(in[0], state.in, s.channels, v.volume());
    const auto* residual =
        ending_.residual < 0 ? nullptr : blocked(in[ending_.residual], state.residual, s.outputs, v.out_volume());
    auto* y = state.out ? state.floats(state.out) : out[0].as<float>();
    const auto epilogue = ending_.epilogue(residual);
    auto* work = state.floats(state.work);
    const auto given = file_ ? Weights(file_, state.room ? state.floats(state.room) : nullptr)
                             : Weights(packs_ ? in[1].as<const float>() : nullptr);
    if (state.by_panels) {
      compute_once(method_, v, given, x, y, epilogue, work, pool);
    } else {
      if (packs_) pack(method_, v, given, state.floats(state.filters), pool);
      compute(method_, v, packs_ ? state.floats(state.filters) : filters_.data(), x, y,
              out[0].layout == Layout::plain && !state.out, epilogue, work, pool);
    }
    if (state.out) to_plain(y, out[0].as<float>(), s.batch, s.outputs, v.out_volume(), pool);
  }

  bool reads(int input, Layout layout) const override {
    if (layout == Layout::plain) return true;
    return input == 0 ? !reads_plain(method_, known_) : (input != 1 || !packs_) && !is_plain(method_);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || !is_plain(method_); }
  bool holds(int input) const override { return input == 1 && file_; }
  /// Each place of the residual is read before the output's same place is written, but for those of plain planes.
  bool writes_over(int input) const override { return !is_plain(method_) && ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    VolumeShape shape;
    Scratch in, residual, out, work, filters, room;
    bool by_panels = false;  ///< filters are packed while they are used
  };

  /// For each thread, where filters are read.
  i64 room_floats() const { return round_up(kBlock * known_.filter_floats(), kBlock); }

  ConvolutionWindows windows_;
  VolumeShape known_;
  bool open_, packs_ = true;  ///< `packs`: in every run
  ConvolutionMethod method_;
  Ending ending_;
  Buffer filters_;
  WeightsFile file_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kRank = 5;
  auto convolution = static_convolution(graph, root, kRank);
  if (!convolution || convolution->rank != kRank) return std::nullopt;
  const auto filters = graph.input(root, 1);
  const auto* packed = graph.options().steady() ? graph.constant(filters) : nullptr;
  if (packed && packed->type() != ElementType::f32) return std::nullopt;
  const bool transposed = convolution->transposed;
  if (transposed) convolution = packed ? turned(graph, root, *convolution) : std::nullopt;
  if (!convolution) return std::nullopt;
  const bool open = convolution->open;
  if (convolution->shape.groups > 1 && !convolution->shape.is_depthwise() &&
      !planar_depthwise_pays(convolution->shape, open))
    return std::nullopt;
  const auto &shape = graph.fact(filters).shape, &in = graph.fact(graph.input(root, 0)).shape,
             &out = graph.fact({root, 0}).shape;
  VolumeShape v;
  v.slice = convolution->shape;
  v.slices = open ? 1 : in[2].length();
  v.out_slices = open ? 1 : out[2].length();
  v.planes = v.kernel_planes = shape[shape.rank() - 3].length();
  const auto depth = convolution->windows.along(0, v.planes, v.slices, v.out_slices);
  v.stride = depth.stride;
  v.dilation = depth.dilation;
  v.pad = depth.pad_begin;
  Match match{{root}, {graph.input(root, 0)}, nullptr};
  if (!packed) match.inputs.push_back(filters);
  if (transposed) add_computed_inputs(graph, root, 2, match);  // the size that its output shall have
  auto ending = take_ending(graph, match, kRank, 1, v.slice.outputs);
  if (!graph.takes(match.nodes)) return std::nullopt;
  const auto method = volume_method(v, !graph.options().steady(), open, graph.constant(filters) && ending.residual < 0);
  if (can_trim(method) && !open) v = v.trimmed();
  if (reads_file(method) && !volume_fits(v)) return std::nullopt;
  Tensor given;
  if (packed) given = transposed ? turned_filters(v.slice, *packed) : *packed;
  match.kernel = std::make_unique<VolumeConvolution>(
      convolution->windows, v, open, method, packed ? given.data<float>() : nullptr,
      packed ? WeightsFile() : file_of(graph, filters), std::move(ending), graph.packers(packed ? packed->size() : 0));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution", "ConvolutionBackpropData"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "volume_convolution", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::volume_convolution
