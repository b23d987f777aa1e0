// Einsum-7 of two f32 operands as products of matrices: labels of both operands and the output count matrices, those
// that the output has from one operand are rows or columns, those that it lacks are summed. What lies in another order
// is transposed before and after.
#include <algorithm>
#include <map>

#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/product/batched.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/einsum.hpp"

namespace ovir::fast::patterns::einsum {
namespace {

constexpr i64 kMaxDims = 8;

bool has(std::string_view labels, char label) { return labels.find(label) != std::string_view::npos; }

/// Where the labels of `to` lie in `from`.
std::vector<i64> order_of(std::string_view from, std::string_view to) {
  std::vector<i64> order;
  for (const char label : to) order.push_back(static_cast<i64>(from.find(label)));
  return order;
}

/// Which labels are what.
struct Roles {
  std::string matrices, rows, columns, sums;

  /// Nothing where a label repeats in an operand, or one of a single operand is summed.
  static std::optional<Roles> of(std::string_view a, std::string_view b, std::string_view out) {
    Roles r;
    for (const auto labels : {a, b})
      for (const char label : labels) {
        if (std::count(labels.begin(), labels.end(), label) > 1) return std::nullopt;
        if (!has(out, label) && !(has(a, label) && has(b, label))) return std::nullopt;
      }
    for (const char label : out)
      (has(a, label) && has(b, label) ? r.matrices : (has(a, label) ? r.rows : r.columns)) += label;
    for (const char label : a)
      if (!has(out, label)) r.sums += label;
    return r;
  }
};

class Einsum final : public Kernel {
 public:
  Einsum(std::string a, std::string b, std::string out, const Roles& roles)
      : a_(std::move(a)), b_(std::move(b)), out_(std::move(out)), roles_(roles) {
    const auto& [matrices, rows, columns, sums] = roles_;
    a_transposed_ = a_ == matrices + sums + rows && a_ != matrices + rows + sums;
    b_transposed_ = b_ != matrices + sums + columns;
    a_order_ = order_of(a_, a_transposed_ ? a_ : matrices + rows + sums);
    b_order_ = order_of(b_, b_transposed_ ? matrices + columns + sums : b_);
    out_order_ = order_of(matrices + rows + columns, out_);
  }

  std::string name() const override { return "einsum"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    std::map<char, i64> lengths;
    const auto take = [&](std::string_view labels, const View& v) {
      if (v.rank() != std::ssize(labels)) return false;
      for (i64 i = 0; i < v.rank(); ++i)
        if (lengths.emplace(labels[i], v.dim(i)).first->second != v.dim(i)) return false;  // a length of 1 is repeated
      return true;
    };
    if (!take(a_, sizes.in[0]) || !take(b_, sizes.in[1]) || !take(out_, sizes.out[0])) return nullptr;
    const auto count = [&](std::string_view labels) {
      i64 n = 1;
      for (const char label : labels) n *= lengths.at(label);
      return n;
    };
    auto& p = state->product;
    p.m = count(roles_.rows);
    p.n = count(roles_.columns);
    p.k = count(roles_.sums);
    // A matrix of one row or column is the same either way.
    p.a_transposed = a_transposed_ && p.m > 1 && p.k > 1;
    p.b_transposed = b_transposed_ || p.n == 1;
    p.a_matrices = p.b_matrices = count(roles_.matrices);
    for (i64 i = 0; i < p.a_matrices; ++i) {
      p.a.push_back(i);
      p.b.push_back(i);
    }
    for (const char label : roles_.matrices + roles_.rows + roles_.columns) state->dims.push_back(lengths.at(label));
    if (!is_in_place(a_order_)) state->a = state->reserve(sizes.in[0].size());
    if (!is_in_place(b_order_)) state->b = state->reserve(sizes.in[1].size());
    if (!is_in_place(out_order_)) state->out = state->reserve(sizes.out[0].size());
    state->work = state->reserve(batched_product_scratch_size(p, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto operand = [&](const View& x, const std::vector<i64>& order, const Scratch& aside) {
      if (!aside) return x.as<const float>();
      auto* to = state.floats(aside);
      permute(x.dims, order, x.as<const float>(), to, pool);
      return static_cast<const float*>(to);
    };
    const auto *a = operand(in[0], a_order_, state.a), *b = operand(in[1], b_order_, state.b);
    auto* c = state.out ? state.floats(state.out) : out[0].as<float>();
    batched_product(state.product, a, b, c, Epilogue{}, state.floats(state.work), pool);
    if (state.out) permute(state.dims, out_order_, c, out[0].as<float>(), pool);
  }

 private:
  struct State final : KernelState {
    BatchedProduct product;
    std::vector<i64> dims;  // of the product
    Scratch a, b, out, work;
  };

  static bool is_in_place(const std::vector<i64>& order) { return std::is_sorted(order.begin(), order.end()); }

  std::string a_, b_, out_;
  Roles roles_;
  bool a_transposed_, b_transposed_;
  std::vector<i64> a_order_, b_order_, out_order_;
};

/// A subscript whose ellipsis, if it has one, is a label for each of the `axes` that it covers.
std::string spelt_out(std::string_view subscript, i64 axes) {
  std::string labels;
  for (const char label : subscript) {
    if (label != EinsumEquation::kEllipsis) labels += label;
    else
      for (i64 axis = 0; axis < axes; ++axis) labels += static_cast<char>('0' + axis);
  }
  return labels;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto& equation = graph.attrs<EinsumAttrs>(root).equation;
  if (equation.inputs.size() != 2) return std::nullopt;
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  i64 covered = -1;
  for (int i = 0; i < 2; ++i) {
    const auto v = graph.input(root, i);
    const auto& shape = graph.fact(v).shape;
    if (!is_f32(graph, v) || !shape.has_rank() || shape.rank() > kMaxDims) return std::nullopt;
    if (!has(equation.inputs[i], EinsumEquation::kEllipsis)) continue;
    const auto axes = shape.rank() + 1 - std::ssize(equation.inputs[i]);
    if (covered >= 0 && axes != covered) return std::nullopt;
    covered = axes;
  }
  const auto of_a = spelt_out(equation.inputs[0], covered), of_b = spelt_out(equation.inputs[1], covered),
             of_out = spelt_out(equation.output, covered);
  const auto roles = Roles::of(of_a, of_b, of_out);
  if (!roles || std::ssize(of_out) > kMaxDims) return std::nullopt;
  return Match{{root}, {a, b}, std::make_unique<Einsum>(of_a, of_b, of_out, *roles)};
}

constexpr std::string_view kRoots[] = {"Einsum"};

}  // namespace

extern constinit const Pattern pattern{.name = "einsum", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::einsum
