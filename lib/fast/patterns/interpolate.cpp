// Interpolate in f32 along the two spatial axes of images: the nearest element, or linear between neighbors. Also where
// channels come last, with the Transposes around it that bring them there and back. Of other axes, and by other
// filters, one axis after the other.
#include <algorithm>
#include <array>
#include <functional>

#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/elementwise/convert.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kernels/movement/resample.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/image_resize.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast::patterns::interpolate {
namespace {

using interpolation::Mode;
using interpolation::Task;

class Interpolate final : public Kernel {
 public:
  /// `levels`, to the nearest, of values that may be u8: a pixel of a block is as large as in f32.
  Interpolate(ImageResize resize, std::optional<ChannelLevels> levels)
      : resize_(std::move(resize)), levels_(std::move(levels)) {}

  std::string name() const override { return resize_.is_nearest() ? "resize.nearest" : "resize.linear"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (!resize_.suits(x.dims, y.dims)) return nullptr;
    auto state = std::make_unique<State>();
    state->rows = resize_.rows(x.dims, y.dims);
    state->columns = resize_.columns(x.dims, y.dims);
    if (x.type != y.type) {
      state->in = x.type == ElementType::f32 ? state->reserve(ChannelLevels::words(x)) : Scratch();
      state->out = y.type == ElementType::f32 ? state->reserve(ChannelLevels::words(y)) : Scratch();
      return state;
    }
    if (x.layout != y.layout) state->in = state->reserve(x.dim(0) * round_up(x.dim(1), kBlock) * x.dim(2) * x.dim(3));
    state->rooms = state->reserve(resize_scratch_size(resizing(*state, x, y), runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &x = in[0], &y = out[0];
    const auto batch = x.dim(0), channels = x.dim(1), plane = x.dim(2) * x.dim(3);
    if (x.type == ElementType::bf16)
      return resize(nearest_of(state, x, bf16_blocks(channels)), reinterpret_cast<const float*>(x.data),
                    reinterpret_cast<float*>(y.data), nullptr, runtime.pool());
    if (x.type == ElementType::u8 || y.type == ElementType::u8) {
      auto* to = state.out ? state.floats(state.out) : reinterpret_cast<float*>(y.data);
      const auto* levels = levels_->take(x, state.in ? state.floats(state.in) : nullptr, runtime.pool());
      resize(nearest_of(state, x, u8_blocks(channels)), reinterpret_cast<const float*>(levels), to, nullptr,
             runtime.pool());
      if (state.out) levels_->give(reinterpret_cast<const std::byte*>(to), y, runtime.pool());
      return;
    }
    const auto* from = x.as<const float>();
    if (state.in) {
      const auto reorder = y.layout == Layout::blocked ? to_blocked : to_plain;
      reorder(from, state.floats(state.in), batch, channels, plane, runtime.pool(), 1);
      from = state.floats(state.in);
    }
    resize(resizing(state, x, y), from, y.as<float>(), state.rooms ? state.floats(state.rooms) : nullptr,
           runtime.pool());
  }

  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || (input == 0 && !resize_.channels_last);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || !resize_.channels_last; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    if (layout != Layout::blocked || input != 0) return false;
    return type == ElementType::bf16 ? resize_.is_nearest() && !resize_.channels_last
                                     : type == ElementType::u8 && levels_;
  }
  bool writes_as(ElementType type, Layout layout) const override { return reads_as(0, type, layout); }
  bool keeps(ElementType type) const override { return type == ElementType::bf16; }
  std::shared_ptr<const ovir::Quantization> quantization() const override {
    return levels_ ? levels_->quantization() : nullptr;
  }

 private:
  struct State final : KernelState {
    std::vector<AxisSource> rows, columns;
    Scratch in, out, rooms;
  };

  /// Of narrower types, a pixel of whose blocks is as large as one of 16 channels in f32.
  static Resizing nearest_of(const State& state, const View& x, i64 blocks) {
    return {.planes = x.dim(0) * blocks,
            .height = x.dim(2),
            .width = x.dim(3),
            .rows = state.rows,
            .columns = state.columns,
            .nearest = true,
            .channels = kBlock};
  }
  Resizing resizing(const State& state, const View& x, const View& y) const {
    const bool blocked = y.layout == Layout::blocked;
    const auto planes = resize_.channels_last ? 1 : (blocked ? ceil_div(x.dim(1), kBlock) : x.dim(1));
    return {.planes = x.dim(0) * planes,
            .height = x.dim(resize_.rows_axis()),
            .width = x.dim(resize_.rows_axis() + 1),
            .rows = state.rows,
            .columns = state.columns,
            .nearest = resize_.is_nearest(),
            .channels = resize_.channels_last ? x.dim(3) : (blocked ? kBlock : 1)};
  }

  ImageResize resize_;
  std::optional<ChannelLevels> levels_;
};

/// One axis after the other, as the specification has it; columns together with the rows before them. T: float, or
/// bytes, of which the nearest element may have several.
template <class T>
class Resample final : public Kernel {
 public:
  /// `scales`: by axis; empty: the quotients of the lengths.
  Resample(const Task& task, std::vector<i64> axes, std::vector<float> scales)
      : task_(task), axes_(std::move(axes)), scales_(std::move(scales)) {}

  std::string name() const override { return "resample"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    if (sizes.in[0].size() == 0) return nullptr;
    auto state = std::make_unique<State>();
    auto& passes = state->passes = passes_of(sizes.in[0], sizes.out[0]);
    // Bytes are rounded after all axes, by Pillow after each.
    if (!std::is_same_v<T, float> && passes.size() > 1 && !task_.as_pillow() && task_.mode != Mode::nearest)
      return nullptr;
    i64 largest = 0, scratch = 0;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (i + 1 < passes.size()) largest = std::max(largest, passes[i].size());
      scratch = std::max(scratch, resample_scratch_size(passes[i], runtime.threads()));
    }
    for (auto& room : state->rooms)
      if (largest > 0) room = state->reserve(ceil_div(largest * static_cast<i64>(sizeof(T)), i64{sizeof(float)}));
    if (scratch > 0) state->sums = state->reserve(scratch);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto* from = reinterpret_cast<const T*>(in[0].data);
    auto* const y = reinterpret_cast<T*>(out[0].data);
    if (state.passes.empty()) return copy_runs(in[0].data, 0, out[0].data, 0, run_bytes(out[0], 0), 1, runtime.pool());
    for (std::size_t i = 0; i < state.passes.size(); ++i) {
      auto* to = i + 1 == state.passes.size() ? y : reinterpret_cast<T*>(state.floats(state.rooms[i % 2]));
      resample(state.passes[i], from, to, state.sums ? state.floats(state.sums) : nullptr, runtime.pool());
      from = to;
    }
  }

 private:
  struct State final : KernelState {
    std::vector<Resampling<T>> passes;
    std::array<Scratch, 2> rooms;
    Scratch sums;
  };

  std::vector<Resampling<T>> passes_of(const View& x, const View& y) const {
    constexpr i64 kShort = 16;  // numbers that are those of a pixel
    const auto scale = [&](std::size_t i) {
      const auto axis = axes_[i];
      return scales_.empty() ? static_cast<float>(y.dim(axis)) / static_cast<float>(x.dim(axis)) : scales_[i];
    };
    bool shorter = false;
    for (std::size_t i = 0; i < axes_.size(); ++i) shorter = shorter || scale(i) < 1;
    std::vector<Resampling<T>> passes;
    std::vector<i64> dims(x.dims.begin(), x.dims.end());
    if (!std::is_same_v<T, float>) dims.push_back(byte_width(x.type));
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto axis = axes_[i];
      const AroundAxis around(dims, axis);
      auto taps = table(x.dim(axis), y.dim(axis), scale(i), task_.antialias && shorter);
      dims[axis] = y.dim(axis);
      if (is_identity(taps)) continue;
      if (auto* const last = passes.empty() ? nullptr : &passes.back(); last && !last->columns &&
                                                                        around.outer == last->outer * last->rows->out &&
                                                                        around.inner * taps.in == last->inner) {
        last->inner = around.inner;
        last->columns = std::move(taps);
      } else {
        passes.push_back({.outer = around.outer, .inner = around.inner, .rows = std::move(taps), .columns = {}});
      }
    }
    for (auto& pass : passes)
      if (!pass.columns && pass.inner < kShort) std::swap(pass.rows, pass.columns);
    return passes;
  }

  static bool is_identity(const AxisTaps<T>& taps) {
    if (taps.in != taps.out || taps.count != 1) return false;
    for (i64 i = 0; i < taps.out; ++i)
      if (taps.index[i] != i || taps.weight[i] != 1) return false;
    return true;
  }

  /// Elements of fewer taps than others have their last one several times, with the weight 0.
  AxisTaps<T> table(i64 in, i64 out, float scale, bool antialias) const {
    const auto taps = interpolation::taps_of(task_, in, out, scale, antialias, std::pmr::get_default_resource());
    AxisTaps<T> table{
        .in = in, .out = out, .count = 1, .index = {}, .weight = {}, .picks = task_.mode == Mode::nearest};
    // Filters are given with what lies just beside them.
    const auto each = [&](i64 k, const auto& work) {
      for (auto t = taps.start[k]; t < taps.start[k + 1]; ++t)
        if (taps.weight[t] != 0) work(taps.index[t], static_cast<SumOf<T>>(taps.weight[t]));
    };
    for (i64 k = 0; k < out; ++k) {
      i64 count = 0;
      each(k, [&](i64, SumOf<T>) { ++count; });
      table.count = std::max(table.count, count);
    }
    table.index.resize(out * table.count, 0);
    table.weight.resize(out * table.count, 0);
    for (i64 k = 0; k < out; ++k) {
      auto at = k * table.count;
      each(k, [&](i64 index, SumOf<T> weight) {
        std::fill(table.index.begin() + at, table.index.begin() + (k + 1) * table.count, index);
        table.weight[at++] = weight;
      });
    }
    return table;
  }

  Task task_;
  std::vector<i64> axes_;
  std::vector<float> scales_;
};

std::optional<Match> match_any(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  const auto type = graph.stored(x);
  if (!shape.has_rank() || !graph.fact({root, 0}).shape.has_rank()) return std::nullopt;
  const auto task = interpolation_task(graph, root);
  const bool as_bytes = !is_f32(graph, x);
  const bool are_copied = task.mode == Mode::nearest && contains(kConverted, type);
  if (as_bytes && (type != graph.fact(x).type || !(type == ElementType::u8 || are_copied))) return std::nullopt;
  auto given = interpolation_axes(graph, root, task, shape.rank());
  if (!given || task.pads()) return std::nullopt;
  auto& axes = *given;
  std::vector<float> scales;
  if (task.by_scale) {
    const auto* numbers = graph.constant(graph.input(root, task.target));
    if (!numbers || numbers->type() != ElementType::f32 || numbers->size() != std::ssize(axes)) return std::nullopt;
    scales.assign(numbers->data<float>(), numbers->data<float>() + numbers->size());
  }
  if (task.as_pillow()) {
    // Pillow filters columns before rows.
    std::vector<std::pair<i64, float>> both;
    for (std::size_t i = 0; i < axes.size(); ++i) both.emplace_back(axes[i], scales.empty() ? 0 : scales[i]);
    std::ranges::sort(both, std::greater<>(), &std::pair<i64, float>::first);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i] = both[i].first;
      if (!scales.empty()) scales[i] = both[i].second;
    }
  }
  auto match = with_sizes(graph, root);
  // Elements of four bytes that are only copied may be any.
  if (as_bytes && byte_width(type) != sizeof(float))
    match.kernel = std::make_unique<Resample<std::uint8_t>>(task, std::move(axes), std::move(scales));
  else match.kernel = std::make_unique<Resample<float>>(task, std::move(axes), std::move(scales));
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  auto images = image_resize(graph, root);
  if (!images) return match_any(graph, root);
  auto& [resize, match] = *images;
  auto levels = resize.is_nearest() && !resize.channels_last ? channel_levels(graph, match.inputs[0], 1) : std::nullopt;
  match.kernel = std::make_unique<Interpolate>(std::move(resize), std::move(levels));
  return std::move(match);
}

constexpr std::string_view kRoots[] = {"Interpolate"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "interpolate", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::interpolate
