// NormalizeL2 of f32 over neighboring axes, and GRN, which is one over channels; also as models spell it out: x divided
// by its norm, which is ReduceL2 or the root of a sum of squares, or by a least number where that is greater.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/kernels/normalization/l2.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
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

/// The first axis, and the one behind the last, of neighboring ones; nothing where they are not.
std::optional<std::pair<i64, i64>> range_of(const Graphlet& graph, ValueRef v, i64 rank) {
  const auto axes = constant_axes(graph, v, rank);
  if (!axes || axes->empty()) return std::nullopt;
  const auto [first, last] = std::minmax_element(axes->begin(), axes->end());
  return *last - *first + 1 == std::ssize(*axes) ? std::optional(std::pair(*first, *last + 1)) : std::nullopt;
}

/// The least number that a norm may be, and the node that says so.
std::optional<std::pair<int, float>> least_after(const Graphlet& graph, int node) {
  if (const auto maximum = followed_by(graph, node, "Maximum")) {
    const auto least = number(graph, graph.input(maximum->first, 1 - maximum->second));
    return least ? std::optional(std::pair(maximum->first, *least)) : std::nullopt;
  }
  const auto clamp = followed_by(graph, node, "Clamp");
  if (!clamp) return std::nullopt;
  const auto bounds = function_of(graph, clamp->first);
  return bounds && bounds->b >= std::numeric_limits<float>::max() ? std::optional(std::pair(clamp->first, bounds->a))
                                                                  : std::nullopt;
}

/// From the reduction on.
std::optional<Match> match_spelled_out(const Graphlet& graph, int root) {
  auto x = graph.input(root, 0);
  Match match{{root}, {}, nullptr};
  if (graph.type(root) == "ReduceSum") {
    const auto square = x.node;
    const auto of = graph.only_user(x) == root ? squared_by(graph, square) : std::nullopt;
    auto sqrt = followed_by(graph, root, "Sqrt");
    if (!sqrt) sqrt = followed_by(graph, root, "Power");
    const bool is_root = sqrt && (graph.type(sqrt->first) == "Sqrt" ||
                                  (sqrt->second == 0 && number(graph, graph.input(sqrt->first, 1)) == 0.5F));
    if (!of || !is_root) return std::nullopt;
    x = *of;
    match.nodes = {square, root, sqrt->first};
  }
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || !graph.attrs<ReduceAttrs>(root).keep_dims) return std::nullopt;
  const auto axes = range_of(graph, graph.input(root, 1), shape.rank());
  double least = 0;
  if (const auto found = least_after(graph, match.nodes.back())) {
    if (std::isnan(found->second)) return std::nullopt;
    match.nodes.push_back(found->first);
    least = std::max(found->second, 0.0F);
  }
  const auto divide = followed_by(graph, match.nodes.back(), "Divide");
  if (!axes || !divide || divide->second != 1 || !same(graph.input(divide->first, 0), x) ||
      !is_same(graph.fact({divide->first, 0}).shape, shape))
    return std::nullopt;
  match.nodes.push_back(divide->first);
  match.inputs = {x};
  const NormalizeL2Attrs attrs{.eps = least * least, .eps_mode = NormalizeL2Eps::max};
  match.kernel = std::make_unique<NormalizeL2>(attrs, axes->first, axes->second);
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto type = graph.type(root);
  if (type != "NormalizeL2" && type != "GRN") return match_spelled_out(graph, root);
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank()) return std::nullopt;
  if (type == "GRN") {
    const NormalizeL2Attrs attrs{.eps = graph.attrs<GrnAttrs>(root).bias, .eps_mode = NormalizeL2Eps::add};
    return Match{{root}, {x}, std::make_unique<NormalizeL2>(attrs, 1, 2)};
  }
  const auto axes = range_of(graph, graph.input(root, 1), shape.rank());
  if (!axes) return std::nullopt;
  return Match{
      {root}, {x}, std::make_unique<NormalizeL2>(graph.attrs<NormalizeL2Attrs>(root), axes->first, axes->second)};
}

constexpr std::string_view kRoots[] = {"GRN", "NormalizeL2", "ReduceL2", "ReduceSum"};

}  // namespace

extern constinit const Pattern pattern{.name = "normalize_l2", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::normalize_l2
