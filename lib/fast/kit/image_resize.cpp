#include "fast/kit/image_resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fast/kit/functions.hpp"
#include "fast/kit/heads.hpp"
#include "fast/kit/score_masks.hpp"

namespace ovir::fast {
namespace {

using interpolation::Mode;
using interpolation::Task;

constexpr std::array<i64, 4> kChannelsLast{0, 2, 3, 1}, kChannelsFirst{0, 3, 1, 2};

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

/// Takes the scales that the file gives; false where they are not known before the run, or change other axes.
bool take_scales(const Graphlet& graph, int interpolate, std::span<const i64> axes, ImageResize& resize) {
  const auto& task = resize.task;
  const auto* numbers = task.by_scale ? graph.constant(graph.input(interpolate, task.target)) : nullptr;
  if (task.by_scale && (!numbers || numbers->type() != ElementType::f32 || numbers->size() != std::ssize(axes)))
    return false;
  const bool by_halves = task.coordinates == interpolation::Coordinates::tf_half_pixel_for_nn;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto scale = numbers ? numbers->data<float>()[i] : 0.0f;
    if (axes[i] == resize.rows_axis()) resize.row_scale = scale;
    else if (axes[i] == resize.rows_axis() + 1) resize.column_scale = scale;
    // An axis that keeps its length keeps its elements, but for coordinates half an element away.
    else if ((numbers && scale != 1) || by_halves) return false;
  }
  // Rows or columns that are not asked for stay where they are, and are not half an element away.
  const auto is_asked_for = [&](i64 axis) { return std::ranges::find(axes, axis) != axes.end(); };
  if (by_halves && !(is_asked_for(resize.rows_axis()) && is_asked_for(resize.rows_axis() + 1))) return false;
  return true;
}

/// Takes the Transposes: `match` then resizes what the first one reads.
bool take_transposes(const Graphlet& graph, Match& match) {
  const auto interpolate = match.nodes[0];
  const auto x = graph.input(interpolate, 0);
  const auto behind = graph.only_user({interpolate, 0});
  if (!std::ranges::equal(order_of(graph, behind), kChannelsFirst) ||
      !std::ranges::equal(order_of(graph, x.node), kChannelsLast))
    return false;
  match.inputs[0] = graph.input(x.node, 0);
  match.nodes = {x.node, interpolate, behind};
  if (!is_inner(graph, x, interpolate)) match.shared = 1;
  return true;
}

}  // namespace

bool ImageResize::suits(std::span<const i64> in, std::span<const i64> out) const {
  const auto channels = channels_axis();
  return in.size() == 4 && out[0] == in[0] && out[channels] == in[channels] && in[0] * in[1] * in[2] * in[3] > 0;
}

std::vector<AxisSource> ImageResize::rows(std::span<const i64> in, std::span<const i64> out) const {
  return sources(task, in[rows_axis()], out[rows_axis()], row_scale);
}

std::vector<AxisSource> ImageResize::columns(std::span<const i64> in, std::span<const i64> out) const {
  return sources(task, in[rows_axis() + 1], out[rows_axis() + 1], column_scale);
}

Task interpolation_task(const Graphlet& graph, int interpolate) {
  const auto since = graph.node(interpolate).version->since;
  if (since == 1) return task1(graph.attrs<interpolation::Attrs1>(interpolate));
  const auto& attrs = graph.attrs<interpolation::Attrs>(interpolate);
  return since == 4 ? task4(attrs) : task11(attrs);
}

std::optional<std::vector<i64>> interpolation_axes(const Graphlet& graph, int interpolate, const Task& task, i64 rank) {
  if (const auto given = task.axes_port < 0 ? ValueRef{} : graph.input(interpolate, task.axes_port); given.node >= 0)
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

Match with_sizes(const Graphlet& graph, int interpolate) {
  Match match{{interpolate}, {}, nullptr};
  for (const auto& input : graph.node(interpolate).inputs)
    if (input.node >= 0) match.inputs.push_back(input);
  return match;
}

std::optional<ResizeMatch> image_resize(const Graphlet& graph, int interpolate) {
  const auto x = graph.input(interpolate, 0);
  const auto &shape = graph.fact(x).shape, &out = graph.fact({interpolate, 0}).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || !out.has_rank() || shape.rank() != 4) return std::nullopt;
  ImageResize resize{.task = interpolation_task(graph, interpolate)};
  const auto& task = resize.task;
  const auto axes = interpolation_axes(graph, interpolate, task, shape.rank());
  if (!axes || task.pads() || (task.mode != Mode::nearest && task.mode != Mode::linear_onnx)) return std::nullopt;
  const auto stays = [&](i64 axis) {
    return !shape[axis].is_static() || !out[axis].is_static() || shape[axis].length() == out[axis].length();
  };
  const auto resizes = [&](i64 axis) { return std::ranges::find(*axes, axis) != axes->end(); };
  resize.channels_last = !stays(1) || (resizes(1) && !resizes(3));
  if (!stays(0) || !stays(resize.channels_axis()) || !take_scales(graph, interpolate, *axes, resize))
    return std::nullopt;
  // Where sizes are known the layouts count on the kernel.
  if (shape.is_static() && out.is_static() && !resize.suits(shape.to_shape(), out.to_shape())) return std::nullopt;
  auto match = with_sizes(graph, interpolate);
  if (resize.channels_last && take_transposes(graph, match)) resize.channels_last = false;
  return ResizeMatch{std::move(resize), std::move(match)};
}

}  // namespace ovir::fast
