// NormalizeL2 of f32 over neighboring axes.
#include <algorithm>

#include "fast/kernels/normalization/l2.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::normalize_l2 {
namespace {

class NormalizeL2 final : public Kernel {
 public:
  /// Axes [first, last).
  NormalizeL2(const NormalizeL2Attrs& attrs, i64 first, i64 last) : attrs_(attrs), first_(first), last_(last) {}

  std::string name() const override { return "normalize_l2"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].rank() >= last_ ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& x = in[0];
    NormalizedL2 l{1, 1, 1, attrs_.eps, attrs_.eps_mode == NormalizeL2Eps::add};
    for (i64 i = 0; i < x.rank(); ++i) (i < first_ ? l.outer : (i < last_ ? l.n : l.inner)) *= x.dim(i);
    fast::normalize_l2(l, x.as<const float>(), out[0].as<float>(), runtime.pool());
  }

  bool writes_over(int input) const override { return input == 0; }

 private:
  NormalizeL2Attrs attrs_;
  i64 first_, last_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank()) return std::nullopt;
  auto axes = constant_axes(graph, graph.input(root, 1), shape.rank());
  if (!axes || axes->empty()) return std::nullopt;
  const auto [first, last] = std::minmax_element(axes->begin(), axes->end());
  if (*last - *first + 1 != std::ssize(*axes)) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<NormalizeL2>(graph.attrs<NormalizeL2Attrs>(root), *first, *last + 1)};
}

constexpr std::string_view kRoots[] = {"NormalizeL2"};

}  // namespace

extern constinit const Pattern pattern{.name = "normalize_l2", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::normalize_l2
