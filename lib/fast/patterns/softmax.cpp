// Softmax and LogSoftmax in f32; the first also as models spell it out.
#include "fast/kernels/normalization/softmax.hpp"

#include "fast/kit/around_axis.hpp"
#include "fast/kit/softmax.hpp"

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
  auto found = softmax_from(graph, root);
  if (!found) return std::nullopt;
  auto kernel = std::make_unique<SoftmaxKernel>(found->axis, graph.type(root) == "LogSoftmax");
  return Match{std::move(found->nodes), {found->x}, std::move(kernel)};
}

constexpr std::string_view kRoots[] = {"LogSoftmax", "ReduceMax", "Softmax"};

}  // namespace

extern constinit const Pattern pattern{.name = "softmax", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::softmax
