// Concat, of any type. Inputs that lie in the output from the start are not copied; blocked channels stay blocked.
#include <algorithm>

#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::concat {
namespace {

class Concat final : public Kernel {
 public:
  /// `channels`: it joins channels of f32, which may be blocked; `levels` of channels that may be u8, `raised` by so
  /// many where an input has its own.
  Concat(i64 axis, bool channels, std::optional<ChannelLevels> levels, std::vector<std::uint8_t> raised)
      : axis_(axis), channels_(channels), levels_(std::move(levels)), raised_(std::move(raised)) {}

  std::string name() const override { return "concat"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& out = sizes.out[0];
    if (has_levels(sizes)) {
      auto state = std::make_unique<State>();
      for (std::size_t i = 0; i < sizes.in.size(); ++i) {
        const auto& v = sizes.in[i];
        const bool wide = v.type == ElementType::f32;
        state->in.push_back(wide ? state->reserve(ChannelLevels::words(v)) : Scratch());
        state->parts.push_back({nullptr, v.dim(1), wide ? std::uint8_t{0} : raised_[i]});
      }
      if (out.type == ElementType::f32) state->out = state->reserve(ChannelLevels::words(out));
      return state;
    }
    const auto fits = [&](const View& v) { return v.type == out.type && v.rank() == out.rank(); };
    return std::all_of(sizes.in.begin(), sizes.in.end(), fits) ? std::make_unique<State>() : nullptr;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& to = out[0];
    if (has_levels({in, out})) return join_levels(static_cast<State&>(prepared), in, to, runtime.pool());
    if (is_blocked(in, to)) return join_channels(in, 0, to, runtime.pool());
    constexpr i64 kShortRow = 1024;  // bytes
    const auto outer = outer_of(to, axis_), row = run_bytes(to, axis_);
    if (outer > 1 && row <= kShortRow) return join_runs(in, axis_, to, runtime.pool());
    auto* at = to.data;
    for (const auto& from : in) {
      const auto run = run_bytes(from, axis_);
      copy_runs(from.data, run, at, row, run, outer, runtime.pool());
      at += run;
    }
  }

  std::optional<i64> place_in_output(int input, const Sizes& sizes) const override {
    const auto& to = sizes.out[0];
    const auto& part = sizes.in[input];
    const auto before = sizes.in.first(input);
    i64 first = 0;
    if (has_levels(sizes) && (part.type != ElementType::u8 || to.type != ElementType::u8 || raised_[input] > 0))
      return std::nullopt;
    if (is_blocked(sizes.in, to)) {
      if (part.layout != to.layout || to.dim(0) != 1) return std::nullopt;
      for (const auto& v : before) first += v.dim(1);
      if (!are_blocks(to.type, first, part.dim(1), to.dim(1))) return std::nullopt;
      return bytes_before(to, first / kBlock);
    }
    if (outer_of(to, axis_) != 1) return std::nullopt;
    for (const auto& v : before) first += run_bytes(v, axis_);
    return first;
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || channels_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || channels_; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return layout == Layout::blocked && (type == ElementType::bf16 ? channels_ : type == ElementType::u8 && levels_);
  }
  bool writes_as(ElementType type, Layout layout) const override { return reads_as(0, type, layout); }
  bool keeps(ElementType type) const override { return type == ElementType::bf16; }
  std::shared_ptr<const ovir::Quantization> quantization() const override {
    return levels_ ? levels_->quantization() : nullptr;
  }

 private:
  struct State final : KernelState {
    std::vector<Scratch> in;
    Scratch out;
    std::vector<NarrowChannels> parts;
  };

  /// Whether one of them is u8, as blocks of levels.
  bool has_levels(const Sizes& sizes) const {
    const auto is_u8 = [](const View& v) { return v.type == ElementType::u8; };
    return levels_ && (is_u8(sizes.out[0]) || std::any_of(sizes.in.begin(), sizes.in.end(), is_u8));
  }
  void join_levels(State& state, std::span<const View> in, const View& to, ThreadPool& pool) const {
    for (std::size_t i = 0; i < in.size(); ++i)
      state.parts[i].data = levels_->take(in[i], state.in[i] ? state.floats(state.in[i]) : nullptr, pool);
    auto* y = state.out ? reinterpret_cast<std::byte*>(state.floats(state.out)) : to.data;
    join_channels(state.parts, 0, y, to.dim(1), to.dim(0), to.size() / (to.dim(0) * to.dim(1)), pool);
    if (state.out) levels_->give(y, to, pool);
  }

  static bool is_blocked(std::span<const View> in, const View& out) {
    const auto blocked = [](const View& v) { return v.layout == Layout::blocked; };
    return blocked(out) || std::any_of(in.begin(), in.end(), blocked);
  }

  i64 axis_;
  bool channels_;
  std::optional<ChannelLevels> levels_;
  std::vector<std::uint8_t> raised_;
};

/// Whether it joins channels, few of which leave a block that is mostly empty.
bool joins_channels(const Graphlet& graph, int root, i64 axis) {
  constexpr i64 kFew = 8;
  const auto& out = graph.fact({root, 0}).shape;
  if (axis != 1 || out.rank() < 3 || out.rank() > 5) return false;
  const auto& inputs = graph.node(root).inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](ValueRef v) {
    const auto& shape = graph.fact(v).shape;
    return is_f32(graph, v) && shape.is_static() && shape[1].length() >= kFew;
  });
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto type = graph.stored({root, 0});
  const auto& shape = graph.fact({root, 0}).shape;
  if (!is_bytes(type) || !shape.has_rank()) return std::nullopt;
  auto axis = graph.attrs<ConcatAttrs>(root).axis;
  if (axis < 0) axis += shape.rank();
  auto levels = channel_levels(graph, {root, 0}, axis);
  std::vector<std::uint8_t> raised;
  for (const auto& part : graph.node(root).inputs)
    if (levels) raised.push_back(*levels_of(graph, part)->above(*levels_of(graph, {root, 0})));
  return Match{{root},
               graph.node(root).inputs,
               std::make_unique<Concat>(axis, joins_channels(graph, root, axis), std::move(levels), std::move(raised))};
}

constexpr std::string_view kRoots[] = {"Concat"};

}  // namespace

extern constinit const Pattern pattern{.name = "concat", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::concat
