#include "fast/kit/int8_ending.hpp"

#include <algorithm>
#include <cmath>

#include "fast/kernels/epilogue_bf16.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/pooling.hpp"

namespace ovir::fast {

namespace {

Bounds in_levels(const Bounds& bounds, const Levels& levels, i64 channel, float factor, float offset) {
  const auto level = [&](float v) {
    const auto value = factor == 0 && std::isinf(v) ? v : v * factor + offset;  // no bound remains none
    return (value - levels.low(channel)) / levels.scale(channel);
  };
  const auto [low, high] = std::minmax({level(bounds.low), level(bounds.high)});
  return {std::clamp(low, 0.0f, levels.max_level), std::clamp(high, 0.0f, levels.max_level)};
}

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
    if (e.bounds == Bounds()) activation(e, e.activation, e.slopes);
    if (!e.is_activated()) e.pool = pool(e);
    const auto plain = e;
    const auto taken = nodes_;
    if (!e.pool) normalization(e);
    e.levels = levels(e);
    if (!e.levels && !e.factors.empty()) {
      e = plain;
      nodes_ = taken;
    }
    match_.nodes = nodes_;
    if (!may_add || e.pool || (e.levels && !e.levels->is_single())) return e;
    const auto add = user();
    if (graph_.type(add) != "Add") return e;
    const auto other = other_of(add);
    if (!is_residual(graph_, {nodes_.back(), 0}, other) || other.node == nodes_.back()) return e;
    auto sum = e;
    sum.adds = true;
    sum.other = levels_of(graph_, other);
    if (sum.other && !sum.other->is_single()) sum.other.reset();
    take(add, sum, "+residual");
    sum.sum_bounds = bounds(sum);
    if (sum.sum_bounds == Bounds()) activation(sum, sum.sum_activation, sum.sum_slopes);
    if (sum.is_activated() || !sum.factors.empty()) bounds_as_activation(sum);
    const auto nodes = nodes_;
    const auto name = sum.name;
    sum.sum_levels = levels(sum);
    if (sum.sum_levels && !sum.sum_levels->is_single()) {
      sum.sum_levels.reset();
      sum.name = name;
      nodes_ = nodes;
    }
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
  /// Any other activation.
  void activation(U8Ending& e, Unary& f, const Tensor*& slopes) {
    const auto found = activation_after(graph_, nodes_.back(), ChannelAxis{rank_, 1, channels_});
    if (!found || found->function.is_clamp()) return;
    f = found->function;
    slopes = found->slopes;
    nodes_.insert(nodes_.end(), found->nodes.begin(), found->nodes.end());
    e.name += found->name;
  }
  static void bounds_as_activation(U8Ending& e) {
    if (e.bounds == Bounds() || e.activation.f != Function::identity) return;
    e.activation = {Function::clamp, e.bounds.low, e.bounds.high};
    e.bounds = {};
  }
  /// Multiply and Add by channel, in front of a FakeQuantize.
  void normalization(U8Ending& e) {
    const auto found = channel_lines(graph_, user(), {nodes_.back(), 0}, rank_, channels_);
    if (!found) return;
    for (const auto node : found->nodes) take(node, e, "+" + std::string(graph_.type(node)));
    e.factors = found->factors;
    e.offsets = found->offsets;
  }
  /// A MaxPool that only a FakeQuantize reads, which levels() then takes.
  std::optional<ConvolutionShape> pool(U8Ending& e) {
    const auto next = user();
    if (graph_.type(next) != "MaxPool" || (graph_.node(next).version->outputs.size() > 1 && graph_.is_read({next, 1})))
      return std::nullopt;
    const auto reader = graph_.only_user({next, 0});
    const auto &in = graph_.fact({nodes_.back(), 0}).shape, &out = graph_.fact({next, 0}).shape;
    if (graph_.type(reader) != "FakeQuantize" || graph_.input(reader, 0).node != next || !in.is_static() ||
        in.rank() != 4 || !out.is_static())
      return std::nullopt;
    const auto quantized = levels_of(graph_, {reader, 0});
    const auto pooled = pooled_shape(graph_.attrs<PoolAttrs>(next), in.to_shape(), out.to_shape());
    if (!quantized || !quantized->is_single() || !pooled) return std::nullopt;
    take(next, e, "+MaxPool");
    return pooled->shape;
  }
  std::optional<Levels> levels(U8Ending& e) {
    const auto next = user();
    if (graph_.type(next) != "FakeQuantize" || graph_.input(next, 0).node != nodes_.back()) return std::nullopt;
    auto found = levels_of(graph_, {next, 0});
    if (!found) return std::nullopt;
    take(next, e, "+FakeQuantize");
    return found;
  }

  const Graphlet& graph_;
  Match& match_;
  i64 rank_, channels_;
  std::vector<int> nodes_;
};

}  // namespace

bool U8Ending::activates_in_loops() const {
  return levels && !adds && (activation.f == Function::prelu || bf16_computes(activation.shortened().f));
}

Bounds U8Ending::level_bounds(i64 channel) const {
  if (factors.empty()) return in_levels(bounds, *levels, channel, 1, 0);
  return in_levels(bounds, *levels, channel, factors[channel], offsets[channel]);
}

Bounds U8Ending::sum_level_bounds() const { return in_levels(sum_bounds, *sum_levels, 0, 1, 0); }

U8Ending take_u8_ending(const Graphlet& graph, Match& match, i64 rank, i64 channels, bool may_add) {
  return Follower(graph, match, rank, channels).follow(may_add);
}

}  // namespace ovir::fast
