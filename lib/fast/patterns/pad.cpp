// Pad of f32 on known sides, by one number or by what lies there. What is padded by nothing is not copied; planes are
// padded in blocks of channels, too.
#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::pad {
namespace {

/// The place along an axis of `length` that place `at`, which may lie beside it, is copied from; -1: none.
i64 source_of(PadMode mode, i64 at, i64 length) {
  if (at >= 0 && at < length) return at;
  switch (mode) {
    case PadMode::edge: return std::clamp<i64>(at, 0, length - 1);
    case PadMode::reflect: return at < 0 ? -at : 2 * (length - 1) - at;
    case PadMode::symmetric: return at < 0 ? -at - 1 : 2 * length - 1 - at;
    default: return -1;
  }
}

class PadKernel final : public Kernel {
 public:
  /// `blocked`: neither batch nor channels are padded, and lanes beyond the last channel stay zeros.
  PadKernel(PadMode mode, std::vector<i64> begin, std::vector<i64> end, float value, bool blocked)
      : mode_(mode), begin_(std::move(begin)), end_(std::move(end)), value_(value), blocked_(blocked) {
    // Axes behind the last one that is padded lie together with it.
    const auto padded = [&](i64 i) { return begin_[i] != 0 || end_[i] != 0; };
    while (last_ > 0 && !padded(last_)) --last_;
    nothing_ = !padded(last_);
  }

  std::string name() const override { return "pad"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    if (in.rank() != std::ssize(begin_) || out.rank() != in.rank()) return nullptr;
    for (i64 i = 0; i < in.rank(); ++i)
      if (in.dim(i) + begin_[i] + end_[i] != out.dim(i)) return nullptr;
    auto state = std::make_unique<State>();
    state->from.assign(in.dims.begin(), in.dims.end());
    state->to.assign(out.dims.begin(), out.dims.end());
    if (out.layout == Layout::blocked)
      for (auto* dims : {&state->from, &state->to}) {
        (*dims)[1] = (in.dim(1) + kBlock - 1) / kBlock;
        dims->push_back(kBlock);
      }
    if (in.layout != out.layout) {
      i64 size = 1;
      for (const auto d : state->from) size *= d;
      state->in = state->reserve(size);
    }
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto &from = state.from, &to = state.to;
    const auto* x = in[0].as<const float>();
    auto* y = out[0].as<float>();
    if (x == y) return;
    if (state.in) {
      const auto reorder = out[0].layout == Layout::blocked ? to_blocked : to_plain;
      const auto batch = in[0].dim(0), channels = in[0].dim(1);
      reorder(x, state.floats(state.in), batch, channels, in[0].size() / (batch * channels), runtime.pool(), 1);
      x = state.floats(state.in);
    }
    i64 inner = 1, rows = 1;
    for (i64 i = last_ + 1; i < std::ssize(to); ++i) inner *= to[i];
    for (i64 i = 0; i < last_; ++i) rows *= to[i];
    const auto before = begin_[last_], length = from[last_], row = to[last_];
    constexpr double kNanoseconds = 0.5;  // a float
    parallel_ranges(runtime.pool(), rows, static_cast<double>(row * inner) * kNanoseconds, [&](i64 first, i64 end) {
      for (auto r = first; r < end; ++r) {
        // The row of the input, if there is one.
        i64 source = 0, stride = 1;
        bool within = true;
        for (i64 i = last_ - 1, rest = r; i >= 0; --i) {
          const auto at = source_of(mode_, rest % to[i] - begin_[i], from[i]);
          rest /= to[i];
          within = within && at >= 0;
          source += at * stride;
          stride *= from[i];
        }
        auto* line = y + r * row * inner;
        if (!within) {
          std::fill_n(line, row * inner, value_);
          continue;
        }
        const auto* whole = x + source * length * inner;
        const auto beside = [&](i64 i) {
          const auto at = source_of(mode_, i - before, length);
          if (at < 0) std::fill_n(line + i * inner, inner, value_);
          else std::copy_n(whole + at * inner, inner, line + i * inner);
        };
        for (i64 i = 0; i < before; ++i) beside(i);
        std::copy_n(whole, length * inner, line + before * inner);
        for (auto i = before + length; i < row; ++i) beside(i);
      }
    });
  }

  std::optional<i64> place_in_input(int, const Sizes& sizes) const override {
    return nothing_ && sizes.in[0].layout == sizes.out[0].layout ? std::optional<i64>(0) : std::nullopt;
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || blocked_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || blocked_; }

 private:
  struct State final : KernelState {
    std::vector<i64> from, to;  ///< dims as they lie in memory
    Scratch in;
  };

  PadMode mode_;
  std::vector<i64> begin_, end_;
  float value_;
  bool blocked_;
  i64 last_ = std::ssize(begin_) - 1;
  bool nothing_ = false;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() == 0) return std::nullopt;
  const auto mode = graph.attrs<PadAttrs>(root).pad_mode;
  std::vector<i64> sides[2];
  for (int side = 0; side < 2; ++side) {
    const auto* pads = graph.constant(graph.input(root, side + 1));
    if (!pads || pads->size() != shape.rank()) return std::nullopt;
    sides[side] = to_i64(*pads);
    if (std::ranges::any_of(sides[side], [](i64 n) { return n < 0; })) return std::nullopt;
  }
  float value = 0;
  if (const auto given = graph.input(root, 3); given.node >= 0 && mode == PadMode::constant) {
    const auto* number = graph.constant(given);
    if (!number || number->type() != ElementType::f32 || number->size() != 1) return std::nullopt;
    value = *number->data<float>();
  }
  const auto rank = shape.rank();
  const auto untouched = [&](i64 axis) { return sides[0][axis] == 0 && sides[1][axis] == 0; };
  const bool blocked =
      rank >= 3 && rank <= 5 && untouched(0) && untouched(1) && (mode != PadMode::constant || value == 0);
  return Match{
      {root}, {x}, std::make_unique<PadKernel>(mode, std::move(sides[0]), std::move(sides[1]), value, blocked)};
}

constexpr std::string_view kRoots[] = {"Pad"};

}  // namespace

extern constinit const Pattern pattern{.name = "pad", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::pad
