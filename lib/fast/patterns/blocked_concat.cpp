// Concat of channels in f32 between blocked values: whole blocks are copied.
#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/patterns.hpp"
#include "fast/patterns/functions.hpp"

namespace ovir::fast {
namespace {

class BlockedConcat final : public Kernel {
 public:
  std::string name() const override { return "blocked.concat"; }

  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }

  /// Mixed layouts: channels of each input come block by block, or plane by plane.
  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& to = out[0];
    i64 plane = 1;
    for (i64 i = 2; i < to.rank(); ++i) plane *= to.dim(i);
    const auto batch = to.dim(0), channels = to.dim(1), blocks = channels / kBlock;
    i64 first = 0;
    for (const auto& from : in) {
      const auto count = from.dim(1) / kBlock, before = first;
      first += count;
      parallel_ranges(runtime.pool(), batch * count, static_cast<double>(plane * kBlock) / 8, [&](i64 begin, i64 end) {
        for (auto i = begin; i < end; ++i) {
          const auto n = i / count, block = i % count;
          const auto* x = from.as<const float>() + (n * count + block) * plane * kBlock;
          auto* y = to.as<float>() + (n * blocks + before + block) * plane * kBlock;
          if (from.layout == to.layout) std::copy_n(x, plane * kBlock, y);
          else if (to.layout == Layout::blocked) isa().transpose(x, plane, y, kBlock, kBlock, plane);
          else isa().transpose(x, kBlock, y, plane, plane, kBlock);
        }
      });
    }
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
};

/// Whether it joins channels, of which each input has whole blocks.
bool joins_blocks(const Graphlet& graph, int root) {
  const auto& out = graph.fact({root, 0}).shape;
  if (!out.is_static() || out.rank() < 3 || out.rank() > 4) return false;
  i64 channels = 0;
  for (const auto& v : graph.node(root).inputs) {
    const auto& shape = graph.fact(v).shape;
    if (!is_f32(graph, v) || !shape.is_static() || shape.rank() != out.rank() || shape[1].length() % kBlock != 0)
      return false;
    for (i64 i = 0; i < out.rank(); ++i)
      if (i != 1 && shape[i].length() != out[i].length()) return false;
    channels += shape[1].length();
  }
  return channels == out[1].length();
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (!graph.options().steady() || !joins_blocks(graph, root)) return std::nullopt;
  return Match{{root}, graph.node(root).inputs, std::make_unique<BlockedConcat>()};
}

constexpr std::string_view kRoots[] = {"Concat"};

}  // namespace

constinit const Pattern kBlockedConcat{"blocked_concat", kRoots, match};

}  // namespace ovir::fast
