// Select of f32, as masks are applied to scores, by rows.
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/elementwise/broadcast_rows.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast::patterns::select {
namespace {

constexpr i64 kPiece = 8192;  // of a row

class Select final : public Kernel {
 public:
  std::string name() const override { return "select"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& to = sizes.out[0];
    for (const auto& v : sizes.in)
      if (v.rank() > to.rank()) return nullptr;
    return std::make_unique<State>(BroadcastRows<3>({sizes.in[0].dims, sizes.in[1].dims, sizes.in[2].dims}, to.dims));
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& rows = static_cast<State&>(prepared).rows;
    const auto* mask = reinterpret_cast<const unsigned char*>(in[0].data);
    const auto *a = in[1].as<const float>(), *b = in[2].as<const float>();
    auto* y = out[0].as<float>();
    const auto [mask_step, a_step, b_step] = rows.steps();
    constexpr double kNanoseconds = 0.1, kRow = 5;
    const auto cost = kRow + kNanoseconds * static_cast<double>(std::min(rows.length(), kPiece));
    parallel_ranges(runtime.pool(), rows.pieces(kPiece), cost, [&](i64 begin, i64 end) {
      rows.each(kPiece, begin, end, [&](const BroadcastRows<3>::Places& from, i64 to, i64 n) {
        isa().select(mask + from[0], mask_step, a + from[1], a_step, b + from[2], b_step, y + to, n);
      });
    });
  }

  /// An element is read before its place is written, and operands of as many bytes lie as the output does; not the
  /// mask, of other bytes.
  bool writes_over(int input) const override { return input > 0; }

 private:
  struct State final : KernelState {
    explicit State(BroadcastRows<3> r) : rows(std::move(r)) {}
    BroadcastRows<3> rows;
  };
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto mask = graph.input(root, 0), a = graph.input(root, 1), b = graph.input(root, 2);
  const auto& out = graph.fact({root, 0}).shape;
  if (graph.attrs<BroadcastAttrs>(root).rule().kind == AutoBroadcast::pdpd || !out.has_rank() || out.rank() == 0 ||
      graph.stored(mask) != ElementType::boolean || !is_f32(graph, a) || !is_f32(graph, b) || !is_f32(graph, {root, 0}))
    return std::nullopt;
  return Match{{root}, {mask, a, b}, std::make_unique<Select>()};
}

constexpr std::string_view kRoots[] = {"Select"};

}  // namespace

extern constinit const Pattern pattern{.name = "select", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::select
