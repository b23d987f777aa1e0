// Elementwise operations of two integers of 32 or 64 bits, by rows along the last axes that neither repeats alone.
#include "fast/kernels/chunks.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "plan/pattern.hpp"
#include "tensor/walk.hpp"

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
    auto state = std::make_unique<State>(shape_of(sizes.in[0]), shape_of(sizes.in[1]), shape_of(sizes.out[0]));
    return state->plan.run < kShort ? nullptr : std::move(state);
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& plan = static_cast<State&>(prepared).plan;
    const auto width = byte_width(in[0].type), width_out = byte_width(out[0].type);
    const auto pieces = ceil_div(plan.run, kPiece), rows = out[0].size() / plan.run;
    const auto cost = 20 + time() * static_cast<double>(std::min(plan.run, kPiece));
    parallel_ranges(runtime.pool(), rows * pieces, cost, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        const auto row = i / pieces, first = i % pieces * kPiece, n = std::min(kPiece, plan.run - first);
        i64 a = first * plan.a_step, b = first * plan.b_step, rest = row;
        for (auto d = plan.outer.rank(); d-- > 0; rest /= plan.outer[d]) {
          a += rest % plan.outer[d] * plan.a_outer[d];
          b += rest % plan.outer[d] * plan.b_outer[d];
        }
        const auto* x = in[0].data + a * width;
        const auto* y = in[1].data + b * width;
        auto* to = out[0].data + (row * plan.run + first) * width_out;
        if (in[0].type == ElementType::i64)
          isa().whole_i64(operation_, reinterpret_cast<const i64*>(x), plan.a_step, reinterpret_cast<const i64*>(y),
                          plan.b_step, to, n);
        else
          isa().whole_i32(operation_, reinterpret_cast<const std::int32_t*>(x), plan.a_step,
                          reinterpret_cast<const std::int32_t*>(y), plan.b_step, to, n);
      }
    });
  }

  /// An element is read before its place is written, and an operand of as many bytes lies as the output does; not the
  /// booleans of a comparison.
  bool writes_over(int) const override { return operation_ < Whole::equal; }

 private:
  struct State final : KernelState {
    State(const Shape& a, const Shape& b, const Shape& to) : plan(a, b, to) {}
    BroadcastPlan plan;
  };
  static Shape shape_of(const View& v) { return Shape(v.dims.begin(), v.dims.end()); }
  /// An element, roughly.
  double time() const { return operation_ == Whole::mod || operation_ == Whole::floor_mod ? 1 : 0.25; }

  Whole operation_;
  std::string name_;
};

std::optional<Whole> operation_of(std::string_view type) {
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
  const auto operation = operation_of(graph.type(root));
  if (!operation || !contains(kIndex, type) || graph.stored(b) != type ||
      result != (*operation < Whole::equal ? type : ElementType::boolean) ||
      graph.attrs<BroadcastAttrs>(root).rule().kind == AutoBroadcast::pdpd)
    return std::nullopt;
  const auto& shape = graph.fact({root, 0}).shape;
  if (!shape.has_rank() || shape.element_count().max < kFew) return std::nullopt;
  return Match{{root}, {a, b}, std::make_unique<Integers>(*operation, "integers." + std::string(graph.type(root)))};
}

constexpr std::string_view kRoots[] = {"Add",      "Equal",     "FloorMod", "Greater", "GreaterEqual",
                                       "Less",     "LessEqual", "Maximum",  "Minimum", "Mod",
                                       "Multiply", "NotEqual",  "Subtract"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "integers", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::integers
