// Slice-8 of neighboring elements along one axis, of any type. A part that lies in the input is not copied; blocks of
// channels stay blocked.
#include <algorithm>

#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::slice {
namespace {

class Slice final : public Kernel {
 public:
  /// `first`: along the axis. `whole_blocks`: it takes whole blocks of channels of f32.
  Slice(i64 axis, i64 first, bool whole_blocks) : axis_(axis), first_(first), whole_blocks_(whole_blocks) {}

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
      if (to.layout != from.layout || from.dim(0) != 1) return std::nullopt;
      return bytes_before(from, first_ / kBlock);
    }
    return outer_of(from, axis_) == 1 ? std::optional(before(from)) : std::nullopt;
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || whole_blocks_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || whole_blocks_; }

 private:
  static bool is_blocked(const View& from, const View& to) {
    return from.layout == Layout::blocked || to.layout == Layout::blocked;
  }
  i64 before(const View& from) const { return run_bytes(from, axis_) / from.dim(axis_) * first_; }

  i64 axis_, first_;
  bool whole_blocks_;
};

/// The only number of a constant of i32 or i64.
std::optional<i64> one_number(const Graphlet& graph, ValueRef v) {
  const auto* t = graph.constant(v);
  if (!t || t->size() != 1 || (t->type() != ElementType::i32 && t->type() != ElementType::i64)) return std::nullopt;
  return to_i64(*t)[0];
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto from = graph.input(root, 0);
  const auto &shape = graph.fact(from).shape, &out = graph.fact({root, 0}).shape;
  if (!is_bytes(graph.stored(from)) || !shape.has_rank() || !out.has_rank()) return std::nullopt;
  const auto start = one_number(graph, graph.input(root, 1)), step = one_number(graph, graph.input(root, 3));
  auto along = std::optional<i64>(0);
  if (const auto axes = graph.input(root, 4); axes.node >= 0) along = one_number(graph, axes);
  if (!start || step != 1 || !along) return std::nullopt;
  const auto axis = *along < 0 ? *along + shape.rank() : *along;
  if (axis < 0 || axis >= shape.rank() || !shape[axis].is_static() || !out[axis].is_static()) return std::nullopt;
  const auto length = shape[axis].length(), part = out[axis].length();
  const auto first = std::clamp<i64>(*start < 0 ? *start + length : *start, 0, length);
  if (part == 0) return std::nullopt;
  const bool whole_blocks =
      is_f32(graph, from) && axis == 1 && shape.rank() >= 3 && shape.rank() <= 4 && are_blocks(first, part, length);
  return Match{{root}, {from}, std::make_unique<Slice>(axis, first, whole_blocks)};
}

constexpr std::string_view kRoots[] = {"Slice"};

}  // namespace

extern constinit const Pattern pattern{.name = "slice", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::slice
