// The experts of a layer (kit/expert_layer): as many exporters write them, each computes all tokens, and weights that
// are 0 for most of them add them up. Here an expert computes the tokens alone whose weights are not 0, so that results
// differ where the others, times 0, are not 0: where they are infinite or NaN.
#include <algorithm>
#include <array>
#include <variant>

#include "fast/kernels/product/experts.hpp"
#include "fast/kit/compressed_matrices.hpp"
#include "fast/kit/expert_layer.hpp"
#include "fast/kit/float_matrices.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::experts {
namespace {

/// Products by the experts' matrices.
class Products {
 public:
  /// Adds to the match what they read, and the nodes that decompress them.
  static std::optional<Products> of(const Graphlet& graph, const ExpertProduct& p, Match& match) {
    Products own;
    own.depth = p.depth;
    own.columns = p.columns;
    own.transposed_ = graph.attrs<MatMulAttrs>(p.matmul).transpose_b;
    own.matrices_ = graph.fact(graph.input(p.matmul, 1)).shape[0].length();
    const auto add = [&](ValueRef v) {
      match.inputs.push_back(v);
      return static_cast<int>(match.inputs.size()) - 1;
    };
    if (const auto d = compressed_weights(graph, p.matmul)) {
      if (d->shared) return std::nullopt;
      match.nodes.insert(match.nodes.end(), d->nodes.begin(), d->nodes.end());
      const auto scale = add(d->scale), zero = d->zero.node >= 0 ? add(d->zero) : -1;
      own.right_.emplace<CompressedMatrices>(*d, scale, zero, !graph.options().steady());
    } else {
      const auto right = graph.input(p.matmul, 1);
      if (!graph.constant(right) && graph.narrow(right).node < 0) return std::nullopt;
      own.operand_ = add(right);
      own.right_.emplace<FloatMatrices>(graph, p.matmul);
    }
    if (p.bias.node >= 0) own.bias_ = add(p.bias);
    return own;
  }

  bool are_compressed() const { return std::holds_alternative<CompressedMatrices>(right_); }
  bool holds(int input) const {
    const auto* floats = std::get_if<FloatMatrices>(&right_);
    return floats && input == operand_ && floats->are_held();
  }
  const float* bias(std::span<const View> in) const { return bias_ < 0 ? nullptr : in[bias_].as<const float>(); }

  /// Of so many rows of each of `experts` experts.
  BatchedProduct product(i64 rows, i64 experts) const {
    BatchedProduct p;
    shape(p, rows, experts);
    return p;
  }
  /// Floats, for one expert of so many rows, or several of one row.
  i64 scratch_size(i64 rows, i64 most_rows, int threads) const {
    return std::max(size_of(product(rows, 1), threads), size_of(product(1, most_rows), threads));
  }
  void prepare(i64 rows, ThreadPool& pool) const {
    if (const auto* floats = std::get_if<FloatMatrices>(&right_)) floats->prepare(product(rows, 1), pool);
  }

  /// to[i] = from[i], or from[0] where `shared`, times the matrix of the expert of row i.
  void multiply(BatchedProduct& p, const ExpertRows& rows, bool shared, const float* from, float* to,
                std::span<const View> in, float* scratch, ThreadPool& pool) const {
    const auto experts = rows.count() / rows.together;
    shape(p, rows.together, experts);
    if (shared) p.a_matrices = 1;
    for (i64 i = 0; i < experts; ++i) {
      p.a[i] = shared ? 0 : i;
      p.b[i] = rows.experts[i * rows.together];
    }
    if (const auto* compressed = std::get_if<CompressedMatrices>(&right_))
      return compressed_product(compressed->with(in), p, from, to, {}, scratch, pool);
    const auto& floats = std::get<FloatMatrices>(right_);
    const auto* matrices = in[operand_].as<const float>();
    floats.multiply(p, from, matrices, to, {}, scratch, pool);
  }

  i64 depth = 0, columns = 0;

 private:
  void shape(BatchedProduct& p, i64 rows, i64 experts) const {
    p.m = rows;
    p.n = columns;
    p.k = depth;
    p.b_transposed = transposed_ || columns == 1;
    p.a_matrices = experts;
    p.b_matrices = matrices_;
    p.a.resize(experts);
    p.b.resize(experts);
  }
  i64 size_of(const BatchedProduct& p, int threads) const {
    if (const auto* compressed = std::get_if<CompressedMatrices>(&right_))
      return compressed_scratch_size(compressed->shape(), p, threads);
    return std::get<FloatMatrices>(right_).scratch_size(p, threads);
  }

  std::variant<std::monostate, FloatMatrices, CompressedMatrices> right_;
  bool transposed_ = false;
  i64 matrices_ = 0;
  int operand_ = -1, bias_ = -1;  // among the kernel's
};

class Experts final : public Kernel {
 public:
  Experts(const ExpertLayer& layer, std::vector<Products> first, Products last)
      : experts_(layer.experts),
        width_(layer.width),
        parts_(layer.parts),
        numbers_(layer.numbers),
        program_(layer.program),
        first_(std::move(first)),
        last_(std::move(last)) {}

  std::string name() const override { return last_.are_compressed() ? "compressed.experts" : "experts"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto depth = first_.front().depth, tokens = sizes.in[0].size() / depth;
    if (sizes.in[0].size() != tokens * depth || sizes.in[1].size() != experts_ * tokens ||
        sizes.out[0].size() != tokens * last_.columns)
      return nullptr;
    auto state = std::make_unique<State>(hidden_chain());
    state->tokens = tokens;
    const auto rows = ExpertRouting::most_rows(tokens);
    state->rows.experts.reserve(rows);
    state->rows.tokens.reserve(rows);
    i64 work = 0;
    const auto plan_for = [&](const Products& p) {
      p.prepare(tokens, runtime.pool());
      work = std::max(work, p.scratch_size(tokens, rows, runtime.threads()));
      return state->reserve(rows * p.columns);
    };
    for (const auto& p : first_) state->first.push_back(plan_for(p));
    state->last = plan_for(last_);
    state->product = last_.product(1, rows);
    state->work = state->reserve(work);
    state->gathered = state->reserve(rows * depth);
    state->hidden = state->reserve(rows * width_);
    state->parts_apart = std::ranges::count_if(parts_, [](const ExpertPart& p) { return p.step > 1; });
    state->apart = state->reserve(rows * state->parts_apart * width_);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& rows = state.rows;
    auto& pool = runtime.pool();
    const auto* tokens = in[0].as<const float>();
    auto* results = out[0].as<float>();
    auto *gathered = state.floats(state.gathered), *work = state.floats(state.work), *last = state.floats(state.last);
    const bool shared = state.tokens == 1;
    std::fill_n(results, out[0].size(), 0.0F);
    ExpertRouting routing(in[1].as<const float>(), experts_, state.tokens);
    while (routing.next(rows)) {
      if (!shared) gather_tokens(rows, tokens, first_.front().depth, gathered, pool);
      for (std::size_t i = 0; i < first_.size(); ++i)
        first_[i].multiply(state.product, rows, shared, shared ? tokens : gathered, state.floats(state.first[i]), in,
                           work, pool);
      compute_hidden(state, in, pool);
      last_.multiply(state.product, rows, false, state.floats(state.hidden), last, in, work, pool);
      add_weighted(rows, routing, last, last_.bias(in), last_.columns, results, pool);
    }
  }

  bool holds(int input) const override {
    return last_.holds(input) || std::ranges::any_of(first_, [&](const Products& p) { return p.holds(input); });
  }

 private:
  struct State final : KernelState {
    explicit State(Chain c) : chain(std::move(c)) {}
    Chain chain;                      // of a row
    i64 tokens = 0, parts_apart = 0;  // parts whose columns do not lie side by side
    ExpertRows rows;
    BatchedProduct product;
    std::vector<Scratch> first;
    Scratch last, gathered, hidden, apart, work;
  };

  Chain hidden_chain() const {
    const i64 row[] = {1, width_}, number[] = {1, 1};
    std::vector<std::span<const i64>> shapes(parts_.size(), row);
    shapes.resize(parts_.size() + numbers_.size(), number);
    return Chain(program_, shapes, row);
  }

  void compute_hidden(State& state, std::span<const View> in, ThreadPool& pool) const {
    const auto& rows = state.rows;
    parallel_ranges(pool, rows.count(), state.chain.time(), [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) compute_hidden(state, in, i);
    });
  }

  /// Of row i.
  void compute_hidden(State& state, std::span<const View> in, i64 i) const {
    for (std::size_t p = 0; p < first_.size(); ++p)
      if (const auto* bias = first_[p].bias(in)) {
        const auto columns = first_[p].columns;
        auto* row = state.floats(state.first[p]) + i * columns;
        isa().binary(Binary::add, row, 1, bias + state.rows.experts[i] * columns, 1, row, columns);
      }
    std::array<const void*, ChainProgram::kInputs> inputs;
    auto* apart = state.floats(state.apart) + i * state.parts_apart * width_;
    std::size_t count = 0;
    for (const auto& part : parts_) {
      const auto* row = state.floats(state.first[part.product]) + i * first_[part.product].columns + part.first;
      if (part.step > 1) {
        for (i64 c = 0; c < width_; ++c) apart[c] = row[c * part.step];
        row = std::exchange(apart, apart + width_);
      }
      inputs[count++] = row;
    }
    for (const auto& number : numbers_) inputs[count++] = &number;
    state.chain.run(std::span(inputs).first(count), state.floats(state.hidden) + i * width_);
  }

  i64 experts_, width_;
  std::vector<ExpertPart> parts_;
  std::vector<float> numbers_;
  ChainProgram program_;
  std::vector<Products> first_;
  Products last_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto layer = expert_layer(graph, root);
  if (!layer || !is_f32(graph, {root, 0})) return std::nullopt;
  Match match{layer->nodes, {layer->tokens, layer->weights}, nullptr};
  std::vector<Products> first;
  for (const auto& p : layer->first)
    if (auto products = Products::of(graph, p, match)) first.push_back(std::move(*products));
    else return std::nullopt;
  auto last = Products::of(graph, layer->last, match);
  if (!last) return std::nullopt;
  std::ranges::sort(match.nodes);
  for (const auto node : layer->nodes)
    if (graph.type(node) == "Reshape" || graph.type(node) == "VariadicSplit")
      add_computed_inputs(graph, node, 1, match);
  match.kernel = std::make_unique<Experts>(*layer, std::move(first), std::move(*last));
  return match;
}

constexpr std::string_view kRoots[] = {"ReduceSum"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "experts", .roots = kRoots, .match = match, .priority = Priority::group, .groups_only = true};

}  // namespace ovir::fast::patterns::experts
