// Bucketize of numbers by boundaries of the same type.
#include "fast/kernels/selection/bucketize.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::bucketize {
namespace {

class Bucketize final : public Kernel {
 public:
  explicit Bucketize(bool with_right_bound) : with_right_bound_(with_right_bound) {}

  std::string name() const override { return "bucketize"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &x = sizes.in[0], &boundaries = sizes.in[1];
    if (x.type != boundaries.type || !is_among(x.type, Numbers{})) return nullptr;
    auto state = std::make_unique<State>();
    state->ranks = state->reserve(bucketize_scratch(boundaries));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    fast::bucketize(in[0], in[1], with_right_bound_, out[0], state.floats(state.ranks), runtime.pool());
  }

 private:
  struct State final : KernelState {
    Scratch ranks;
  };
  bool with_right_bound_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), boundaries = graph.input(root, 1);
  if (!is_among(graph.stored(x), Numbers{}) || graph.stored(x) != graph.stored(boundaries) ||
      !is_among(graph.stored({root, 0}), Indices{}))
    return std::nullopt;
  return Match{
      {root}, {x, boundaries}, std::make_unique<Bucketize>(graph.attrs<BucketizeAttrs>(root).with_right_bound)};
}

constexpr std::string_view kRoots[] = {"Bucketize"};

}  // namespace

extern constinit const Pattern pattern{.name = "bucketize", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::bucketize
