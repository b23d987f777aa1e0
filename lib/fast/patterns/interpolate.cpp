// Interpolate in f32 along the two spatial axes of images: the nearest element, or linear between neighbors. Also where
// channels come last, with the Transposes around it that bring them there and back. Of other axes, and by other filters,
// one axis after the other.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kernels/movement/resample.hpp"
#include "fast/kernels/movement/resize.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/heads.hpp"
#include "fast/kit/levels.hpp"
#include "fast/kit/score_masks.hpp"
#include "op/kit/interpolation_taps.hpp"

namespace ovir::fast::patterns::interpolate {
namespace {

using interpolation::Mode;
using interpolation::Task;

const std::vector<i64> kChannelsLast{0, 2, 3, 1}, kChannelsFirst{0, 3, 1, 2};

/// By axis, as the file gives them; 0: the quotient of the lengths.
struct Scales {
  float rows = 0, columns = 0;
};

/// What each of `out` coordinates reads of an axis of `in` elements.
std::vector<AxisSource> sources(const Task& task, i64 in, i64 out, float scale) {
  if (scale == 0) scale = static_cast<float>(out) / static_cast<float>(in);
  const auto last = static_cast<double>(in - 1);
  std::vector<AxisSource> list;
  for (i64 o = 0; o < out; ++o) {
    const auto x = static_cast<double>(interpolation::original(task.coordinates, o, scale, out, in));
    if (task.mode == Mode::nearest) {
      const auto i = static_cast<i64>(std::clamp(interpolation::nearest(task.nearest_mode, x, scale < 1), 0.0, last));
      list.push_back({i, i, 0});
    } else {
      const auto inside = std::clamp(x, 0.0, last), below = std::floor(inside);
      list.push_back(
          {static_cast<i64>(below), static_cast<i64>(std::min(below + 1, last)), static_cast<float>(inside - below)});
    }
  }
  return list;
}

class Interpolate final : public Kernel {
 public:
  /// `levels`, to the nearest, of values that may be u8: a pixel of a block is as large as in f32. `rows`: the axis of
  /// rows, 2, or 1 where channels come last.
  Interpolate(const Task& task, Scales scales, std::optional<ChannelLevels> levels, i64 rows)
      : task_(task), scales_(scales), levels_(std::move(levels)), rows_(rows) {}

  std::string name() const override { return task_.mode == Mode::nearest ? "resize.nearest" : "resize.linear"; }

  static bool suits(std::span<const i64> in, std::span<const i64> out, i64 rows) {
    const auto channels = rows == 2 ? 1 : 3;
    return in.size() == 4 && out[0] == in[0] && out[channels] == in[channels] && in[0] * in[1] * in[2] * in[3] > 0;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (!suits(x.dims, y.dims, rows_)) return nullptr;
    auto state = std::make_unique<State>();
    state->rows = sources(task_, x.dim(rows_), y.dim(rows_), scales_.rows);
    state->columns = sources(task_, x.dim(rows_ + 1), y.dim(rows_ + 1), scales_.columns);
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
    if (x.type == ElementType::u8 || y.type == ElementType::u8) {
      auto* to = state.out ? state.floats(state.out) : reinterpret_cast<float*>(y.data);
      const auto* levels = levels_->take(x, state.in ? state.floats(state.in) : nullptr, runtime.pool());
      resize({.planes = batch * u8_blocks(channels),
              .height = x.dim(2),
              .width = x.dim(3),
              .rows = state.rows,
              .columns = state.columns,
              .nearest = true,
              .channels = kBlock},
             reinterpret_cast<const float*>(levels), to, nullptr, runtime.pool());
      if (state.out) levels_->give(reinterpret_cast<const std::uint8_t*>(to), y, runtime.pool());
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
    return layout == Layout::plain || (input == 0 && !channels_last());
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || !channels_last(); }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && input == 0 && levels_;
  }
  bool writes_as(ElementType type, Layout layout) const override { return reads_as(0, type, layout); }
  std::shared_ptr<const ovir::Quantization> quantization() const override {
    return levels_ ? levels_->quantization() : nullptr;
  }

 private:
  struct State final : KernelState {
    std::vector<AxisSource> rows, columns;
    Scratch in, out, rooms;
  };

  Resizing resizing(const State& state, const View& x, const View& y) const {
    const bool blocked = y.layout == Layout::blocked;
    const auto planes = channels_last() ? 1 : (blocked ? ceil_div(x.dim(1), kBlock) : x.dim(1));
    return {.planes = x.dim(0) * planes,
            .height = x.dim(rows_),
            .width = x.dim(rows_ + 1),
            .rows = state.rows,
            .columns = state.columns,
            .nearest = task_.mode == Mode::nearest,
            .channels = channels_last() ? x.dim(3) : (blocked ? kBlock : 1)};
  }
  bool channels_last() const { return rows_ == 1; }

  Task task_;
  Scales scales_;
  std::optional<ChannelLevels> levels_;
  i64 rows_;
};

/// One axis after the other, as the specification has it.
class Resample final : public Kernel {
 public:
  /// `scales`: by axis; empty: the quotients of the lengths.
  Resample(const Task& task, std::vector<i64> axes, std::vector<float> scales)
      : task_(task), axes_(std::move(axes)), scales_(std::move(scales)) {}

  std::string name() const override { return "resample"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    const auto scale = [&](std::size_t i) {
      const auto axis = axes_[i];
      return scales_.empty() ? static_cast<float>(y.dim(axis)) / static_cast<float>(x.dim(axis)) : scales_[i];
    };
    bool shorter = false;
    for (std::size_t i = 0; i < axes_.size(); ++i) shorter = shorter || scale(i) < 1;
    auto state = std::make_unique<State>();
    std::vector<i64> dims(x.dims.begin(), x.dims.end());
    i64 largest = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto axis = axes_[i];
      if (!state->passes.empty()) {
        i64 size = 1;
        for (const auto d : dims) size *= d;
        largest = std::max(largest, size);
      }
      const AroundAxis a(dims, axis);
      Pass pass{a.outer, a.inner, table(x.dim(axis), y.dim(axis), scale(i), task_.antialias && shorter)};
      dims[axis] = y.dim(axis);
      if (!is_identity(pass.taps)) state->passes.push_back(std::move(pass));
    }
    for (auto& room : state->rooms)
      if (largest > 0) room = state->reserve(largest);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto* from = in[0].as<const float>();
    auto* const y = out[0].as<float>();
    if (state.passes.empty()) return copy_runs(in[0].data, 0, out[0].data, 0, run_bytes(out[0], 0), 1, runtime.pool());
    for (std::size_t i = 0; i < state.passes.size(); ++i) {
      const auto& pass = state.passes[i];
      auto* to = i + 1 == state.passes.size() ? y : state.floats(state.rooms[i % 2]);
      resample(pass.taps, pass.outer, pass.inner, from, to, runtime.pool());
      from = to;
    }
  }

 private:
  struct Pass {
    i64 outer, inner;
    AxisTaps taps;
  };
  struct State final : KernelState {
    std::vector<Pass> passes;
    std::array<Scratch, 2> rooms;
  };

  static bool is_identity(const AxisTaps& taps) {
    if (taps.in != taps.out || taps.count != 1) return false;
    for (i64 i = 0; i < taps.out; ++i)
      if (taps.index[i] != i || taps.weight[i] != 1) return false;
    return true;
  }

  /// Elements of fewer taps than others have their last one several times, with the weight 0.
  AxisTaps table(i64 in, i64 out, float scale, bool antialias) const {
    const auto taps = interpolation::taps_of(task_, in, out, scale, antialias, std::pmr::get_default_resource());
    AxisTaps table{.in = in, .out = out, .count = 1, .index = {}, .weight = {}, .picks = task_.mode == Mode::nearest};
    // Filters are given with what lies just beside them.
    const auto each = [&](i64 k, const auto& work) {
      for (auto t = taps.start[k]; t < taps.start[k + 1]; ++t)
        if (taps.weight[t] != 0) work(taps.index[t], static_cast<float>(taps.weight[t]));
    };
    for (i64 k = 0; k < out; ++k) {
      i64 count = 0;
      each(k, [&](i64, float) { ++count; });
      table.count = std::max(table.count, count);
    }
    table.index.resize(out * table.count, 0);
    table.weight.resize(out * table.count, 0);
    for (i64 k = 0; k < out; ++k) {
      auto at = k * table.count;
      each(k, [&](i64 index, float weight) {
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

Task task_of(const Graphlet& graph, int root) {
  const auto since = graph.node(root).version->since;
  if (since == 1) return task1(graph.attrs<interpolation::Attrs1>(root));
  const auto& attrs = graph.attrs<interpolation::Attrs>(root);
  return since == 4 ? task4(attrs) : task11(attrs);
}

/// The axes that are resized, in the order of sizes and scales; nothing where they are not known before the run.
std::optional<std::vector<i64>> axes_of(const Graphlet& graph, int root, const Task& task, i64 rank) {
  if (const auto given = task.axes_port < 0 ? ValueRef{} : graph.input(root, task.axes_port); given.node >= 0)
    return constant_axes(graph, given, rank);
  std::vector<i64> axes(task.axes.begin(), task.axes.end());
  if (task.axes_port >= 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (auto& axis : axes)
    if (axis < 0) axis += rank;
  return axes;
}

/// The scales that the file gives, of axes `rows` and the next; nothing where they are not known before the run, or
/// change other axes.
std::optional<Scales> scales_of(const Graphlet& graph, int root, const Task& task, std::span<const i64> axes,
                                i64 rows) {
  Scales scales;
  const auto* numbers = task.by_scale ? graph.constant(graph.input(root, task.target)) : nullptr;
  if (task.by_scale && (!numbers || numbers->type() != ElementType::f32 || numbers->size() != std::ssize(axes)))
    return std::nullopt;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axes[i];
    const auto scale = numbers ? numbers->data<float>()[i] : 0.0f;
    if (axis == rows) scales.rows = scale;
    else if (axis == rows + 1) scales.columns = scale;
    // An axis that keeps its length keeps its elements, but for coordinates half an element away.
    else if ((numbers && scale != 1) || task.coordinates == interpolation::Coordinates::tf_half_pixel_for_nn)
      return std::nullopt;
  }
  return scales;
}

/// The sizes or scales, and axes, that a layer has are operands, for the kernel's sizes follow from them.
Match with_sizes(const Graphlet& graph, int root, std::unique_ptr<const Kernel> kernel) {
  Match match{{root}, {}, std::move(kernel)};
  for (const auto& input : graph.node(root).inputs)
    if (input.node >= 0) match.inputs.push_back(input);
  return match;
}

/// With the Transposes that bring channels to the end before it and back behind it, where both are there: `match` then
/// resizes what the first one reads.
bool take_transposes(const Graphlet& graph, Match& match) {
  const auto root = match.nodes[0];
  const auto x = graph.input(root, 0);
  const auto behind = graph.only_user({root, 0});
  if (order_of(graph, behind) != kChannelsFirst || order_of(graph, x.node) != kChannelsLast) return false;
  match.inputs[0] = graph.input(x.node, 0);
  match.nodes = {x.node, root, behind};
  if (!is_inner(graph, x, root)) match.shared = 1;
  return true;
}

std::optional<Match> match_any(const Graphlet& graph, int root, const Task& task, std::vector<i64> axes) {
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
  return with_sizes(graph, root, std::make_unique<Resample>(task, std::move(axes), std::move(scales)));
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto &shape = graph.fact(x).shape, &out = graph.fact({root, 0}).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || !out.has_rank()) return std::nullopt;
  const auto task = task_of(graph, root);
  const auto is_zero = [](i64 pad) { return pad == 0; };
  if (!std::all_of(task.pads_begin.begin(), task.pads_begin.end(), is_zero) ||
      !std::all_of(task.pads_end.begin(), task.pads_end.end(), is_zero))
    return std::nullopt;
  auto axes = axes_of(graph, root, task, shape.rank());
  if (!axes) return std::nullopt;
  const auto stays = [&](i64 axis) {
    return !shape[axis].is_static() || !out[axis].is_static() || shape[axis].length() == out[axis].length();
  };
  const auto resizes = [&](i64 axis) { return std::ranges::find(*axes, axis) != axes->end(); };
  const i64 rows = shape.rank() == 4 && (!stays(1) || (resizes(1) && !resizes(3))) ? 1 : 2;
  if (shape.rank() != 4 || !stays(0) || !stays(rows == 2 ? 1 : 3) ||
      (task.mode != Mode::nearest && task.mode != Mode::linear_onnx))
    return match_any(graph, root, task, std::move(*axes));
  const auto scales = scales_of(graph, root, task, *axes, rows);
  // Where sizes are known the layouts count on the kernel.
  if (!scales || (shape.is_static() && out.is_static() && !Interpolate::suits(shape.to_shape(), out.to_shape(), rows)))
    return match_any(graph, root, task, std::move(*axes));
  auto match = with_sizes(graph, root, nullptr);
  const bool channels_last = rows == 1 && !take_transposes(graph, match);
  auto levels = task.mode == Mode::nearest && !channels_last ? channel_levels(graph, match.inputs[0], 1) : std::nullopt;
  match.kernel = std::make_unique<Interpolate>(task, *scales, std::move(levels), channels_last ? 1 : 2);
  return match;
}

constexpr std::string_view kRoots[] = {"Interpolate"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "interpolate", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::interpolate
