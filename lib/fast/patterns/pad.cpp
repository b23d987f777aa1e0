// Pad on known sides, by one value or by what lies there. What is padded by nothing is not copied; planes of f32 are
// padded in blocks of channels, too.
#include <algorithm>
#include <array>
#include <cstring>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/movement/parts.hpp"
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

/// The bytes of one element.
using Element = std::array<std::byte, 8>;

class PadKernel final : public Kernel {
 public:
  /// `blocked`: neither batch nor channels are padded, and lanes beyond the last channel stay zeros.
  PadKernel(PadMode mode, std::vector<i64> begin, std::vector<i64> end, Element value, bool blocked)
      : mode_(mode), begin_(std::move(begin)), end_(std::move(end)), value_(value), blocked_(blocked) {
    // Axes behind the last one that is padded lie together with it.
    const auto padded = [&](i64 i) { return begin_[i] != 0 || end_[i] != 0; };
    while (last_ > 0 && !padded(last_)) --last_;
    nothing_ = !padded(last_);
  }

  std::string name() const override { return "pad"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    if (in.rank() != std::ssize(begin_) || out.rank() != in.rank() || in.type != out.type) return nullptr;
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
    const auto* x = in[0].data;
    auto* y = out[0].data;
    auto& pool = runtime.pool();
    if (x == y) return;
    if (state.in) {
      const auto reorder = out[0].layout == Layout::blocked ? to_blocked : to_plain;
      const auto batch = in[0].dim(0), channels = in[0].dim(1);
      auto* room = state.floats(state.in);
      reorder(in[0].as<const float>(), room, batch, channels, in[0].size() / (batch * channels), pool, 1);
      x = reinterpret_cast<const std::byte*>(room);
    }
    switch (byte_width(out[0].type)) {
      case 1: return pad<std::uint8_t>(state, x, y, pool);
      case 2: return pad<std::uint16_t>(state, x, y, pool);
      case 4: return pad<std::uint32_t>(state, x, y, pool);
      default: return pad<std::uint64_t>(state, x, y, pool);
    }
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

  template <class Word>
  void pad(const State& state, const std::byte* in, std::byte* out, ThreadPool& pool) const {
    const auto &from = state.from, &to = state.to;
    const auto* x = reinterpret_cast<const Word*>(in);
    auto* y = reinterpret_cast<Word*>(out);
    Word value;
    std::memcpy(&value, value_.data(), sizeof value);
    i64 inner = 1, rows = 1;
    for (i64 i = last_ + 1; i < std::ssize(to); ++i) inner *= to[i];
    for (i64 i = 0; i < last_; ++i) rows *= to[i];
    const auto before = begin_[last_], length = from[last_], row = to[last_];
    const auto lines = last_ > 0 ? to[last_ - 1] : 1;  // of a plane, which is found once for all of them
    constexpr double kNanoseconds = 0.125;             // a byte
    const auto cost = 5 + static_cast<double>(row * inner * i64{sizeof(Word)}) * kNanoseconds;
    parallel_ranges(pool, rows, cost, [&](i64 first, i64 end) {
      i64 plane = 0;
      for (auto r = first, at_line = first % lines; r < end; ++r, ++at_line) {
        if (at_line == lines) at_line = 0;
        if (r == first || at_line == 0) plane = plane_of(state, r / lines);
        // The row of the input, if there is one.
        const auto line_of = last_ > 0 ? source_of(mode_, at_line - begin_[last_ - 1], from[last_ - 1]) : 0;
        auto* line = y + r * row * inner;
        if (plane < 0 || line_of < 0) {
          std::fill_n(line, row * inner, value);
          continue;
        }
        const auto* whole = x + (plane * (last_ > 0 ? from[last_ - 1] : 1) + line_of) * length * inner;
        const auto beside = [&](i64 begin, i64 count) {
          if (mode_ == PadMode::constant) return void(std::fill_n(line + begin * inner, count * inner, value));
          for (auto i = begin; i < begin + count; ++i) {
            const auto* element = whole + source_of(mode_, i - before, length) * inner;
            if (inner == 1) line[i] = *element;
            else std::copy_n(element, inner, line + i * inner);
          }
        };
        if (before > 0) beside(0, before);
        std::copy_n(whole, length * inner, line + before * inner);
        if (row > before + length) beside(before + length, row - before - length);
      }
    });
  }

  /// The plane of the input that plane `i` of the output is made of, of the axes but for the last two that are padded;
  /// -1: none.
  i64 plane_of(const State& state, i64 i) const {
    i64 source = 0, stride = 1;
    for (auto d = last_ - 2; d >= 0; --d) {
      const auto at = source_of(mode_, i % state.to[d] - begin_[d], state.from[d]);
      if (at < 0) return -1;
      i /= state.to[d];
      source += at * stride;
      stride *= state.from[d];
    }
    return source;
  }

  PadMode mode_;
  std::vector<i64> begin_, end_;
  Element value_;
  bool blocked_;
  i64 last_ = std::ssize(begin_) - 1;
  bool nothing_ = false;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  const auto type = graph.stored(x);
  if (!is_bytes(type) || byte_width(type) > 8 || !shape.has_rank() || shape.rank() == 0) return std::nullopt;
  const auto mode = graph.attrs<PadAttrs>(root).pad_mode;
  std::vector<i64> sides[2];
  for (int side = 0; side < 2; ++side) {
    const auto* pads = graph.constant(graph.input(root, side + 1));
    if (!pads || pads->size() != shape.rank()) return std::nullopt;
    sides[side] = to_i64(*pads);
    if (std::ranges::any_of(sides[side], [](i64 n) { return n < 0; })) return std::nullopt;
  }
  Element value{};
  if (const auto given = graph.input(root, 3); given.node >= 0 && mode == PadMode::constant) {
    const auto* number = graph.constant(given);
    if (!number || number->type() != type || number->size() != 1) return std::nullopt;
    std::memcpy(value.data(), number->bytes(), byte_width(type));
  }
  const auto rank = shape.rank();
  const auto untouched = [&](i64 axis) { return sides[0][axis] == 0 && sides[1][axis] == 0; };
  const bool fills_zeros = mode != PadMode::constant || value == Element{};
  const bool blocked = is_f32(graph, x) && rank >= 3 && rank <= 5 && untouched(0) && untouched(1) && fills_zeros;
  return Match{
      {root}, {x}, std::make_unique<PadKernel>(mode, std::move(sides[0]), std::move(sides[1]), value, blocked)};
}

constexpr std::string_view kRoots[] = {"Pad"};

}  // namespace

extern constinit const Pattern pattern{.name = "pad", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::pad
