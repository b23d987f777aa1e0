// Convolution-1 of many images or volumes of a few channels, each as large as the filters: the product of a matrix, a
// row an image, by the filters. So vision encoders embed patches that have been cut out before. In plans for bf16 too:
// the kernels there read single pixels.
#include "fast/kernels/product/once.hpp"
#include "fast/kernels/product/packed.hpp"
#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::covering_convolution {
namespace {

class CoveringConvolution final : public Kernel {
 public:
  /// Filters [n][k]: those known when the plan is made; null: they are operand 1, and may be read from `file`.
  CoveringConvolution(i64 k, i64 n, const Tensor* filters, WeightsFile file, Ending ending, ThreadPool& pool)
      : k_(k), n_(n), file_(std::move(file)), ending_(std::move(ending)) {
    if (!filters) return;
    panels_ = Buffer::unwritten(panels_size(k_, n_));
    pack_panels(filters->data<float>(), 1, k_, k_, n_, panels_.data(), pool);
    filters->leave_pages();
  }

  std::string name() const override { return "covering.convolution" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    const auto m = in.dim(0);
    if (in.size() != m * k_ || out.size() != m * n_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != out.size()) return nullptr;
    auto state = std::make_unique<State>();
    state->work = state->reserve(panels_.size() > 0 ? spread_rows_size(m, n_, k_)
                                                    : product_once_scratch_size(m, n_, k_, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto epilogue = ending_.epilogue(residual);
    const auto* x = in[0].as<const float>();
    auto *y = out[0].as<float>(), *work = state.floats(state.work);
    const auto m = in[0].dim(0);
    auto& pool = runtime.pool();
    if (panels_.size() == 0) {
      const auto filters = file_ ? Weights(file_, nullptr) : Weights(in[1].as<const float>());
      return product_once(filters, x, y, m, n_, k_, epilogue, work, pool);
    }
    const auto rows = spread_rows(x, m, n_, k_, work, pool);
    product({panels_.data(), k_, n_}, rows.data, rows.apart, y, n_, m, epilogue, pool);
  }

  bool holds(int input) const override { return input == 1 && file_; }

 private:
  struct State final : KernelState {
    Scratch work;
  };

  i64 k_, n_;
  Buffer panels_;
  WeightsFile file_;
  Ending ending_;
};

/// Whether each spatial axis is as long as the filters and not padded.
bool covers(const Graphlet& graph, int root, const PartialShape& in, const PartialShape& filters) {
  const auto& out = graph.fact({root, 0}).shape;
  const ConvolutionWindows windows{graph.attrs<ConvolutionAttrs>(root)};
  if (!out.has_rank() || out.rank() != in.rank()) return false;
  for (i64 d = 2; d < in.rank(); ++d) {
    if (!in[d].is_static() || in[d] != filters[d] || out[d] != Dim(1)) return false;
    const auto window = windows.along(static_cast<std::size_t>(d - 2), filters[d].length(), in[d].length(), 1);
    if (window.pad_begin != 0 || (window.dilation != 1 && in[d].length() > 1)) return false;
  }
  return true;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  // Fewer images are computed as any other; of more channels they may lie in blocks.
  constexpr i64 kMany = 8, kFewChannels = 4;
  const auto x = graph.input(root, 0), filters = graph.input(root, 1);
  const auto &in = graph.fact(x).shape, &shape = graph.fact(filters).shape;
  if (graph.options().precision == Precision::int8 || !is_f32(graph, x) || !is_f32(graph, filters) || !in.has_rank() ||
      !shape.is_static() || in.rank() != shape.rank() || in.rank() < 4 || shape[1].length() > kFewChannels ||
      in[1] != shape[1] || (in[0].is_static() && in[0].length() < kMany) || !covers(graph, root, in, shape))
    return std::nullopt;
  const auto n = shape[0].length(), k = shape.to_shape().count() / std::max<i64>(n, 1);
  const auto* constant = graph.options().steady() ? graph.constant(filters) : nullptr;
  if (n == 0 || k == 0 || (constant && constant->type() != ElementType::f32)) return std::nullopt;
  Match match{{root}, {x}, nullptr};
  if (!constant) match.inputs.push_back(filters);
  auto ending = take_ending(graph, match, in.rank(), 1, n);
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel = std::make_unique<CoveringConvolution>(
      k, n, constant, constant ? WeightsFile() : file_of(graph, filters), std::move(ending), graph.packers(n * k));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "covering_convolution", .roots = kRoots, .match = match, .priority = Priority::group};

}  // namespace ovir::fast::patterns::covering_convolution
