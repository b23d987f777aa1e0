// Convolution-1 of one group and depthwise GroupConvolution-1 of quantized values by quantized weights in integers,
// with the bias, bounds, residual and FakeQuantize that follow: for Precision::int8.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "tensor/view.hpp"

namespace ovir::fast::patterns::int8_convolution {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Bounds {
  float low = -kInfinity, high = kInfinity;
  friend bool operator==(const Bounds&, const Bounds&) = default;
  /// In levels, which end at 0 and the last one.
  Bounds in(const Levels& levels, i64 channel) const {
    const auto level = [&](float v) { return (v - levels.low(channel)) / levels.scale(channel); };
    return {std::max(0.0f, level(low)), std::min(levels.most, level(high))};
  }
};

/// What follows the sums: bias, bounds, FakeQuantize; then the sum with other levels, bounds, FakeQuantize.
struct U8Ending {
  const Tensor* bias = nullptr;
  Bounds bounds, sum_bounds;
  std::optional<Levels> levels, other, sum_levels;  ///< `other` of the residual, which is operand 1
  std::string name;
  const Levels* result() const { return sum_levels ? &*sum_levels : (levels && !other ? &*levels : nullptr); }
};

/// Follows only users: each part moves on where the next node suits it.
class Follower {
 public:
  Follower(const Graphlet& graph, Match& match, i64 rank, i64 channels)
      : graph_(graph), match_(match), rank_(rank), channels_(channels), nodes_(match.nodes) {}

  U8Ending follow(bool may_add) {
    U8Ending e;
    if (const auto next = user(); graph_.type(next) == "Add")
      if (const auto* bias = per_channel(graph_, other_of(next), rank_, 1, channels_)) {
        e.bias = bias;
        take(next, e, "+bias");
      }
    e.bounds = bounds(e);
    e.levels = levels(e, e.bounds);
    match_.nodes = nodes_;
    if (!may_add || (e.levels && !e.levels->is_single())) return e;
    auto sum = e;
    const auto add = user();
    if (graph_.type(add) != "Add") return e;
    const auto other = other_of(add);
    sum.other = levels_of(graph_, other);
    const auto &own = graph_.fact({add, 0}).shape, &theirs = graph_.fact(other).shape;
    if (!sum.other || !sum.other->is_single() || !own.is_static() || !(theirs == own) || other.node == nodes_.back())
      return e;
    take(add, sum, "+residual");
    sum.sum_bounds = bounds(sum);
    sum.sum_levels = levels(sum, sum.sum_bounds);
    if (!sum.sum_levels || !sum.sum_levels->is_single()) return e;
    match_.nodes = nodes_;
    match_.inputs.push_back(other);
    return sum;
  }

 private:
  int user() const {
    const auto next = graph_.only_user({nodes_.back(), 0});
    return next >= 0 && is_f32(graph_, {next, 0}) ? next : -1;
  }
  ValueRef other_of(int add) const { return graph_.input(add, graph_.input(add, 0).node == nodes_.back() ? 1 : 0); }
  void take(int node, U8Ending& e, const std::string& name) {
    nodes_.push_back(node);
    e.name += name;
  }

  Bounds bounds(U8Ending& e) {
    const auto next = user();
    if (next < 0 || graph_.input(next, 0).node != nodes_.back()) return {};
    const auto function = function_of(graph_, next);
    if (!function || function->f != Function::clamp) return {};
    take(next, e, "+" + std::string(graph_.type(next)));
    return {function->a, function->b};
  }
  std::optional<Levels> levels(U8Ending& e, const Bounds& bounds) {
    const auto next = user();
    if (graph_.type(next) != "FakeQuantize" || graph_.input(next, 0).node != nodes_.back()) return std::nullopt;
    auto found = levels_of(graph_, {next, 0});
    if (!found) return std::nullopt;
    // One pair of bounds for all channels.
    for (i64 c = 1; !found->is_single() && c < channels_; ++c)
      if (bounds.in(*found, c) != bounds.in(*found, 0)) return std::nullopt;
    take(next, e, "+FakeQuantize");
    return found;
  }

  const Graphlet& graph_;
  Match& match_;
  i64 rank_, channels_;
  std::vector<int> nodes_;
};

class U8Convolution final : public Kernel {
 public:
  U8Convolution(const ConvolutionAttrs& attrs, const ConvolutionShape& s, const I8Weights& weights, const Levels& in,
                std::uint8_t pad, const U8Ending& ending)
      : attrs_(attrs),
        known_(s),
        name_(std::string(s.is_depthwise() ? "int8_depthwise" : "int8") + ".convolution" + ending.name),
        in_(in, s.channels),
        pad_(pad),
        padded_outputs_(round_up(s.outputs, 4 * kBlock)),
        scales_(2 * padded_outputs_) {
    if (ending.other) other_.emplace(*ending.other, s.outputs);
    if (const auto* result = ending.result()) {
      quantization_ = result->quantization;
      out_.emplace(*result, s.outputs);
    }
    set_epilogue(weights, in, ending);
    if (s.is_depthwise()) {
      weights_ = Buffer(u8_depthwise_weights_size(s) / 4);
      u8_depthwise_pack(s, weights.values.data(), reinterpret_cast<std::int8_t*>(weights_.data()));
    } else {
      const NarrowGeometry geometry(s, 4);
      weights_ = Buffer(geometry.filters_size());
      u8_pack(geometry, weights.values.data(), words(weights_.data()));
    }
  }

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    auto state = std::make_unique<State>(NarrowGeometry(with_planes(attrs_, known_, x.dims, y.dims), 4));
    const auto& g = state->geometry;
    const auto& s = g.s;
    if (s.channels != known_.channels || s.outputs != known_.outputs) return nullptr;
    const auto words_out = s.batch * u8_blocks(s.outputs) * s.out_plane() * kBlock;
    if (x.type == ElementType::f32)
      state->in = state->reserve(reads_image() ? s.batch * g.padded_size()
                                               : s.batch * u8_blocks(s.channels) * s.plane() * kBlock);
    if (other_ && sizes.in[1].type == ElementType::f32) state->residual = state->reserve(words_out);
    if (out_ && y.type == ElementType::f32) state->out = state->reserve(words_out);
    if (!out_ && y.layout == Layout::plain) state->out = state->reserve(words_out * 4);
    const auto threads = runtime.threads();
    state->scratch = state->reserve(s.is_depthwise() ? narrow_depthwise_scratch_size(s, threads)
                                    : reads_image()  ? 0
                                                     : g.scratch_size(threads));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto& g = state.geometry;
    const auto& s = g.s;
    if (out[0].size() == 0) return;
    auto& pool = runtime.pool();
    const auto bytes = [&](const Scratch& at) { return reinterpret_cast<std::uint8_t*>(state.floats(at)); };
    const auto* x = reinterpret_cast<const Word*>(in[0].data);
    if (state.in) {
      auto* levels = bytes(state.in);
      if (reads_image())
        image_to_u8(g, in[0].as<const float>(), in_.scale(), pad_, words(state.floats(state.in)), pool);
      else
        to_u8_blocked(in[0].as<const float>(), in[0].layout == Layout::blocked, in_.scale(), levels, s.batch,
                      s.channels, s.plane(), pool);
      x = words(state.floats(state.in));
    }
    const std::uint8_t* residual = nullptr;
    if (other_) {
      residual = reinterpret_cast<const std::uint8_t*>(in[1].data);
      if (state.residual) {
        to_u8_blocked(in[1].as<const float>(), in[1].layout == Layout::blocked, other_->scale(), bytes(state.residual),
                      s.batch, s.outputs, s.out_plane(), pool);
        residual = bytes(state.residual);
      }
    }
    U8Blocked y;
    if (out_) y.levels = state.out ? bytes(state.out) : reinterpret_cast<std::uint8_t*>(out[0].data);
    else y.wide = state.out ? state.floats(state.out) : out[0].as<float>();
    auto* scratch = words(state.floats(state.scratch));
    if (s.is_depthwise())
      u8_depthwise(s, reinterpret_cast<const std::int8_t*>(weights_.data()), x, pad_, y, epilogue_, scratch, pool);
    else u8_convolution(g, words(weights_.data()), x, pad_, y, residual, epilogue_, scratch, pool);
    if (!state.out) return;
    const bool blocked = out[0].layout == Layout::blocked;
    if (out_)
      from_u8_blocked(y.levels, out_->scale(), out[0].as<float>(), blocked, s.batch, s.outputs, s.out_plane(), pool);
    else to_plain(y.wide, out[0].as<float>(), s.batch, s.outputs, s.out_plane(), pool);
  }

  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || input != 0 || !reads_image();
  }
  bool writes(Layout) const override { return true; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && (input != 0 || !reads_image());
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && out_;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return quantization_; }
  /// Each place of the residual is read before the output's same place is written.
  bool writes_over(int input) const override { return other_ && input == 1; }

 private:
  struct State final : KernelState {
    explicit State(const NarrowGeometry& g) : geometry(g) {}
    NarrowGeometry geometry;
    Scratch in, residual, out, scratch;
  };

  static Word* words(float* p) { return reinterpret_cast<Word*>(p); }
  bool reads_image() const { return !known_.is_depthwise() && NarrowGeometry(known_, 4).image; }

  /// A sum stands for scale · sum + shift; the FakeQuantize that follows is the same line in levels.
  void set_epilogue(const I8Weights& weights, const Levels& in, const U8Ending& e) {
    auto *scale = scales_.data(), *shift = scale + padded_outputs_;
    const auto each = static_cast<i64>(weights.values.size()) / known_.outputs;
    for (i64 o = 0; o < known_.outputs; ++o) {
      const auto channel = known_.is_depthwise() ? o : 0;
      double sum = 0;
      for (i64 i = 0; i < each; ++i) sum += weights.values[static_cast<std::size_t>(o * each + i)];
      const auto step = static_cast<double>(weights.scale[static_cast<std::size_t>(o)]);
      const auto zero = in.zero() ? -static_cast<double>(*in.zero()) * in.scale(channel) : double{in.low(channel)};
      auto by = step * in.scale(channel), plus = step * sum * zero;
      if (e.bias) plus += e.bias->data<float>()[o];
      if (e.levels) {
        by /= e.levels->scale(o);
        plus = (plus - e.levels->low(o)) / e.levels->scale(o);
      }
      scale[o] = static_cast<float>(by);
      shift[o] = static_cast<float>(plus);
    }
    const auto first = e.levels ? e.bounds.in(*e.levels, 0) : e.bounds;
    epilogue_ = {.scale = scale,
                 .shift = shift,
                 .low = first.low,
                 .high = first.high,
                 .rounds = e.levels.has_value(),
                 .own = 1,
                 .other = 0,
                 .offset = 0,
                 .least = 0,
                 .most = 0};
    if (!e.other) return;
    const auto result = e.sum_levels->scale(0), low = e.levels ? e.levels->low(0) : 0;
    const auto last = e.sum_bounds.in(*e.sum_levels, 0);
    epilogue_.own = (e.levels ? e.levels->scale(0) : 1) / result;
    epilogue_.other = e.other->scale(0) / result;
    epilogue_.offset = (low + e.other->low(0) - e.sum_levels->low(0)) / result;
    epilogue_.least = last.low;
    epilogue_.most = last.high;
  }

  ConvolutionAttrs attrs_;
  ConvolutionShape known_;
  std::string name_;
  U8Table in_;
  std::uint8_t pad_;
  std::optional<U8Table> other_, out_;
  std::shared_ptr<const ovir::Quantization> quantization_;
  i64 padded_outputs_;
  Buffer scales_, weights_;
  U8Epilogue epilogue_{};
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto convolution = static_convolution(graph, root);
  if (!convolution || convolution->open) return std::nullopt;
  const auto& s = convolution->shape;
  const bool depthwise = s.is_depthwise();
  if ((s.groups > 1 && !depthwise) || (depthwise && s.taps() > kMaxDepthwiseTaps)) return std::nullopt;
  const auto data = graph.input(root, 0);
  const auto in = levels_of(graph, data);
  if (!in || (!depthwise && !in->is_single())) return std::nullopt;
  const auto weights = i8_weights(graph, graph.input(root, 1), s.outputs);
  if (!weights) return std::nullopt;
  const auto zero = in->zero();
  if (!zero && (NarrowGeometry(s, 4).padded || depthwise)) return std::nullopt;
  Match match{{root}, {data}, nullptr};
  // What only an image's convolution reads is quantized as it is read.
  if (!depthwise && NarrowGeometry(s, 4).image && graph.type(data.node) == "FakeQuantize" &&
      graph.only_user(data) == root) {
    match.nodes = {data.node, root};
    match.inputs = {graph.input(data.node, 0)};
    if (!is_f32(graph, match.inputs[0])) return std::nullopt;
  }
  const auto ending = Follower(graph, match, convolution->rank, s.outputs).follow(!depthwise);
  match.kernel = std::make_unique<U8Convolution>(convolution->attrs, s, *weights, *in, zero.value_or(0), ending);
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_convolution",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_convolution
