// LRN of f32 over one axis, or over the last two.
#include "fast/kernels/normalization/lrn.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::lrn {
namespace {

class Lrn final : public Kernel {
 public:
  /// `axis`, or the last two.
  Lrn(const LrnAttrs& attrs, i64 axis, bool plane) : attrs_(attrs), axis_(axis), plane_(plane) {}

  std::string name() const override { return "lrn"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    if (sizes.in[0].rank() <= axis_ + (plane_ ? 1 : 0)) return nullptr;
    auto state = std::make_unique<State>();
    state->squares = state->reserve(lrn_scratch(described(sizes.in[0])) * slots_for(runtime.pool()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    fast::lrn(described(in[0]), in[0].as<const float>(), out[0].as<float>(), state.floats(state.squares),
              runtime.pool());
  }

 private:
  struct State final : KernelState {
    Scratch squares;
  };

  LocalResponse described(const View& x) const {
    const auto size = static_cast<double>(attrs_.size);
    const AroundAxis a(x.dims, axis_);
    return {.outer = a.outer,
            .n = a.length,
            .inner = a.inner,
            .half = std::min(attrs_.size / 2, x.size()),
            .plane = plane_,
            .scale = static_cast<float>(attrs_.alpha / (plane_ ? size * size : size)),
            .bias = static_cast<float>(attrs_.bias),
            .beta = static_cast<float>(attrs_.beta)};
  }

  LrnAttrs attrs_;
  i64 axis_;
  bool plane_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kWidest = 256;  // every element of the window is read
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  const auto& attrs = graph.attrs<LrnAttrs>(root);
  if (!is_f32(graph, x) || !shape.has_rank() || attrs.size > kWidest) return std::nullopt;
  auto axes = constant_axes(graph, graph.input(root, 1), shape.rank());
  if (!axes || axes->empty() || axes->size() > 2) return std::nullopt;
  std::sort(axes->begin(), axes->end());
  const bool plane = axes->size() == 2;
  if (plane && (axes->front() != shape.rank() - 2 || axes->back() != shape.rank() - 1)) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<Lrn>(attrs, axes->front(), plane)};
}

constexpr std::string_view kRoots[] = {"LRN"};

}  // namespace

extern constinit const Pattern pattern{.name = "lrn", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::lrn
