// GroupConvolution-1, ConvolutionBackpropData-1 and GroupConvolutionBackpropData-1 of three spatial axes, and what
// follows them: an output slice is the sum of convolutions of two axes, of each plane of the kernel that meets data.
#include <algorithm>

#include "fast/kernels/convolution/groups.hpp"
#include "fast/kernels/convolution/planar_depthwise.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/transposed_product.hpp"
#include "fast/kit/convolution_method.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/turned.hpp"

namespace ovir::fast::patterns::volume_by_slices {
namespace {

ConvolutionMethod choose(const ConvolutionShape& s, bool open, bool transposed) {
  if (transposed)
    return !open && transposed_product_pays(s) ? ConvolutionMethod::transposed_product : ConvolutionMethod::transposed;
  return groups_pay(s) ? ConvolutionMethod::groups : ConvolutionMethod::direct;
}

/// Of the output, all channels, blocked.
i64 slice_out(const ConvolutionShape& s) { return blocks_of(s.outputs) * s.out_plane() * kBlock; }

class VolumeBySlices final : public Kernel {
 public:
  /// `s`: of a slice; `planes` of the kernel; `filters`: those known when the plan is made; null: they are operand 1.
  VolumeBySlices(const StaticConvolution& convolution, i64 planes, const float* filters, Ending ending,
                 ThreadPool& pool)
      : windows_(convolution.windows),
        known_(convolution.shape),
        planes_(planes),
        transposed_(convolution.transposed),
        method_(choose(known_, convolution.open, transposed_)),
        ending_(std::move(ending)) {
    if (!filters) return;
    const Buffer plane(plane_floats());
    filters_ = Buffer(planes_ * filters_size(method_, known_), pool);
    pack_planes(filters, plane.data(), filters_.data(), pool);
  }

  std::string name() const override {
    return "volume." + std::string(fast::name(method_)) + ".convolution" + ending_.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    const auto &data = sizes.in[0], &out = sizes.out[0];
    auto& s = state->shape = with_planes(windows_, known_, data.dims, out.dims);
    if (s.channels != known_.channels || s.outputs != known_.outputs ||
        (ending_.residual >= 0 && sizes.in[ending_.residual].size() != out.size()))
      return nullptr;
    state->images = s.batch;
    state->slices = data.dim(2);
    state->out_slices = out.dim(2);
    state->depth = windows_.along(0, planes_, state->slices, state->out_slices);
    // One output slice after the other, or all of them by one plane of the kernel, whichever is read again from nearer.
    const auto filters = filters_size(method_, known_);
    state->by_slices = transposed_ || state->depth.stride > 1 || slice_in(s) + slice_out(s) > filters;
    // What follows the sums is done as the last of them is stored, where there is one that is the last of all.
    state->ends_with_sums = ending_.residual < 0 && (state->by_slices || planes_ == 1);
    for (i64 z = 0; z < state->out_slices; ++z)
      state->ends_with_sums = state->ends_with_sums && last_plane(*state, z) >= 0;
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
      if (!state.by_slices) by_planes(state, filters, pool);
      else
        for (i64 z = 0; z < state.out_slices; ++z) slice(state, filters, z, pool);
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

  i64 filters_of_plane() const { return known_.outputs * known_.group_channels(); }
  i64 plane_floats() const { return planes_ == 1 ? 0 : filters_of_plane() * known_.taps(); }

  /// Filters [filters of a plane][planes][taps], each plane by itself.
  void pack_planes(const float* filters, float* plane, float* to, ThreadPool& pool) const {
    const auto taps = known_.taps(), rows = filters_of_plane();
    for (i64 p = 0; p < planes_; ++p, to += filters_size(method_, known_)) {
      for (i64 row = 0; planes_ > 1 && row < rows; ++row)
        std::copy_n(filters + (row * planes_ + p) * taps, taps, plane + row * taps);
      pack(method_, known_, planes_ == 1 ? filters : plane, to, pool);
    }
  }

  /// The input slice that meets a plane of the kernel at an output slice; -1: none.
  i64 slice_of(const State& state, i64 z, i64 plane) const {
    const auto& depth = state.depth;
    const auto at = transposed_ ? z + depth.pad_begin - plane * depth.dilation
                                : z * depth.stride + plane * depth.dilation - depth.pad_begin;
    if (at < 0 || (transposed_ && at % depth.stride != 0)) return -1;
    const auto from = transposed_ ? at / depth.stride : at;
    return from < state.slices ? from : -1;
  }
  /// The last plane that meets data; -1: none.
  i64 last_plane(const State& state, i64 z) const {
    auto plane = planes_ - 1;
    while (plane >= 0 && slice_of(state, z, plane) < 0) --plane;
    return plane;
  }

  /// So many output slices from z on, by a plane of the kernel that meets `from` on; `adds`: to what there is.
  void compute_plane(State& state, const float* filters, i64 plane, i64 from, i64 z, i64 count, bool adds, bool ends,
                     ThreadPool& pool) const {
    auto s = state.shape;
    s.batch = count;
    auto* y = state.floats(state.out) + z * slice_out(s);
    auto epilogue = ends ? ending_.epilogue(nullptr) : Epilogue{};
    if (adds) {
      epilogue.residual = y;
      epilogue.residual_last = false;
    }
    compute(method_, s, filters + plane * filters_size(method_, known_), state.floats(state.in) + from * slice_in(s), y,
            false, epilogue, state.floats(state.work), pool);
  }
  void clear(State& state, i64 z, i64 count) const {
    std::fill_n(state.floats(state.out) + z * slice_out(state.shape), count * slice_out(state.shape), 0.0f);
  }

  void slice(State& state, const float* filters, i64 z, ThreadPool& pool) const {
    const auto last = last_plane(state, z);
    if (last < 0) clear(state, z, 1);
    bool adds = false;
    for (i64 plane = 0; plane <= last; ++plane) {
      const auto from = slice_of(state, z, plane);
      if (from < 0) continue;
      compute_plane(state, filters, plane, from, z, 1, adds, plane == last && state.ends_with_sums, pool);
      adds = true;
    }
  }

  /// All output slices by one plane after the other; the stride is 1.
  void by_planes(State& state, const float* filters, ThreadPool& pool) const {
    const auto first_of = [&](i64 plane) { return plane * state.depth.dilation - state.depth.pad_begin; };
    /// Those that meet data.
    const auto inside = [&](i64 plane) {
      return Part{std::max<i64>(0, -first_of(plane)), std::min(state.out_slices, state.slices - first_of(plane))};
    };
    const auto add = [&](i64 plane, bool adds) {
      const auto part = inside(plane);
      if (part.begin < part.end)
        compute_plane(state, filters, plane, part.begin + first_of(plane), part.begin, part.size(), adds,
                      state.ends_with_sums, pool);
    };
    // First the plane that all of them meet, so that nothing need be cleared.
    i64 first = 0;
    while (first < planes_ && inside(first).size() < state.out_slices) ++first;
    if (first < planes_) add(first, false);
    else clear(state, 0, state.out_slices);
    for (i64 p = 0; p < planes_; ++p)
      if (p != first) add(p, true);
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

  ConvolutionWindows windows_;
  ConvolutionShape known_;
  i64 planes_;
  bool transposed_;
  ConvolutionMethod method_;
  Ending ending_;
  Buffer filters_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kRank = 5;
  const auto convolution = static_convolution(graph, root, kRank);
  if (!convolution || convolution->rank != kRank) return std::nullopt;
  // volume_convolution takes the others.
  const auto& s = convolution->shape;
  if (convolution->transposed ? has_long_strides(*convolution)
                              : s.groups == 1 || s.is_depthwise() || planar_depthwise_pays(s, convolution->open))
    return std::nullopt;
  const auto filters = graph.input(root, 1);
  const auto& shape = graph.fact(filters).shape;
  const auto* packed = graph.options().steady() ? graph.constant(filters) : nullptr;
  if (packed && packed->type() != ElementType::f32) return std::nullopt;
  // It also takes those that are convolutions of turned filters.
  if (packed && graph.type(root) == "ConvolutionBackpropData" && turned(graph, root, *convolution)) return std::nullopt;
  Match match{{root}, {graph.input(root, 0)}, nullptr};
  if (!packed) match.inputs.push_back(filters);
  add_computed_inputs(graph, root, 2, match);  // the size that a transposed one's output shall have
  auto ending = take_ending(graph, match, kRank, 1, s.outputs);
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel = std::make_unique<VolumeBySlices>(*convolution, shape[shape.rank() - 3].length(),
                                                  packed ? packed->data<float>() : nullptr, std::move(ending),
                                                  graph.packers(packed ? packed->size() : 0));
  return match;
}

constexpr std::string_view kRoots[] = {"GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "volume_by_slices", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::volume_by_slices
