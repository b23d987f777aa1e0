// Slice-8 of neighboring elements along one axis, of any type. A part that lies in the input is not copied; blocks of
// channels stay blocked.
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/axis_part.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::slice {
namespace {

class Slice final : public Kernel {
 public:
  /// `first`: along the axis. `channels`: it takes channels of f32, `whole_blocks` whole blocks of them.
  Slice(i64 axis, i64 first, bool channels, bool whole_blocks)
      : axis_(axis), first_(first), channels_(channels), whole_blocks_(whole_blocks) {}

  std::string name() const override { return "slice"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &from = sizes.in[0], &to = sizes.out[0];
    return from.type == to.type && from.rank() == to.rank() && first_ + to.dim(axis_) <= from.dim(axis_)
               ? std::make_unique<KernelState>()
               : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &from = in[0], &to = out[0];
    if (is_blocked(from, to)) return join_channels(in.first(1), first_, to, runtime.pool());
    const auto row = run_bytes(from, axis_), run = run_bytes(to, axis_);
    copy_runs(from.data + before(from), row, to.data, run, run, outer_of(from, axis_), runtime.pool());
  }

  std::optional<i64> place_in_input(int, const Sizes& sizes) const override {
    const auto &from = sizes.in[0], &to = sizes.out[0];
    if (is_blocked(from, to)) {
      if (to.layout != from.layout || from.dim(0) != 1 || !are_blocks(from.type, first_, to.dim(1), from.dim(1)))
        return std::nullopt;
      return bytes_before(from, first_ / kBlock);
    }
    return outer_of(from, axis_) == 1 ? std::optional(before(from)) : std::nullopt;
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || whole_blocks_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || whole_blocks_; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && channels_;
  }
  bool writes_as(ElementType type, Layout layout) const override { return reads_as(0, type, layout); }
  bool keeps(ElementType type) const override { return type == ElementType::bf16; }

 private:
  static bool is_blocked(const View& from, const View& to) {
    return from.layout == Layout::blocked || to.layout == Layout::blocked;
  }
  i64 before(const View& from) const { return run_bytes(from, axis_) / from.dim(axis_) * first_; }

  i64 axis_, first_;
  bool channels_, whole_blocks_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto from = graph.input(root, 0);
  const auto& shape = graph.fact(from).shape;
  const auto part = is_bytes(graph.stored(from)) ? part_of_slice(graph, root) : std::nullopt;
  if (!part) return std::nullopt;
  const auto [axis, first, length] = *part;
  const bool channels = is_f32(graph, from) && axis == 1 && shape.rank() >= 3 && shape.rank() <= 4;
  const bool whole_blocks = channels && are_blocks(ElementType::f32, first, length, shape[axis].length());
  return Match{{root}, {from}, std::make_unique<Slice>(axis, first, channels, whole_blocks)};
}

constexpr std::string_view kRoots[] = {"Slice"};

}  // namespace

extern constinit const Pattern pattern{.name = "slice", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::slice
