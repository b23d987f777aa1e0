// FakeQuantize-1 that no other kernel takes, onto levels in u8: for Precision::int8.
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast::patterns::int8_quantize {
namespace {

class U8Quantize final : public Kernel {
 public:
  U8Quantize(const Levels& levels, i64 channels) : quantization_(levels.quantization), table_(levels, channels) {}

  std::string name() const override { return "int8.quantize"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto& x = sizes.in[0];
    if (sizes.out[0].type == ElementType::f32)
      state->levels = state->reserve(x.dim(0) * u8_blocks(x.dim(1)) * plane_of(x) * kBlock);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &x = in[0], &y = out[0];
    auto* levels = state.levels ? reinterpret_cast<std::uint8_t*>(state.floats(state.levels))
                                : reinterpret_cast<std::uint8_t*>(y.data);
    auto& pool = runtime.pool();
    to_u8_blocked(x.as<const float>(), x.layout == Layout::blocked, table_.scale(), levels, x.dim(0), x.dim(1),
                  plane_of(x), pool);
    if (state.levels)
      from_u8_blocked(levels, table_.scale(), y.as<float>(), y.layout == Layout::blocked, x.dim(0), x.dim(1),
                      plane_of(x), pool);
  }

  bool reads(int, Layout) const override { return true; }
  bool writes(Layout) const override { return true; }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return quantization_; }

 private:
  struct State final : KernelState {
    Scratch levels;
  };
  static i64 plane_of(const View& x) { return x.size() / (x.dim(0) * x.dim(1)); }

  std::shared_ptr<const ovir::Quantization> quantization_;
  U8Table table_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.is_static() || shape.rank() < 3 || shape.rank() > 4) return std::nullopt;
  const auto levels = levels_of(graph, {root, 0});
  if (!levels || !levels->zero() || *levels->zero() > levels->max_level) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<U8Quantize>(*levels, shape[1].length())};
}

constexpr std::string_view kRoots[] = {"FakeQuantize"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_quantize",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_quantize
