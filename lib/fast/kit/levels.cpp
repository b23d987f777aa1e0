#include "fast/kit/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/decompression.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/kit/interpolation.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// A Constant of the file, also where conversions follow, as f32.
Tensor from_file(const Graphlet& graph, ValueRef v) {
  while (graph.any_type(v.node) == "Convert") v = graph.input(v.node, 0);
  if (v.node < 0 || graph.node(v.node).op->kind != Kind::constant || !graph.node(v.node).constant) return {};
  return convert(graph.node(v.node).constant, ElementType::f32);
}

/// One number an output, or one for each group of outputs or for all, as so many.
std::vector<float> by_output(const Tensor& t, i64 outputs) {
  std::vector<float> list;
  if (!t || t.size() == 0 || outputs % t.size() != 0) return list;
  for (i64 i = 0; i < outputs; ++i) list.push_back(t.data<float>()[i / (outputs / t.size())]);
  return list;
}

/// One number, or one for each output of the codes or, if these are the first axes, for each group of outputs.
bool belongs_to_outputs(const Graphlet& graph, ValueRef v, const Shape& codes, const Outputs& outputs) {
  const auto& fact = graph.fact(v).shape;
  if (!fact.is_static()) return false;
  const auto shape = fact.to_shape();
  if (shape.count() == 1) return true;
  if (shape.count() == 0 || outputs.count % shape.count() != 0) return false;
  if (outputs.last) return shape.back() == outputs.count && codes.back() == outputs.count;
  if (shape.rank() != codes.rank()) return false;
  if (outputs.second) return shape[1] == outputs.count && codes[1] == outputs.count;
  std::size_t axis = 0;
  while (axis < shape.size() && shape[axis] == codes[axis]) ++axis;
  return std::all_of(shape.begin() + axis, shape.end(), [](i64 n) { return n == 1; });
}

/// take(output, begin, end) for all of `size` weights, of as many neighbors as belong to an output.
template <class Take>
void for_outputs(const Outputs& outputs, const Shape& shape, const Take& take) {
  const auto size = shape.count(), before = outputs.second ? shape[0] : 1;
  const auto run = outputs.last ? 1 : size / (outputs.count * before);
  for (i64 first = 0; first < size; first += run * outputs.count)
    for (i64 o = 0; o < outputs.count; ++o) take(o, first + o * run, first + (o + 1) * run);
}

/// The steps that weights may be multiples of; empty where nothing says.
std::vector<float> steps_of(const Graphlet& graph, ValueRef v, i64 outputs) {
  while (v.node >= 0) {
    const auto type = graph.any_type(v.node);
    if (type == "FakeQuantize") {
      const auto low = by_output(from_file(graph, graph.input(v.node, 3)), outputs),
                 high = by_output(from_file(graph, graph.input(v.node, 4)), outputs);
      const auto intervals = static_cast<float>(graph.attrs<FakeQuantizeAttrs>(v.node).levels - 1);
      std::vector<float> steps;
      for (std::size_t i = 0; i < low.size() && i < high.size(); ++i) steps.push_back((high[i] - low[i]) / intervals);
      return steps;
    }
    if (type == "Multiply") {
      for (const int port : {1, 0})
        if (auto steps = by_output(from_file(graph, graph.input(v.node, port)), outputs); !steps.empty()) return steps;
      return {};
    }
    // Whoever asks finds out whether they still belong to the outputs.
    if (type != "Convert" && type != "Reshape" && type != "Unsqueeze" && type != "Transpose") return {};
    v = graph.input(v.node, 0);
  }
  return {};
}

}  // namespace

std::optional<std::uint8_t> Levels::above(const Levels& all) const {
  const auto below = (low(0) - all.low(0)) / scale(0), whole = std::nearbyint(below);
  if (!is_single() || !all.is_single() || scale(0) != all.scale(0) || std::abs(below - whole) > kSame || whole < 0 ||
      whole + max_level > all.max_level)
    return std::nullopt;
  return static_cast<std::uint8_t>(whole);
}

std::optional<std::uint8_t> Levels::near_zero(i64 channel, float tolerance) const {
  const auto level = -low(channel) / scale(channel), whole = std::nearbyint(level);
  if (std::abs(level - whole) > tolerance || whole < 0 || whole > max_level) return std::nullopt;
  return static_cast<std::uint8_t>(whole);
}

std::vector<std::uint8_t> Levels::padding() const {
  std::vector<std::uint8_t> pads;
  for (i64 c = 0; c < std::ssize(quantization->low); ++c) {
    const auto level = near_zero(c, 0.25f);
    if (!level) return {};
    pads.push_back(*level);
  }
  return pads;
}

namespace {

/// Leaves out the levels below 0 of positive data: pairs of products by what remains fit 16 bits
/// (PairExcesses::pairs_fit). Follows from the model alone, so that all who write and read the value agree.
void leave_out_negative(const Graphlet& graph, ValueRef v, Levels& levels) {
  const auto zero = levels.zero(0);
  if (!zero || *zero == 0 || !is_positive(graph, graph.input(v.node, 0))) return;
  for (i64 c = 1; c < std::ssize(levels.quantization->low); ++c)
    if (levels.zero(c) != zero) return;
  auto quantization = std::make_shared<ovir::Quantization>(*levels.quantization);
  std::ranges::fill(quantization->low, 0.0f);
  levels.max_level -= *zero;
  levels.quantization = std::move(quantization);
}

std::optional<Levels> levels_of_quantize(const Graphlet& graph, ValueRef v) {
  const auto& attrs = graph.attrs<FakeQuantizeAttrs>(v.node);
  const auto& shape = graph.fact(v).shape;
  if (attrs.levels < 2 || attrs.levels > 256 || !aligns_by_numpy(graph, v.node) || !shape.has_rank())
    return std::nullopt;
  Tensor limits[4];
  i64 count = 1;
  for (int i = 0; i < 4; ++i) {
    // Those of a value that was computed beforehand are in the file only.
    const auto limit = graph.input(v.node, i + 1);
    const auto* known = graph.constant(limit);
    const auto& t = limits[i] = known ? *known : from_file(graph, limit);
    if (!t || t.type() != ElementType::f32 || t.size() == 0) return std::nullopt;
    if (t.size() == 1) continue;
    // By channel, the second axis.
    if (shape.rank() < 2 || !shape[1].is_static() || t.size() != shape[1].length() || t.rank() > shape.rank() ||
        t.rank() + 1 < shape.rank() || t.dim(t.rank() - shape.rank() + 1) != t.size())
      return std::nullopt;
    count = t.size();
  }
  Levels levels;
  levels.max_level = static_cast<float>(attrs.levels - 1);
  auto quantization = std::make_shared<ovir::Quantization>();
  for (i64 c = 0; c < count; ++c) {
    const auto limit = [&](int i) { return limits[i].data<float>()[limits[i].size() == 1 ? 0 : c]; };
    const auto scale = (limit(1) - limit(0)) / levels.max_level;
    if (limit(0) != limit(2) || limit(1) != limit(3) || !(scale > 0) || !std::isfinite(1 / scale)) return std::nullopt;
    quantization->low.push_back(limit(0));
    quantization->scale.push_back(scale);
  }
  levels.quantization = std::move(quantization);
  leave_out_negative(graph, v, levels);
  return levels;
}

bool is_nearest(const Graphlet& graph, int node) {
  using namespace interpolation;
  const auto since = graph.node(node).version->since;
  const auto task = since == 1   ? task1(graph.attrs<Attrs1>(node))
                    : since == 4 ? task4(graph.attrs<Attrs>(node))
                                 : task11(graph.attrs<Attrs>(node));
  const auto is_zero = [](i64 pad) { return pad == 0; };
  return task.mode == Mode::nearest && std::all_of(task.pads_begin.begin(), task.pads_begin.end(), is_zero) &&
         std::all_of(task.pads_end.begin(), task.pads_end.end(), is_zero);
}

/// Whether each element of a node's outputs is one of its first input.
bool only_moves(const Graphlet& graph, ValueRef v) {
  static constexpr std::string_view kTypes[] = {
      "Split",     "VariadicSplit", "Reshape",      "Squeeze", "Unsqueeze", "Slice",          "StridedSlice",
      "Transpose", "DepthToSpace",  "SpaceToDepth", "Tile",    "Broadcast", "ShuffleChannels"};
  const auto type = graph.any_type(v.node);
  if (std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes)) return true;
  return type == "Interpolate" && is_nearest(graph, v.node);
}

/// `left`: how many nodes may still be looked at.
std::optional<Levels> levels_within(const Graphlet& graph, ValueRef v, int& left) {
  const auto type = graph.any_type(v.node);
  if (--left < 0 || type.empty()) return std::nullopt;
  if (type == "FakeQuantize") return levels_of_quantize(graph, v);
  if (type == "MaxPool") return v.port == 0 ? levels_within(graph, graph.input(v.node, 0), left) : std::nullopt;
  if (type == "Concat") {
    // Negative levels may be left out of some parts.
    std::vector<Levels> parts;
    for (const auto& part : graph.node(v.node).inputs) {
      const auto levels = levels_within(graph, part, left);
      if (!levels || !levels->is_single()) return std::nullopt;
      parts.push_back(*levels);
    }
    const auto all = std::ranges::min(parts, {}, [](const Levels& levels) { return levels.low(0); });
    const auto fits = [&](const Levels& levels) { return levels.above(all).has_value(); };
    return std::ranges::all_of(parts, fits) ? std::optional(all) : std::nullopt;
  }
  if (!only_moves(graph, v)) return std::nullopt;
  auto levels = levels_within(graph, graph.input(v.node, 0), left);
  if (levels && !levels->is_single()) return std::nullopt;
  return levels;
}

/// Whether two FakeQuantize have the same levels, for all of their data.
bool are_alike(const Graphlet& graph, int a, int b) {
  if (graph.attrs<FakeQuantizeAttrs>(a).levels != graph.attrs<FakeQuantizeAttrs>(b).levels) return false;
  for (int i = 1; i < 5; ++i) {
    const auto own = number(graph, graph.input(a, i));
    if (!own || own != number(graph, graph.input(b, i))) return false;
  }
  return true;
}

bool comes_from(const Graphlet& graph, ValueRef v, int quantize, int& left) {
  const auto type = graph.any_type(v.node);
  if (--left < 0 || type.empty()) return false;
  if (type == "FakeQuantize") return are_alike(graph, v.node, quantize);
  if (type == "Concat")
    return std::ranges::all_of(graph.node(v.node).inputs,
                               [&](ValueRef part) { return comes_from(graph, part, quantize, left); });
  const bool moves = (type == "MaxPool" && v.port == 0) || only_moves(graph, v);
  return moves && comes_from(graph, graph.input(v.node, 0), quantize, left);
}

}  // namespace

bool is_quantized_again(const Graphlet& graph, int quantize) {
  const auto limit = [&](int i) { return number(graph, graph.input(quantize, i)); };
  int left = 64;
  return graph.attrs<FakeQuantizeAttrs>(quantize).levels <= 256 && limit(1) < limit(2) && limit(1) == limit(3) &&
         limit(2) == limit(4) && comes_from(graph, graph.input(quantize, 0), quantize, left);
}

std::optional<Levels> levels_of(const Graphlet& graph, ValueRef v) {
  int left = 64;
  return levels_within(graph, v, left);
}

std::optional<Levels> single_levels(const Graphlet& graph, ValueRef v) {
  auto levels = levels_of(graph, v);
  if (levels && !levels->is_single()) levels.reset();
  return levels;
}

LevelLine level_line(const Levels& levels) {
  const auto low = levels.low(0), step = levels.scale(0);
  const auto zero = levels.zero(0);
  return {.by = 1 / step,
          .plus = -low / step,
          .max_level = levels.max_level,
          .offset = zero ? -static_cast<float>(*zero) : low / step};
}

i64 plane_of(const View& v) { return v.size() / std::max<i64>(v.dim(0) * v.dim(1), 1); }

i64 ChannelLevels::words(const View& v) { return v.dim(0) * u8_blocks(v.dim(1)) * plane_of(v) * kBlock; }

const std::byte* ChannelLevels::take(const View& v, float* scratch, ThreadPool& pool) const {
  if (v.type == ElementType::u8) return v.data;
  auto* levels = reinterpret_cast<std::uint8_t*>(scratch);
  to_u8_blocked(v.as<const float>(), v.layout == Layout::blocked, table_.scale(), levels, v.dim(0), v.dim(1),
                plane_of(v), pool);
  return reinterpret_cast<const std::byte*>(levels);
}

void ChannelLevels::give(const std::byte* levels, const View& to, ThreadPool& pool) const {
  from_u8_blocked(reinterpret_cast<const std::uint8_t*>(levels), table_.scale(), to.as<float>(),
                  to.layout == Layout::blocked, to.dim(0), to.dim(1), plane_of(to), pool);
}

std::optional<ChannelLevels> channel_levels(const Graphlet& graph, ValueRef whole, i64 axis) {
  const auto& shape = graph.fact(whole).shape;
  if (graph.options().precision != Precision::int8 || axis != 1 || !shape.is_static() || shape.rank() < 3 ||
      shape.rank() > 4)
    return std::nullopt;
  const auto levels = levels_of(graph, whole);
  if (!levels || !levels->is_single()) return std::nullopt;
  return ChannelLevels(*levels, shape[1].length());
}

std::optional<ChannelLines> channel_lines(const Graphlet& graph, int first, ValueRef from, i64 rank, i64 channels) {
  ChannelLines lines{{}, std::vector<float>(channels, 1.0f), std::vector<float>(channels, 0.0f)};
  auto next = first;
  for (auto at = from;; next = graph.only_user(at)) {
    const auto type = graph.type(next);
    if (type == "FakeQuantize" && graph.input(next, 0).node == at.node)
      return lines.nodes.empty() ? std::nullopt : std::optional(std::move(lines));
    if (type == "Relu" && !lines.nodes.empty() && is_f32(graph, {next, 0})) {
      // Levels from 0 on leave nothing for it to do.
      const auto user = graph.only_user({next, 0});
      if (user < 0 || graph.type(user) != "FakeQuantize") return std::nullopt;
      const auto levels = levels_of(graph, {user, 0});
      if (!levels || std::ranges::min(levels->quantization->low) < 0) return std::nullopt;
      lines.nodes.push_back(next);
      at = {next, 0};
      continue;
    }
    if ((type != "Multiply" && type != "Add") || !is_f32(graph, {next, 0}) || lines.nodes.size() == 4 ||
        !aligns_by_numpy(graph, next))
      return std::nullopt;
    const auto& out = graph.fact({next, 0}).shape;
    const auto other = graph.input(next, graph.input(next, 0).node == at.node ? 1 : 0);
    const auto* t = graph.constant(other);
    if (!t || t->type() != ElementType::f32 || !out.has_rank() || out.rank() != rank || t->rank() > rank ||
        (t->size() != 1 && !per_channel(graph, other, rank, 1, channels)))
      return std::nullopt;
    for (i64 c = 0; c < channels; ++c) {
      const auto v = t->data<float>()[t->size() == 1 ? 0 : c];
      if (!std::isfinite(v)) return std::nullopt;
      if (type == "Multiply") {
        lines.factors[c] *= v;
        lines.offsets[c] *= v;
      } else {
        lines.offsets[c] += v;
      }
    }
    lines.nodes.push_back(next);
    at = {next, 0};
  }
}

U8Table::U8Table(const Levels& levels, i64 channels, const ChannelLines* lines)
    : padded_(round_up(channels, 4 * kBlock)), max_level_(levels.max_level), values_(4 * padded_) {
  for (i64 c = 0; c < channels; ++c) {
    const auto low = levels.low(c), scale = levels.scale(c);
    const auto factor = lines ? lines->factors[c] : 1, offset = lines ? lines->offsets[c] : 0;
    const float list[] = {factor / scale, (offset - low) / scale, low, scale};
    for (i64 k = 0; k < 4; ++k) values_.data()[k * padded_ + c] = list[k];
  }
}

U8Scale U8Table::scale() const {
  const auto* v = values_.data();
  return {.by = v, .plus = v + padded_, .low = v + 2 * padded_, .scale = v + 3 * padded_, .max_level = max_level_};
}

RowLevels::RowLevels(const Levels& levels, Buffer factors)
    : quantization_(levels.quantization), max_level_(levels.max_level), factors_(std::move(factors)) {}

U8RowScale RowLevels::scale() const {
  const auto low = quantization_->low[0], step = quantization_->scale[0];
  return {.factors = factors_.data(),
          .by = 1 / step,
          .plus = -low / step,
          .low = low,
          .step = step,
          .max_level = max_level_};
}

Buffer column_factors(const Graphlet& graph, int multiply, ValueRef x) {
  const auto& shape = graph.fact(x).shape;
  if (graph.type(multiply) != "Multiply" || !shape.has_rank() || shape.rank() < 2 || !is_f32(graph, {multiply, 0}) ||
      !aligns_by_numpy(graph, multiply))
    return {};
  const auto last = shape.rank() - 1;
  const auto& out = graph.fact({multiply, 0}).shape;
  if (!shape[last].is_static() || !out.has_rank() || out.rank() != shape.rank()) return {};
  const auto other = graph.input(multiply, graph.input(multiply, 0).node == x.node ? 1 : 0);
  const auto* factors = per_channel(graph, other, shape.rank(), last, shape[last].length());
  if (!factors) return {};
  Buffer to(factors->size());
  std::copy_n(factors->data<float>(), factors->size(), to.data());
  return to;
}

std::optional<RowLevels> take_row_levels(const Graphlet& graph, std::vector<int>& nodes) {
  ValueRef x{nodes.back(), 0};
  auto next = graph.only_user(x);
  if (next < 0 || !is_f32(graph, x)) return std::nullopt;
  std::vector<int> taken;
  auto factors = column_factors(graph, next, x);
  if (factors.size() > 0) {
    taken.push_back(next);
    x = {next, 0};
    next = graph.only_user(x);
  }
  if (graph.type(next) != "FakeQuantize" || graph.input(next, 0).node != x.node || !is_f32(graph, {next, 0}))
    return std::nullopt;
  const auto levels = levels_of(graph, {next, 0});
  if (!levels || !levels->is_single()) return std::nullopt;
  taken.push_back(next);
  nodes.insert(nodes.end(), taken.begin(), taken.end());
  return RowLevels(*levels, std::move(factors));
}

std::shared_ptr<const std::vector<IntegerSums>> I8Weights::sums(const Graphlet& graph, i64 outputs) const {
  return graph.shared<std::vector<IntegerSums>>(given, fmt::format("sums {}", outputs), [&] {
    const auto each = outputs > 0 ? values.size() / outputs : 0;
    return std::make_shared<const std::vector<IntegerSums>>(
        column_sums(values.data<std::int8_t>(), 1, each, each, outputs));
  });
}

std::optional<I8Weights> stored_i8_weights(const Graphlet& graph, int node, int port, const Outputs& outputs) {
  WayBack back(graph, graph.input(node, port), node);
  if (back.is("Convert")) back.take(0);
  if (back.is("Reshape")) back.take(0);
  if (back.is("Convert")) back.take(0);
  const auto scale = back.take_scale();
  ValueRef zero;
  if (back.is("Subtract")) zero = graph.input(back.take(0), 1);
  if (scale.node < 0 || !back.is("Convert")) return std::nullopt;
  back.take(0);
  const auto* codes = graph.constant(back.at());
  if (!codes || outputs.count == 0 || codes->size() % outputs.count != 0 || codes->size() == 0 ||
      (codes->type() != ElementType::i8 && codes->type() != ElementType::u8) ||
      !belongs_to_outputs(graph, scale, codes->shape(), outputs) ||
      (zero.node >= 0 && !belongs_to_outputs(graph, zero, codes->shape(), outputs)))
    return std::nullopt;
  I8Weights weights{*codes, by_output(from_file(graph, scale), outputs.count), back.nodes()};
  const auto finite = [](float v) { return std::isfinite(v); };
  if (weights.scale.empty() || !std::all_of(weights.scale.begin(), weights.scale.end(), finite)) return std::nullopt;
  std::vector<float> zeros(outputs.count, 0.0f);
  if (zero.node >= 0) zeros = by_output(from_file(graph, zero), outputs.count);
  if (zeros.empty()) return std::nullopt;
  const bool as_they_are = std::all_of(zeros.begin(), zeros.end(), [](float z) { return z == 0; });
  if (as_they_are && codes->type() == ElementType::i8) {
    weights.given = graph.origin(back.at());
    return weights;
  }
  Tensor values(ElementType::i8, codes->shape());
  auto* to = values.mutable_data<std::int8_t>();
  bool fits = true;
  for (const auto zero : zeros) fits = fits && zero >= -128 && zero <= 255 && zero == std::nearbyint(zero);
  if (!fits) return std::nullopt;
  int low = 0, high = 0;
  const auto subtract = [&](const auto* from) {
    for_outputs(outputs, codes->shape(), [&](i64 o, i64 begin, i64 end) {
      const auto by = static_cast<int>(zeros[o]);
      for (auto i = begin; i < end; ++i) {
        const int value = from[i] - by;
        low = std::min(low, value);
        high = std::max(high, value);
        to[i] = static_cast<std::int8_t>(value);
      }
    });
  };
  if (codes->type() == ElementType::u8) subtract(codes->data<std::uint8_t>());
  else subtract(codes->data<std::int8_t>());
  if (low < -128 || high > 127) return std::nullopt;
  weights.values = std::move(values);
  return weights;
}

std::optional<I8Weights> i8_weights(const Graphlet& graph, int node, int port, const Outputs& outputs) {
  if (auto stored = stored_i8_weights(graph, node, port, outputs)) return stored;
  const auto v = graph.input(node, port);
  const auto* constant = graph.constant(v);
  if (!constant || constant->type() != ElementType::f32 || outputs.count == 0 || constant->size() % outputs.count != 0)
    return std::nullopt;
  I8Weights weights{Tensor(ElementType::i8, constant->shape()), steps_of(graph, v, outputs.count), {}, graph.origin(v)};
  if (weights.scale.empty()) return std::nullopt;
  const auto* from = constant->data<float>();
  auto* to = weights.values.mutable_data<std::int8_t>();
  bool multiples = true;
  for_outputs(outputs, constant->shape(), [&](i64 o, i64 begin, i64 end) {
    const auto step = weights.scale[o];
    for (auto i = begin; multiples && i < end; ++i) {
      const auto times = step == 0 ? 0 : from[i] / step, whole = std::clamp(std::nearbyint(times), -128.0f, 127.0f);
      multiples = std::abs(times - whole) <= 0.01f && (step != 0 || from[i] == 0);
      if (multiples) to[i] = static_cast<std::int8_t>(whole);
    }
  });
  if (!multiples) return std::nullopt;
  return weights;
}

}  // namespace ovir::fast
