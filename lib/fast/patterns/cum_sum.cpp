// CumSum of any numbers along an axis that is known.
#include "fast/kernels/reduction/running_sum.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::cum_sum {
namespace {

class CumSum final : public Kernel {
 public:
  CumSum(const CumSumAttrs& attrs, i64 axis) : attrs_(attrs), axis_(axis) {}

  std::string name() const override { return "running_sum"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    return x.rank() > axis_ && is_among(x.type, Numbers{}) ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& x = in[0];
    const AroundAxis a(x.dims, axis_);
    running_sum({a.outer, a.length, a.inner, attrs_.exclusive, attrs_.reverse}, x, out[0], runtime.pool());
  }

  bool writes_over(int input) const override { return input == 0; }

 private:
  CumSumAttrs attrs_;
  i64 axis_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), at = graph.input(root, 1);
  const auto& shape = graph.fact(x).shape;
  if (!shape.has_rank() || !is_among(graph.stored(x), Numbers{}) || graph.stored({root, 0}) != graph.stored(x))
    return std::nullopt;
  const auto axes = at.node < 0 ? std::vector<i64>{0} : constant_axes(graph, at, shape.rank());
  if (!axes || axes->size() != 1) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<CumSum>(graph.attrs<CumSumAttrs>(root), axes->front())};
}

constexpr std::string_view kRoots[] = {"CumSum"};

}  // namespace

extern constinit const Pattern pattern{.name = "cum_sum", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::cum_sum
