// Elementwise operations of one or two integers of 8 to 64 bits, by rows.
#include <cmath>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/elementwise/broadcast_rows.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/broadcasting.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/kit/saturate.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::patterns::integers {
namespace {

constexpr i64 kFew = 512;              // elements that the reference kernels compute as fast
constexpr i64 kPieceBytes = 16 << 10;  // of a row

/// An element, roughly, in nanoseconds.
double time_of(Whole operation) { return Whole::divide <= operation && operation <= Whole::power ? 1 : 0.25; }

class OfTwo final : public Kernel {
 public:
  OfTwo(Whole operation, std::string name) : operation_(operation), name_(std::move(name)) {}

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
    const auto type = whole_type(in[0].type);
    const i64 width_out = byte_width(out[0].type), piece = kPieceBytes / type.bytes;
    const auto [x_step, y_step] = rows.steps();
    const auto cost = 10 + time_of(operation_) * static_cast<double>(std::min(rows.length(), piece));
    parallel_ranges(runtime.pool(), rows.pieces(piece), cost, [&](i64 begin, i64 end) {
      rows.each(piece, begin, end, [&](const BroadcastRows<2>::Places& from, i64 first, i64 n) {
        line_isa().whole(operation_, type, in[0].data + from[0] * type.bytes, x_step, in[1].data + from[1] * type.bytes,
                         y_step, out[0].data + first * width_out, n);
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

  Whole operation_;
  std::string name_;
};

/// An operation with a number, whose first bytes are that of fewer bits.
struct WithNumber {
  Whole operation;
  i64 number = 0;
  bool comes_first = false;
};

class OfOne final : public Kernel {
 public:
  OfOne(std::vector<WithNumber> operations, std::string name)
      : operations_(std::move(operations)), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.out[0].size() < kFew ? nullptr : std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto type = whole_type(in[0].type);
    const i64 size = out[0].size(), piece = kPieceBytes / type.bytes;
    const auto cost = 0.25 * static_cast<double>(std::min(size, piece));
    parallel_ranges(runtime.pool(), ceil_div(size, piece), cost, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        const auto first = i * piece, n = std::min(piece, size - first);
        const auto* x = in[0].data + first * type.bytes;
        auto* y = out[0].data + first * type.bytes;
        for (const auto& o : operations_) {
          if (o.comes_first) line_isa().whole(o.operation, type, &o.number, 0, x, 1, y, n);
          else line_isa().whole(o.operation, type, x, 1, &o.number, 0, y, n);
          x = y;
        }
      }
    });
  }

  bool writes_over(int) const override { return true; }

 private:
  std::vector<WithNumber> operations_;
  std::string name_;
};

std::optional<Whole> of_two(const Graphlet& graph, int node) {
  const auto type = graph.type(node);
  if (type == "Divide") return graph.attrs<DivideAttrs>(node).m_pythondiv ? Whole::floor_divide : Whole::divide;
  struct Entry {
    std::string_view type;
    Whole operation;
  };
  static constexpr Entry kEntries[] = {{"Add", Whole::add},
                                       {"Subtract", Whole::subtract},
                                       {"Multiply", Whole::multiply},
                                       {"SquaredDifference", Whole::squared_difference},
                                       {"Maximum", Whole::maximum},
                                       {"Minimum", Whole::minimum},
                                       {"BitwiseAnd", Whole::bits_and},
                                       {"BitwiseOr", Whole::bits_or},
                                       {"BitwiseXor", Whole::bits_xor},
                                       {"Mod", Whole::mod},
                                       {"FloorMod", Whole::floor_mod},
                                       {"Power", Whole::power},
                                       {"Equal", Whole::equal},
                                       {"NotEqual", Whole::not_equal},
                                       {"Less", Whole::less},
                                       {"LessEqual", Whole::less_equal},
                                       {"Greater", Whole::greater},
                                       {"GreaterEqual", Whole::greater_equal}};
  const auto* entry = std::ranges::find(kEntries, type, &Entry::type);
  return entry == std::end(kEntries) ? std::nullopt : std::optional(entry->operation);
}

/// Empty: not of those.
std::vector<WithNumber> of_one(const Graphlet& graph, int node, ElementType element) {
  const auto type = graph.type(node);
  const bool is_signed = contains(kSigned, element);
  if (type == "Abs") return {is_signed ? WithNumber{Whole::absolute} : WithNumber{Whole::maximum, 0}};
  if (type == "Sign") return {is_signed ? WithNumber{Whole::sign} : WithNumber{Whole::minimum, 1}};
  if (type == "Negative") return {{Whole::subtract, 0, true}};
  if (type == "Relu") return {{Whole::maximum, 0}};
  if (type == "BitwiseNot") return {{Whole::bits_xor, -1}};
  if (type != "Clamp") return {};
  const auto& a = graph.attrs<ClampAttrs>(node);
  const auto low = std::ceil(a.min), high = std::floor(a.max);
  std::vector<WithNumber> limits;
  if (low <= high)
    dispatch(element, Integers{}, [&]<class T>() {
      limits = {{Whole::maximum, static_cast<i64>(saturated<T>(low))},
                {Whole::minimum, static_cast<i64>(saturated<T>(high))}};
    });
  return limits;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0);
  const auto type = graph.stored(a), result = graph.stored({root, 0});
  const auto& shape = graph.fact({root, 0}).shape;
  if (!is_among(type, Integers{}) || !shape.has_rank() || shape.element_count().max < kFew) return std::nullopt;
  const auto name = "integers." + std::string(graph.type(root));
  if (auto steps = of_one(graph, root, type); !steps.empty())
    return result == type ? std::optional(Match{{root}, {a}, std::make_unique<OfOne>(std::move(steps), name)})
                          : std::nullopt;
  const auto b = graph.input(root, 1);
  const auto operation = of_two(graph, root);
  if (!operation || graph.stored(b) != type || !aligns_by_numpy(graph, root) ||
      result != (*operation < Whole::equal ? type : ElementType::boolean))
    return std::nullopt;
  return Match{{root}, {a, b}, std::make_unique<OfTwo>(*operation, name)};
}

constexpr std::string_view kRoots[] = {
    "Abs",     "Add",      "BitwiseAnd", "BitwiseNot",   "BitwiseOr", "BitwiseXor", "Clamp",   "Divide",
    "Equal",   "FloorMod", "Greater",    "GreaterEqual", "Less",      "LessEqual",  "Maximum", "Minimum",
    "Mod",     "Multiply", "Negative",   "NotEqual",     "Power",     "Relu",       "Sign",    "SquaredDifference",
    "Subtract"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "integers", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::integers
