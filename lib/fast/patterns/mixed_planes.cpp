// MatMul by a small constant matrix between two Transposes that bring axis 1 last and back, as where the heads of
// attention are mixed: sums of planes, which stay where they are.
#include <algorithm>
#include <numeric>

#include "fast/kernels/chunks.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::mixed_planes {
namespace {

constexpr i64 kMostNumbers = 128;  // of the matrix: each is a pass over a plane
constexpr i64 kPiece = 1024;       // floats of a plane at a time, which stay in the first-level cache

class MixedPlanes final : public Kernel {
 public:
  /// `bias`: of n numbers, or null.
  MixedPlanes(const ConstantMatrix& b, const float* bias) : k_(b.k), n_(b.n), weights_(b.k * b.n), bias_(b.n) {
    for (i64 j = 0; j < n_; ++j) {
      for (i64 i = 0; i < k_; ++i) weights_.data()[j * k_ + i] = b.data()[i * b.row + j * b.column];
      bias_.data()[j] = bias ? bias[j] : 0.0F;
    }
  }

  std::string name() const override { return "mixed_planes"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].rank() > 2 && sizes.in[0].dim(1) == k_ ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto batch = out[0].dim(0), plane = batch > 0 ? out[0].size() / (batch * n_) : 0;
    const auto pieces = ceil_div(plane, kPiece);
    const auto* x = in[0].as<const float>();
    auto* y = out[0].as<float>();
    const auto& table = isa();
    const auto cost = static_cast<double>(std::min(plane, kPiece) * k_ * n_) / 16;
    parallel_ranges(runtime.pool(), batch * pieces, cost, [&](i64 begin, i64 end) {
      for (auto piece = begin; piece < end; ++piece) {
        const auto image = piece / pieces, first = piece % pieces * kPiece, count = std::min(kPiece, plane - first);
        for (i64 j = 0; j < n_; ++j) {
          auto* to = y + (image * n_ + j) * plane + first;
          std::fill_n(to, count, bias_.data()[j]);
          for (i64 i = 0; i < k_; ++i)
            table.axpy(weights_.data()[j * k_ + i], x + (image * k_ + i) * plane + first, 1, to, count);
        }
      }
    });
  }

 private:
  i64 k_, n_;
  Buffer weights_, bias_;  ///< [n][k]
};

/// Whether a Transpose moves axis `from` to place `to`, and the others only to make room.
bool moves(const Graphlet& graph, int transpose, i64 rank, i64 from, i64 to) {
  std::vector<i64> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return constant_axes(graph, graph.input(transpose, 1), rank) == order;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 3) return std::nullopt;
  const auto rank = shape.rank();
  const auto matmul = graph.only_user({root, 0});
  if (!moves(graph, root, rank, 1, rank - 1) || graph.type(matmul) != "MatMul" || graph.input(matmul, 0).node != root)
    return std::nullopt;
  const auto b = constant_matrix(graph, matmul);
  if (!b || b->k * b->n > kMostNumbers) return std::nullopt;
  Match match{{root, matmul}, {x}, nullptr};
  auto next = graph.only_user({matmul, 0});
  const Tensor* bias = nullptr;
  if (graph.type(next) == "Add") {
    const auto other = graph.input(next, graph.input(next, 0).node == matmul ? 1 : 0);
    bias = per_channel(graph, other, rank, rank - 1, b->n);
    if (!bias) return std::nullopt;
    match.nodes.push_back(next);
    next = graph.only_user({next, 0});
  }
  if (graph.type(next) != "Transpose" || !moves(graph, next, rank, rank - 1, 1)) return std::nullopt;
  match.nodes.push_back(next);
  match.kernel = std::make_unique<MixedPlanes>(*b, bias ? bias->data<float>() : nullptr);
  return match;
}

constexpr std::string_view kRoots[] = {"Transpose"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "mixed_planes", .roots = kRoots, .match = match, .priority = Priority::group};

}  // namespace ovir::fast::patterns::mixed_planes
