// OneHot of elements of any type.
#include "fast/kernels/selection/one_hot.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::one_hot {
namespace {

enum Input { indices, depth, on_value, off_value };

class OneHotKernel final : public Kernel {
 public:
  explicit OneHotKernel(const OneHotAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "one_hot"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& to = sizes.out[0];
    const auto fits = [&](const View& v) { return v.type == to.type && v.size() == 1; };
    return is_among(sizes.in[indices].type, Indices{}) && byte_width(to.type) <= 8 && fits(sizes.in[on_value]) &&
                   fits(sizes.in[off_value])
               ? std::make_unique<KernelState>()
               : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& to = out[0];
    const AroundAxis a(to.dims, attrs_.axis);
    const OneHot o{a.outer, a.length, a.inner, attrs_.negative_indices_mode == OneHotNegative::normalized};
    fast::one_hot(o, in[indices], in[on_value], in[off_value], to, runtime.pool());
  }

 private:
  OneHotAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto type = graph.stored({root, 0});
  if (!is_bytes(type) || !is_among(graph.stored(graph.input(root, indices)), Indices{})) return std::nullopt;
  Match match{{root}, {}, std::make_unique<OneHotKernel>(graph.attrs<OneHotAttrs>(root))};
  for (const auto port : {indices, depth, on_value, off_value}) match.inputs.push_back(graph.input(root, port));
  return match;
}

constexpr std::string_view kRoots[] = {"OneHot"};

}  // namespace

extern constinit const Pattern pattern{.name = "one_hot", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::one_hot
