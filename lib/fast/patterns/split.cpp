// Split and VariadicSplit, of any type. Parts that lie in the input are not copied; blocks of channels stay blocked.
#include <algorithm>

#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast::patterns::split {
namespace {

class Split final : public Kernel {
 public:
  /// `channels`: it splits channels of f32, `whole_blocks` into parts of whole blocks; `levels` of channels that may be
  /// u8.
  Split(i64 axis, bool channels, bool whole_blocks, std::optional<ChannelLevels> levels)
      : axis_(axis), channels_(channels), whole_blocks_(whole_blocks), levels_(std::move(levels)) {}

  std::string name() const override { return "split"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& whole = sizes.in[0];
    if (has_levels(sizes)) {
      auto state = std::make_unique<State>();
      if (whole.type == ElementType::f32) state->in = state->reserve(ChannelLevels::words(whole));
      for (const auto& v : sizes.out)
        state->out.push_back(v.type == ElementType::f32 ? state->reserve(ChannelLevels::words(v)) : Scratch());
      return state;
    }
    const auto fits = [&](const View& v) { return v.type == whole.type && v.rank() == whole.rank(); };
    return std::all_of(sizes.out.begin(), sizes.out.end(), fits) ? std::make_unique<State>() : nullptr;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& from = in[0];
    if (has_levels({in, out})) return split_levels(static_cast<State&>(prepared), from, out, runtime.pool());
    if (is_blocked(from, out)) {
      i64 first = 0;
      for (const auto& to : out) {
        join_channels(in, first, to, runtime.pool());
        first += to.dim(1);
      }
      return;
    }
    const auto outer = outer_of(from, axis_), row = run_bytes(from, axis_);
    const auto* at = from.data;
    for (const auto& to : out) {
      const auto run = run_bytes(to, axis_);
      copy_runs(at, row, to.data, run, run, outer, runtime.pool());
      at += run;
    }
  }

  std::optional<i64> place_in_input(int output, const Sizes& sizes) const override {
    const auto& from = sizes.in[0];
    const auto& part = sizes.out[output];
    const auto before = sizes.out.first(output);
    i64 first = 0;
    if (has_levels(sizes) && (part.type != ElementType::u8 || from.type != ElementType::u8)) return std::nullopt;
    if (is_blocked(from, sizes.out)) {
      if (part.layout != from.layout || from.dim(0) != 1) return std::nullopt;
      for (const auto& v : before) first += v.dim(1);
      if (!are_blocks(from.type, first, part.dim(1), from.dim(1))) return std::nullopt;
      return bytes_before(from, first / kBlock);
    }
    if (outer_of(from, axis_) != 1) return std::nullopt;
    for (const auto& v : before) first += run_bytes(v, axis_);
    return first;
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || whole_blocks_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || whole_blocks_; }
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
    Scratch in;
    std::vector<Scratch> out;
  };

  /// Whether one of them is u8, as blocks of levels.
  bool has_levels(const Sizes& sizes) const {
    const auto is_u8 = [](const View& v) { return v.type == ElementType::u8; };
    return levels_ && (is_u8(sizes.in[0]) || std::any_of(sizes.out.begin(), sizes.out.end(), is_u8));
  }
  void split_levels(State& state, const View& from, std::span<const View> out, ThreadPool& pool) const {
    const NarrowChannels whole{levels_->take(from, state.in ? state.floats(state.in) : nullptr, pool), from.dim(1)};
    const auto plane = from.size() / (from.dim(0) * from.dim(1));
    i64 first = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& to = out[i];
      auto* y = state.out[i] ? reinterpret_cast<std::byte*>(state.floats(state.out[i])) : to.data;
      join_channels({&whole, 1}, first, y, to.dim(1), to.dim(0), plane, pool);
      if (state.out[i]) levels_->give(y, to, pool);
      first += to.dim(1);
    }
  }

  static bool is_blocked(const View& in, std::span<const View> out) {
    const auto blocked = [](const View& v) { return v.layout == Layout::blocked; };
    return blocked(in) || std::any_of(out.begin(), out.end(), blocked);
  }

  i64 axis_;
  bool channels_, whole_blocks_;
  std::optional<ChannelLevels> levels_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto from = graph.input(root, 0);
  const auto& shape = graph.fact(from).shape;
  const auto type = graph.stored(from);
  if (!is_bytes(type) || !shape.has_rank()) return std::nullopt;
  const auto axis = constant_axes(graph, graph.input(root, 1), shape.rank());
  if (!axis || axis->size() != 1) return std::nullopt;
  if (const auto lengths = graph.input(root, 2); lengths.node >= 0 && !graph.constant(lengths)) return std::nullopt;
  const auto along = axis->front();
  const auto outputs = static_cast<int>(graph.node(root).layer->outputs.size());
  bool channels = is_f32(graph, from) && along == 1 && shape.rank() >= 3 && shape.rank() <= 4;
  bool whole_blocks = channels;
  for (int o = 0; channels && o < outputs; ++o) {
    const auto& part = graph.fact({root, o}).shape;
    channels = part.is_static();
    whole_blocks = whole_blocks && channels && part[1].length() % kBlock == 0;
  }
  return Match{
      {root}, {from}, std::make_unique<Split>(along, channels, whole_blocks, channel_levels(graph, from, along))};
}

constexpr std::string_view kRoots[] = {"Split", "VariadicSplit"};

}  // namespace

extern constinit const Pattern pattern{.name = "split", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::split
