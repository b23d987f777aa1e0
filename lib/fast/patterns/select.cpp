// Select of f32, as masks are applied to scores, by rows along the last axis.
#include "fast/kernels/chunks.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "tensor/walk.hpp"

namespace ovir::fast::patterns::select {
namespace {

class Select final : public Kernel {
 public:
  std::string name() const override { return "select"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto to = shape_of(sizes.out[0]);
    for (const auto& v : sizes.in) {
      if (v.rank() > to.rank()) return nullptr;
      state->strides.push_back(broadcast_strides(shape_of(v), to));
    }
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    const auto& to = out[0];
    const auto last = to.rank() - 1, columns = to.dim(last), rows = to.size() / columns;
    const auto* mask = reinterpret_cast<const unsigned char*>(in[0].data);
    const auto *a = in[1].as<const float>(), *b = in[2].as<const float>();
    auto* y = to.as<float>();
    constexpr double kNanoseconds = 0.1, kRow = 10;
    parallel_ranges(runtime.pool(), rows, kRow + kNanoseconds * static_cast<double>(columns), [&](i64 begin, i64 end) {
      for (auto row = begin; row < end; ++row) {
        i64 at[3] = {};
        for (i64 d = last - 1, rest = row; d >= 0; rest /= to.dim(d), --d)
          for (int i = 0; i < 3; ++i) at[i] += rest % to.dim(d) * state.strides[i][d];
        isa().select(mask + at[0], state.strides[0][last], a + at[1], state.strides[1][last], b + at[2],
                     state.strides[2][last], y + row * columns, columns);
      }
    });
  }

  /// An element is read before its place is written, and operands of as many bytes lie as the output does; not the
  /// mask, of other bytes.
  bool writes_over(int input) const override { return input > 0; }

 private:
  struct State final : KernelState {
    std::vector<Shape> strides;  ///< of the operands in the output's axes
  };
  static Shape shape_of(const View& v) { return Shape(v.dims.begin(), v.dims.end()); }
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
