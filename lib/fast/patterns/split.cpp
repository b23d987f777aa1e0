// Split and VariadicSplit, of any type. Parts that lie in the input are not copied; blocks of channels stay blocked.
#include <algorithm>

#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::split {
namespace {

class Split final : public Kernel {
 public:
  /// `whole_blocks`: it splits channels of f32 into parts of whole blocks.
  Split(i64 axis, bool whole_blocks) : axis_(axis), whole_blocks_(whole_blocks) {}

  std::string name() const override { return "split"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& whole = sizes.in[0];
    const auto fits = [&](const View& v) { return v.type == whole.type && v.rank() == whole.rank(); };
    return std::all_of(sizes.out.begin(), sizes.out.end(), fits) ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& from = in[0];
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
    if (is_blocked(from, sizes.out)) {
      if (part.layout != from.layout || from.dim(0) != 1) return std::nullopt;
      for (const auto& v : before) first += v.dim(1) / kBlock;
      return bytes_before(from, first);
    }
    if (outer_of(from, axis_) != 1) return std::nullopt;
    for (const auto& v : before) first += run_bytes(v, axis_);
    return first;
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || whole_blocks_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || whole_blocks_; }

 private:
  static bool is_blocked(const View& in, std::span<const View> out) {
    const auto blocked = [](const View& v) { return v.layout == Layout::blocked; };
    return blocked(in) || std::any_of(out.begin(), out.end(), blocked);
  }

  i64 axis_;
  bool whole_blocks_;
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
  bool whole_blocks = is_f32(graph, from) && along == 1 && shape.rank() >= 3 && shape.rank() <= 4;
  for (int o = 0; whole_blocks && o < outputs; ++o) {
    const auto& part = graph.fact({root, o}).shape;
    whole_blocks = part.is_static() && part[1].length() % kBlock == 0;
  }
  return Match{{root}, {from}, std::make_unique<Split>(along, whole_blocks)};
}

constexpr std::string_view kRoots[] = {"Split", "VariadicSplit"};

}  // namespace

extern constinit const Pattern pattern{.name = "split", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::split
