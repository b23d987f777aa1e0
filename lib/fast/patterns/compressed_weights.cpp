// MatMul by, and Gather of rows of, constant matrices of 4 or 8 bits with scales and zero points: the weights stay
// compressed. The nodes that would decompress them are taken with the operation.
#include "fast/kit/compressed_matrices.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::compressed_weights {
namespace {

constexpr MatMulAttrs kTurned{.transpose_a = false, .transpose_b = true};

class CompressedMatMul final : public Kernel {
 public:
  CompressedMatMul(CompressedMatrices weights, Ending ending)
      : weights_(std::move(weights)), ending_(std::move(ending)) {}

  std::string name() const override { return "compressed.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    state->product = product_of(kTurned, sizes.in[0].dims, weights_.dims(), sizes.out[0].dims);
    state->work = state->reserve(compressed_scratch_size(weights_.shape(), state->product, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    compressed_product(weights_.with(in), state.product, in[0].as<const float>(), out[0].as<float>(),
                       ending_.epilogue(residual), state.floats(state.work), runtime.pool());
  }

 private:
  struct State final : KernelState {
    BatchedProduct product;
    Scratch work;
  };
  CompressedMatrices weights_;
  Ending ending_;
};

class CompressedGather final : public Kernel {
 public:
  explicit CompressedGather(CompressedMatrices table) : table_(std::move(table)) {}

  std::string name() const override { return "compressed.gather"; }

  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto b = table_.with(in);
    const auto rows = [&](const auto* index) {
      compressed_rows(b, index, in[0].size(), out[0].as<float>(), runtime.pool());
    };
    if (in[0].type == ElementType::i64) rows(in[0].as<const i64>());
    else rows(in[0].as<const std::int32_t>());
  }

 private:
  CompressedMatrices table_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto weights = fast::compressed_weights(graph, root);
  if (!weights) return std::nullopt;
  const bool product = graph.type(root) == "MatMul";
  Match match{weights->nodes, {graph.input(root, product ? 0 : 1), weights->scale}, nullptr};
  if (weights->shared) match.shared = match.nodes.size();
  match.nodes.push_back(root);
  if (weights->zero.node >= 0) match.inputs.push_back(weights->zero);
  CompressedMatrices matrix(*weights, 1, weights->zero.node >= 0 ? 2 : -1, !graph.options().steady());
  if (product) {
    const auto rank = graph.fact({root, 0}).shape.rank();
    auto ending = take_ending(graph, match, rank, rank - 1, weights->rows());
    match.kernel = std::make_unique<CompressedMatMul>(std::move(matrix), std::move(ending));
  } else {
    match.kernel = std::make_unique<CompressedGather>(std::move(matrix));
  }
  return match;
}

std::vector<int> unfolded(const Graphlet& graph, int root) {
  auto weights = fast::compressed_weights(graph, root);
  return weights ? std::move(weights->nodes) : std::vector<int>{};
}

constexpr std::string_view kRoots[] = {"MatMul", "Gather"};

}  // namespace

extern constinit const Pattern pattern{.name = "compressed_weights",
                                       .roots = kRoots,
                                       .match = match,
                                       .unfolded = unfolded,
                                       .priority = Priority::packed,
                                       .groups_only = true};

}  // namespace ovir::fast::patterns::compressed_weights
