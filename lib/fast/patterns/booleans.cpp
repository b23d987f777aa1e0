// Elementwise operations of two operands that give booleans, comparisons of f32 and logic of booleans, by rows.
#include <functional>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/elementwise/broadcast_rows.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::booleans {
namespace {

constexpr i64 kFew = 512;     // elements that the reference kernels compute as fast
constexpr i64 kPiece = 8192;  // of a row

/// y[i] = f(a[i · a_step], b[i · b_step]); a step is 0 or 1.
template <class T, class F>
void along(const std::byte* a, i64 a_step, const std::byte* b, i64 b_step, std::uint8_t* y, i64 n) {
  const auto* x = reinterpret_cast<const T*>(a);
  const auto* z = reinterpret_cast<const T*>(b);
  const F f{};
  if (a_step && b_step)
    for (i64 i = 0; i < n; ++i) y[i] = static_cast<std::uint8_t>(f(x[i], z[i]));
  else if (a_step)
    for (i64 i = 0; i < n; ++i) y[i] = static_cast<std::uint8_t>(f(x[i], *z));
  else
    for (i64 i = 0; i < n; ++i) y[i] = static_cast<std::uint8_t>(f(*x, z[i * b_step]));
}
using Along = decltype(&along<float, std::less<>>);

/// Without branches, so that they are vectorized.
struct LogicalAnd {
  int operator()(std::uint8_t a, std::uint8_t b) const { return static_cast<int>(a != 0) & static_cast<int>(b != 0); }
};
struct LogicalOr {
  int operator()(std::uint8_t a, std::uint8_t b) const { return static_cast<int>((a | b) != 0); }
};
struct LogicalXor {
  int operator()(std::uint8_t a, std::uint8_t b) const { return static_cast<int>(a != 0) ^ static_cast<int>(b != 0); }
};

struct Operation {
  std::string_view type;
  ElementType operands;
  Along along;
};
constexpr Operation kOperations[] = {
    {"Equal", ElementType::f32, along<float, std::equal_to<>>},
    {"NotEqual", ElementType::f32, along<float, std::not_equal_to<>>},
    {"Less", ElementType::f32, along<float, std::less<>>},
    {"LessEqual", ElementType::f32, along<float, std::less_equal<>>},
    {"Greater", ElementType::f32, along<float, std::greater<>>},
    {"GreaterEqual", ElementType::f32, along<float, std::greater_equal<>>},
    {"LogicalAnd", ElementType::boolean, along<std::uint8_t, LogicalAnd>},
    {"LogicalOr", ElementType::boolean, along<std::uint8_t, LogicalOr>},
    {"LogicalXor", ElementType::boolean, along<std::uint8_t, LogicalXor>},
    {"BitwiseAnd", ElementType::boolean, along<std::uint8_t, std::bit_and<>>},
    {"BitwiseOr", ElementType::boolean, along<std::uint8_t, std::bit_or<>>},
    {"BitwiseXor", ElementType::boolean, along<std::uint8_t, std::bit_xor<>>},
};

class Booleans final : public Kernel {
 public:
  explicit Booleans(const Operation& operation) : operation_(operation) {}

  std::string name() const override { return "booleans." + std::string(operation_.type); }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    if (sizes.out[0].size() < kFew) return nullptr;
    return std::make_unique<State>(BroadcastRows<2>({sizes.in[0].dims, sizes.in[1].dims}, sizes.out[0].dims));
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& rows = static_cast<State&>(prepared).rows;
    const auto width = byte_width(operation_.operands);
    auto* y = out[0].as<std::uint8_t>();
    const auto cost = 5 + 0.25 * static_cast<double>(std::min(rows.length(), kPiece));
    parallel_ranges(runtime.pool(), rows.pieces(kPiece), cost, [&](i64 begin, i64 end) {
      rows.each(kPiece, begin, end, [&](const BroadcastRows<2>::Places& from, i64 to, i64 n) {
        operation_.along(in[0].data + from[0] * width, rows.steps()[0], in[1].data + from[1] * width, rows.steps()[1],
                         y + to, n);
      });
    });
  }

 private:
  struct State final : KernelState {
    explicit State(BroadcastRows<2> r) : rows(std::move(r)) {}
    BroadcastRows<2> rows;
  };

  Operation operation_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto type = graph.type(root);
  const auto* operation = std::ranges::find(kOperations, type, &Operation::type);
  if (operation == std::end(kOperations) || graph.stored({root, 0}) != ElementType::boolean ||
      graph.stored(a) != operation->operands || graph.stored(b) != operation->operands || !aligns_by_numpy(graph, root))
    return std::nullopt;
  const auto& shape = graph.fact({root, 0}).shape;
  if (!shape.has_rank() || shape.element_count().max < kFew) return std::nullopt;
  return Match{{root}, {a, b}, std::make_unique<Booleans>(*operation)};
}

constexpr auto kRoots = [] {
  std::array<std::string_view, std::size(kOperations)> types{};
  std::ranges::transform(kOperations, types.begin(), &Operation::type);
  return types;
}();

}  // namespace

extern constinit const Pattern pattern{
    .name = "booleans", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::booleans
