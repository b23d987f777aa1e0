// DFT, IDFT, RDFT and IRDFT of f32 along axes, and to sizes, that are known.
#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/signals/fourier.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::fourier {
namespace {

struct Transform {
  std::vector<i64> axes, sizes;  ///< in the order in which they are transformed; size -1: as it is
  std::size_t halved;            ///< which is the real axis; beyond the last: none
  bool real_in, real_out, inverse;
};

class FourierKernel final : public Kernel {
 public:
  explicit FourierKernel(Transform transform) : transform_(std::move(transform)) {}

  std::string name() const override { return "fourier"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    i64 longest = 0, between = 0;
    Shape shape(sizes.in[0].dims.begin(), sizes.in[0].dims.end());
    if (!transform_.real_in) shape.pop_back();
    for (std::size_t i = 0; i < transform_.axes.size(); ++i) {
      const auto axis = transform_.axes[i], size = transform_.sizes[i];
      if (axis >= std::ssize(shape)) return nullptr;
      const bool halved = i == transform_.halved, first = i == 0, last = i + 1 == transform_.axes.size();
      const AroundAxis a(shape, axis);
      FourierLines f{a.outer,
                     a.length,
                     0,
                     a.inner,
                     transform_.real_in && first,
                     transform_.real_out && last,
                     halved && transform_.inverse,
                     transform_.inverse};
      auto n = f.half ? 2 * (f.from - 1) : f.from;
      if (size != -1) n = size;
      if (!can_transform(n)) return nullptr;
      f.to = halved && !f.half ? n / 2 + 1 : n;
      shape[axis] = f.to;
      longest = std::max(longest, n);
      if (!last) between = std::max(between, 2 * shape.count());
      state->passes.push_back({FourierFactors(n), f});
    }
    state->lines = state->reserve(fourier_scratch(longest) * slots_for(runtime.pool()));
    for (std::size_t i = 1; i < std::min<std::size_t>(3, state->passes.size()); ++i)
      state->between[i - 1] = state->reserve(between);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* x = in[0].as<const float>();
    for (std::size_t i = 0; i < state.passes.size(); ++i) {
      const bool last = i + 1 == state.passes.size();
      auto* y = last ? out[0].as<float>() : state.floats(state.between[i % 2]);
      fast::fourier(state.passes[i].factors, state.passes[i].lines, x, y, state.floats(state.lines), runtime.pool());
      x = y;
    }
  }

 private:
  /// Along one axis.
  struct Pass {
    FourierFactors factors;
    FourierLines lines;
  };
  struct State final : KernelState {
    std::vector<Pass> passes;
    Scratch lines, between[2];  // what one pass writes and the next reads
  };
  Transform transform_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), size = graph.input(root, 2);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !is_f32(graph, {root, 0}) || !shape.has_rank()) return std::nullopt;
  const auto type = graph.type(root);
  Transform t{{}, {}, 0, type == "RDFT", type == "IRDFT", type == "IDFT" || type == "IRDFT"};
  const auto axes = constant_axes(graph, graph.input(root, 1), shape.rank() - (t.real_in ? 0 : 1));
  const auto sizes = size.node < 0 ? std::nullopt : constant_axes(graph, size, 0);
  if (!axes || axes->empty() || (size.node >= 0 && (!sizes || sizes->size() != axes->size()))) return std::nullopt;
  t.axes = *axes;
  t.sizes = sizes ? *sizes : std::vector<i64>(axes->size(), -1);
  t.halved = t.real_out ? axes->size() - 1 : (t.real_in ? 0 : axes->size());
  if (t.real_in) {  // the last axis first, of which half is left
    std::reverse(t.axes.begin(), t.axes.end());
    std::reverse(t.sizes.begin(), t.sizes.end());
  }
  return Match{{root}, {x}, std::make_unique<FourierKernel>(std::move(t))};
}

constexpr std::string_view kRoots[] = {"DFT", "IDFT", "RDFT", "IRDFT"};

}  // namespace

extern constinit const Pattern pattern{.name = "fourier", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::fourier
