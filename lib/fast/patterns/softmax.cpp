// Softmax and LogSoftmax in f32.
#include "fast/kernels/normalization/softmax.hpp"

#include "fast/kit/around_axis.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast::patterns::softmax {
namespace {

class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(i64 axis, bool logarithm) : axis_(axis), logarithm_(logarithm) {}

  std::string name() const override { return logarithm_ ? "log_softmax" : "softmax"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].rank() ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& x = in[0];
    const AroundAxis a(x.dims, axis_);
    fast::softmax(x.as<const float>(), out[0].as<float>(), a.outer, a.length, a.inner, logarithm_, runtime.pool());
  }

  bool writes_over(int) const override { return true; }

 private:
  i64 axis_;
  bool logarithm_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  if (!is_f32(graph, x) || !is_f32(graph, {root, 0})) return std::nullopt;
  return Match{{root},
               {x},
               std::make_unique<SoftmaxKernel>(graph.attrs<SoftmaxAttrs>(root).axis, graph.type(root) == "LogSoftmax")};
}

constexpr std::string_view kRoots[] = {"Softmax", "LogSoftmax"};

}  // namespace

extern constinit const Pattern pattern{.name = "softmax", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::softmax
