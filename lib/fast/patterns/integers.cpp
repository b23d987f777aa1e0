// Elementwise operations of two integers of 32 or 64 bits, by rows.
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/elementwise/broadcast_rows.hpp"
#include "fast/kit/broadcasting.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::patterns::integers {
namespace {

constexpr i64 kFew = 512;     // elements that the reference kernels compute as fast
constexpr i64 kPiece = 4096;  // of a row

class Integers final : public Kernel {
 public:
  Integers(Whole operation, std::string name) : operation_(operation), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    constexpr i64 kShort = 8;
    if (sizes.out[0].size() < kFew) return nullptr;
    auto state = std::make_unique<State>(BroadcastRows<2>({sizes.in[0].dims, sizes.in[1].dims}, sizes.out[0].dims));
    return state->rows.length() < kShort ? nullptr : std::move(state);
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& rows = static_cast<State&>(prepared).rows;
    const auto width = byte_width(in[0].type), width_out = byte_width(out[0].type);
    const auto [x_step, y_step] = rows.steps();
    const auto cost = 10 + time() * static_cast<double>(std::min(rows.length(), kPiece));
    parallel_ranges(runtime.pool(), rows.pieces(kPiece), cost, [&](i64 begin, i64 end) {
      rows.each(kPiece, begin, end, [&](const BroadcastRows<2>::Places& from, i64 first, i64 n) {
        const auto* x = in[0].data + from[0] * width;
        const auto* y = in[1].data + from[1] * width;
        auto* to = out[0].data + first * width_out;
        if (in[0].type == ElementType::i64)
          isa().whole_i64(operation_, reinterpret_cast<const i64*>(x), x_step, reinterpret_cast<const i64*>(y), y_step,
                          to, n);
        else
          isa().whole_i32(operation_, reinterpret_cast<const std::int32_t*>(x), x_step,
                          reinterpret_cast<const std::int32_t*>(y), y_step, to, n);
      });
    });
  }

  /// An element is read before its place is written, and an operand of as many bytes lies as the output does; not the
  /// booleans of a comparison.
  bool writes_over(int) const override { return operation_ < Whole::equal; }

 private:
  struct State final : KernelState {
    explicit State(BroadcastRows<2> r) : rows(std::move(r)) {}
    BroadcastRows<2> rows;
  };
  /// An element, roughly.
  double time() const { return Whole::divide <= operation_ && operation_ <= Whole::floor_mod ? 1 : 0.25; }

  Whole operation_;
  std::string name_;
};

std::optional<Whole> operation_of(const Graphlet& graph, int node) {
  const auto type = graph.type(node);
  if (type == "Divide") return graph.attrs<DivideAttrs>(node).m_pythondiv ? Whole::floor_divide : Whole::divide;
  struct Entry {
    std::string_view type;
    Whole operation;
  };
  static constexpr Entry kEntries[] = {{"Add", Whole::add},
                                       {"Subtract", Whole::subtract},
                                       {"Multiply", Whole::multiply},
                                       {"Maximum", Whole::maximum},
                                       {"Minimum", Whole::minimum},
                                       {"Mod", Whole::mod},
                                       {"FloorMod", Whole::floor_mod},
                                       {"Equal", Whole::equal},
                                       {"NotEqual", Whole::not_equal},
                                       {"Less", Whole::less},
                                       {"LessEqual", Whole::less_equal},
                                       {"Greater", Whole::greater},
                                       {"GreaterEqual", Whole::greater_equal}};
  const auto* entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](auto& e) { return e.type == type; });
  return entry == std::end(kEntries) ? std::nullopt : std::optional(entry->operation);
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto type = graph.stored(a), result = graph.stored({root, 0});
  const auto operation = operation_of(graph, root);
  if (!operation || !contains(kIndex, type) || graph.stored(b) != type ||
      result != (*operation < Whole::equal ? type : ElementType::boolean) || !aligns_by_numpy(graph, root))
    return std::nullopt;
  const auto& shape = graph.fact({root, 0}).shape;
  if (!shape.has_rank() || shape.element_count().max < kFew) return std::nullopt;
  return Match{{root}, {a, b}, std::make_unique<Integers>(*operation, "integers." + std::string(graph.type(root)))};
}

constexpr std::string_view kRoots[] = {"Add",          "Divide",   "Equal",     "FloorMod", "Greater",
                                       "GreaterEqual", "Less",     "LessEqual", "Maximum",  "Minimum",
                                       "Mod",          "Multiply", "NotEqual",  "Subtract"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "integers", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::integers
