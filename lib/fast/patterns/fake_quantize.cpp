// FakeQuantize-1 in f32 whose limits are constants, one for all or one a channel; of blocked values too.
#include <algorithm>
#include <array>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast::patterns::fake_quantize {
namespace {

/// The limits by channel, or one of each, padded to whole blocks: lanes beyond the last channel become 0.
class Limits {
 public:
  Limits(const std::array<const Tensor*, 4>& given, i64 levels, i64 channels)
      : channels_(channels), padded_(round_up(channels, kBlock)), values_(7 * padded_) {
    steps_ = static_cast<float>(levels - 1);
    for (i64 c = 0; c < channels; ++c) {
      const auto at = [&](std::size_t i) { return given[i]->data<float>()[given[i]->size() == 1 ? 0 : c]; };
      const float low = at(0), high = at(1), out_low = at(2), out_high = at(3);
      const float list[] = {
          std::min(low, high), std::max(low, high), low, high - low, out_low, out_high - out_low, out_high};
      for (i64 k = 0; k < 7; ++k) values_.data()[k * padded_ + c] = list[k];
    }
  }

  i64 channels() const { return channels_; }
  QuantizeLimits from(i64 channel) const {
    const auto p = [&](i64 k) { return values_.data() + k * padded_ + channel; };
    return {p(0), p(1), p(2), p(3), p(4), p(5), p(6), steps_};
  }

 private:
  i64 channels_, padded_;
  Buffer values_;
  float steps_ = 0;
};

class FakeQuantize final : public Kernel {
 public:
  FakeQuantize(Limits limits, bool takes_blocks) : limits_(std::move(limits)), takes_blocks_(takes_blocks) {}

  std::string name() const override { return "quantize"; }

  /// Blocked values are computed where they are: both sides are, or neither.
  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    if (limits_.channels() > 1 && (x.rank() < 2 || x.dim(1) != limits_.channels())) return nullptr;
    auto state = std::make_unique<State>();
    if (x.layout != y.layout) state->aside = Buffer(x.dim(0) * round_up(x.dim(1), kBlock) * plane_of(x));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& pool = runtime.pool();
    const auto &x = in[0], &y = out[0];
    const auto* from = x.as<const float>();
    auto* to = y.as<float>();
    auto* aside = static_cast<State&>(prepared).aside.data();
    if (!aside) return compute(x, x.layout, from, to, pool);
    if (x.layout == Layout::plain) {
      to_blocked(from, aside, x.dim(0), x.dim(1), plane_of(x), pool);
      return compute(x, Layout::blocked, aside, to, pool);
    }
    compute(x, Layout::blocked, from, aside, pool);
    to_plain(aside, to, x.dim(0), x.dim(1), plane_of(x), pool);
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || takes_blocks_; }
  bool writes(Layout layout) const override { return layout == Layout::plain || takes_blocks_; }
  bool writes_over(int) const override { return true; }

 private:
  struct State final : KernelState {
    Buffer aside;
  };

  static i64 plane_of(const View& x) {
    i64 plane = 1;
    for (i64 i = 2; i < x.rank(); ++i) plane *= x.dim(i);
    return plane;
  }

  void compute(const View& x, Layout layout, const float* from, float* to, ThreadPool& pool) const {
    constexpr double kCost = 0.4;  // nanoseconds an element
    const auto& table = isa();
    if (layout == Layout::plain && limits_.channels() == 1)
      return parallel_ranges(pool, x.size(), kCost, [&](i64 begin, i64 end) {
        table.quantize(limits_.from(0), false, from + begin, to + begin, end - begin);
      });
    const bool lanes = layout == Layout::blocked;
    const auto count = lanes ? ceil_div(x.dim(1), kBlock) : x.dim(1), run = plane_of(x) * (lanes ? kBlock : 1);
    parallel_ranges(pool, x.dim(0) * count, kCost * static_cast<double>(run), [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i)
        table.quantize(limits_.from(i % count * (lanes ? kBlock : 1)), lanes, from + i * run, to + i * run, run);
    });
  }

  Limits limits_;
  bool takes_blocks_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  const auto& attrs = graph.attrs<FakeQuantizeAttrs>(root);
  if (!is_f32(graph, x) || !shape.has_rank() || !aligns_by_numpy(graph, root)) return std::nullopt;
  const bool has_channels = shape.rank() >= 2 && shape[1].is_static();
  const auto channels = has_channels ? shape[1].length() : 1;
  std::array<const Tensor*, 4> limits{};
  bool single = true;
  for (int i = 0; i < 4; ++i) {
    const auto v = graph.input(root, i + 1);
    const auto* t = graph.constant(v);
    if (!t || t->type() != ElementType::f32 || t->rank() > shape.rank()) return std::nullopt;
    if (t->size() != 1) {
      if (!has_channels || !per_channel(graph, v, shape.rank(), 1, channels)) return std::nullopt;
      single = false;
    }
    limits[i] = t;
  }
  // In blocks every lane has its own limits, so that those beyond the last channel stay 0.
  const bool blocks = shape.is_static() && (shape.rank() >= 3 && shape.rank() <= 5);
  return Match{{root},
               {x},
               std::make_unique<FakeQuantize>(Limits(limits, attrs.levels, single && !blocks ? 1 : channels), blocks)};
}

constexpr std::string_view kRoots[] = {"FakeQuantize"};

}  // namespace

extern constinit const Pattern pattern{.name = "fake_quantize", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::fake_quantize
