// GroupConvolution-1 of three spatial axes, and what follows it: an output slice is the sum of convolutions of two
// axes, one for each plane of the kernel.
#include <algorithm>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/convolution_method.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::grouped_volume {
namespace {

ConvolutionMethod choose(const ConvolutionShape& s) {
  return s.is_depthwise() ? ConvolutionMethod::depthwise : ConvolutionMethod::direct;
}

/// Of the output, all channels, blocked.
i64 slice_out(const ConvolutionShape& s) { return blocks_of(s.outputs) * s.out_plane() * kBlock; }

class GroupedVolume final : public Kernel {
 public:
  /// `s`: of a slice; `planes` of the kernel; `filters`: those known when the plan is made; null: they are operand 1.
  GroupedVolume(const ConvolutionAttrs& attrs, const ConvolutionShape& s, i64 planes, const float* filters,
                Ending ending)
      : attrs_(attrs), known_(s), planes_(planes), method_(choose(s)), ending_(std::move(ending)) {
    if (!filters) return;
    ThreadPool alone(1);
    const Buffer plane(plane_floats());
    filters_ = Buffer(planes_ * filters_size(method_, known_));
    pack_planes(filters, plane.data(), filters_.data(), alone);
  }

  std::string name() const override {
    return "volume." + std::string(fast::name(method_)) + ".convolution" + ending_.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    const auto &data = sizes.in[0], &out = sizes.out[0];
    auto& s = state->shape = with_planes(attrs_, known_, data.dims, out.dims);
    if (s.channels != known_.channels || s.outputs != known_.outputs ||
        (ending_.residual >= 0 && sizes.in[ending_.residual].size() != out.size()))
      return nullptr;
    state->images = s.batch;
    state->slices = data.dim(2);
    state->out_slices = out.dim(2);
    state->depth = attrs_.window(0, planes_).resolved(state->slices);
    // One output slice after the other, or all of them by one plane of the kernel, whichever is read again from nearer.
    const auto filters = filters_size(method_, known_);
    state->by_slices = state->depth.stride > 1 || slice_in(s) + slice_out(s) > filters;
    // What follows the sums is done as they are stored, where each is stored once.
    state->ends_with_sums = planes_ == 1 && ending_.residual < 0 && state->depth.pad_begin == 0 &&
                            (state->out_slices - 1) * state->depth.stride < state->slices;
    s.batch = state->by_slices ? 1 : state->out_slices;
    state->in = state->reserve(state->slices * slice_in(s));
    state->out = state->reserve(state->out_slices * slice_out(s));
    state->work = state->reserve(scratch_size(method_, s, runtime.threads()));
    if (filters_.size() > 0) return state;
    state->filters = state->reserve(planes_ * filters);
    state->plane = state->reserve(plane_floats());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& s = state.shape;
    auto& pool = runtime.pool();
    const auto* filters = filters_.data();
    if (state.filters) {
      pack_planes(in[1].as<const float>(), state.floats(state.plane), state.floats(state.filters), pool);
      filters = state.floats(state.filters);
    }
    const auto size = out[0].size() / state.images;
    for (i64 image = 0; image < state.images; ++image) {
      to_blocked(in[0].as<const float>() + image * s.channels * state.slices * s.plane(), state.floats(state.in), 1,
                 s.channels, s.plane(), pool, state.slices);
      if (!state.by_slices) slices(state, filters, {0, state.out_slices}, pool);
      else
        for (i64 z = 0; z < state.out_slices; ++z) slices(state, filters, {z, z + 1}, pool);
      auto* y = out[0].as<float>() + image * size;
      to_plain(state.floats(state.out), y, 1, s.outputs, s.out_plane(), pool, state.out_slices);
      const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>() + image * size;
      if (!state.ends_with_sums && !ending_.name.empty()) end(y, residual, size / s.outputs, pool);
    }
  }

 private:
  struct State final : KernelState {
    ConvolutionShape shape;  ///< of the slices that are computed at once
    Window depth;
    i64 images = 0, slices = 0, out_slices = 0;
    bool by_slices = false, ends_with_sums = false;
    Scratch in, out, work, filters, plane;
  };

  /// Of the input, all channels.
  static i64 slice_in(const ConvolutionShape& s) { return blocks_of(s.channels) * s.plane() * kBlock; }

  i64 plane_floats() const { return planes_ == 1 ? 0 : known_.outputs * known_.group_channels() * known_.taps(); }

  /// Filters [outputs][channels][planes][taps], each plane by itself.
  void pack_planes(const float* filters, float* plane, float* to, ThreadPool& pool) const {
    const auto taps = known_.taps(), rows = known_.outputs * known_.group_channels();
    for (i64 p = 0; p < planes_; ++p, to += filters_size(method_, known_)) {
      for (i64 row = 0; planes_ > 1 && row < rows; ++row)
        std::copy_n(filters + (row * planes_ + p) * taps, taps, plane + row * taps);
      pack(method_, known_, planes_ == 1 ? filters : plane, to, pool);
    }
  }

  /// The sums of output slices `wanted`.
  void slices(State& state, const float* filters, Part wanted, ThreadPool& pool) const {
    const auto& depth = state.depth;
    /// Those whose input slice for this plane of the kernel is none of the padding.
    const auto inside = [&](i64 plane) {
      const auto first = plane * depth.dilation - depth.pad_begin;
      const auto begin = std::max(wanted.begin, first >= 0 ? 0 : ceil_div(-first, depth.stride));
      const auto end = first >= state.slices ? 0 : (state.slices - 1 - first) / depth.stride + 1;
      return Part{begin, std::min(wanted.end, end)};
    };
    const auto add = [&](i64 plane, Part part, bool to_others) {
      if (part.begin >= part.end) return;
      auto s = state.shape;
      s.batch = part.end - part.begin;
      const auto from = part.begin * depth.stride + plane * depth.dilation - depth.pad_begin;
      auto* y = state.floats(state.out) + part.begin * slice_out(s);
      const auto epilogue = state.ends_with_sums ? ending_.epilogue(nullptr) : Epilogue{};
      compute(method_, s, filters + plane * filters_size(method_, known_), state.floats(state.in) + from * slice_in(s),
              y, false, to_others ? Epilogue{.residual = y} : epilogue, state.floats(state.work), pool);
    };
    // The plane that all of them have, so that nothing need be cleared.
    i64 first = 0;
    while (first < planes_ && (inside(first).begin > wanted.begin || inside(first).end < wanted.end)) ++first;
    if (first < planes_) add(first, wanted, false);
    else
      std::fill_n(state.floats(state.out) + wanted.begin * slice_out(state.shape),
                  (wanted.end - wanted.begin) * slice_out(state.shape), 0.0f);
    for (i64 p = 0; p < planes_; ++p)
      if (p != first) add(p, inside(p), true);
  }

  /// What follows the sums, channel by channel.
  void end(float* y, const float* residual, i64 volume, ThreadPool& pool) const {
    constexpr i64 kRun = 4096;
    const auto epilogue = ending_.epilogue(residual);
    const auto runs = ceil_div(volume, kRun);
    parallel_ranges(pool, known_.outputs * runs, kRun, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        const auto first = i % runs * kRun, at = i / runs * volume + first;
        finish_row(isa(), epilogue, i / runs, 0, y + at, residual ? residual + at : nullptr, y + at,
                   std::min(kRun, volume - first));
      }
    });
  }

  ConvolutionAttrs attrs_;
  ConvolutionShape known_;
  i64 planes_;
  ConvolutionMethod method_;
  Ending ending_;
  Buffer filters_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kRank = 5;
  const auto convolution = static_convolution(graph, root, kRank);
  if (!convolution || convolution->rank != kRank || convolution->shape.groups == 1) return std::nullopt;
  const auto filters = graph.input(root, 1);
  const auto& shape = graph.fact(filters).shape;
  const auto* packed = graph.options().steady() ? graph.constant(filters) : nullptr;
  if (packed && packed->type() != ElementType::f32) return std::nullopt;
  Match match{{root}, {graph.input(root, 0)}, nullptr};
  if (!packed) match.inputs.push_back(filters);
  auto ending = take_ending(graph, match, kRank, 1, convolution->shape.outputs);
  match.kernel =
      std::make_unique<GroupedVolume>(convolution->attrs, convolution->shape, shape[shape.rank() - 3].length(),
                                      packed ? packed->data<float>() : nullptr, std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"GroupConvolution"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "grouped_volume", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::grouped_volume
