// Pad of f32 by one number on known sides. What is padded by nothing is not copied.
#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::pad {
namespace {

class PadKernel final : public Kernel {
 public:
  PadKernel(std::vector<i64> begin, std::vector<i64> end, float value)
      : begin_(std::move(begin)), end_(std::move(end)), value_(value) {
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
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &from = in[0], &to = out[0];
    const auto* x = from.as<const float>();
    if (x == to.as<const float>() || to.size() == 0) return;
    i64 inner = 1, rows = 1;
    for (i64 i = last_ + 1; i < to.rank(); ++i) inner *= to.dim(i);
    for (i64 i = 0; i < last_; ++i) rows *= to.dim(i);
    const auto row = to.dim(last_) * inner, before = begin_[last_] * inner, length = from.dim(last_) * inner;
    constexpr double kNanoseconds = 0.5;  // a float
    parallel_ranges(runtime.pool(), rows, static_cast<double>(row) * kNanoseconds, [&](i64 first, i64 end) {
      for (auto r = first; r < end; ++r) {
        // The row of the input, if there is one.
        i64 source = 0, stride = 1;
        bool within = length > 0;
        for (i64 i = last_ - 1, rest = r; i >= 0; --i) {
          const auto at = rest % to.dim(i) - begin_[i];
          rest /= to.dim(i);
          within = within && at >= 0 && at < from.dim(i);
          source += at * stride;
          stride *= from.dim(i);
        }
        auto* line = to.as<float>() + r * row;
        if (!within) {
          std::fill_n(line, row, value_);
          continue;
        }
        std::fill_n(line, before, value_);
        std::copy_n(x + source * length, length, line + before);
        std::fill_n(line + before + length, row - before - length, value_);
      }
    });
  }

  std::optional<i64> place_in_input(int, const Sizes&) const override {
    return nothing_ ? std::optional<i64>(0) : std::nullopt;
  }

 private:
  std::vector<i64> begin_, end_;
  float value_;
  i64 last_ = std::ssize(begin_) - 1;
  bool nothing_ = false;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() == 0) return std::nullopt;
  if (graph.attrs<PadAttrs>(root).pad_mode != PadMode::constant) return std::nullopt;
  std::vector<i64> sides[2];
  for (int side = 0; side < 2; ++side) {
    const auto* pads = graph.constant(graph.input(root, side + 1));
    if (!pads || pads->size() != shape.rank()) return std::nullopt;
    sides[side] = to_i64(*pads);
    if (std::ranges::any_of(sides[side], [](i64 n) { return n < 0; })) return std::nullopt;
  }
  float value = 0;
  if (const auto given = graph.input(root, 3); given.node >= 0) {
    const auto* number = graph.constant(given);
    if (!number || number->type() != ElementType::f32 || number->size() != 1) return std::nullopt;
    value = *number->data<float>();
  }
  return Match{{root}, {x}, std::make_unique<PadKernel>(std::move(sides[0]), std::move(sides[1]), value)};
}

constexpr std::string_view kRoots[] = {"Pad"};

}  // namespace

extern constinit const Pattern pattern{.name = "pad", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::pad
