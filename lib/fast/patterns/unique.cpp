// Unique of single elements: of flattened data, or along the only axis.
#include "fast/kernels/selection/unique.hpp"

#include <utility>

#include "fast/kernels/types.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/movement_attrs.hpp"
#include "plan/measuring_kernel.hpp"

namespace ovir::fast::patterns::unique {
namespace {

enum Input { data, axis };
enum Output { elements, first_indices, reverse_indices, counts };

class Unique final : public MeasuringKernel {
 public:
  explicit Unique(bool sorted) : sorted_(sorted) {}

  std::string name() const override { return "unique"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[data];
    if (x.size() > kMostUnique || (sizes.in.size() > axis && x.rank() != 1)) return nullptr;
    auto state = std::make_unique<State>();
    state->places = state->reserve(unique_scratch(x));
    return state;
  }

  void measure(KernelState& prepared, std::span<const View> in, std::span<Shape> out, Runtime&) const override {
    auto& state = static_cast<State&>(prepared);
    const auto found = find_unique(in[data], state.floats(state.places));
    state.is_found = true;
    for (std::size_t port = 0; port < out.size(); ++port)
      out[port] = {port == reverse_indices ? in[data].size() : found};
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out, Runtime&) const override {
    auto& state = static_cast<State&>(prepared);
    if (!std::exchange(state.is_found, false)) find_unique(in[data], state.floats(state.places));
    put_unique(in[data], sorted_, state.floats(state.places), out);
  }

 private:
  struct State final : KernelState {
    Scratch places;
    bool is_found = false;
  };

  bool sorted_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, data), along = graph.input(root, axis);
  if (!is_among(graph.stored(x), Numbers{}) || graph.stored({root, elements}) != graph.stored(x)) return std::nullopt;
  for (const auto port : {first_indices, reverse_indices, counts})
    if (graph.is_read({root, port}) && !is_among(graph.stored({root, port}), Indices{})) return std::nullopt;
  Match match{{root}, {x}, std::make_unique<Unique>(graph.attrs<UniqueAttrs>(root).sorted)};
  if (along.node >= 0) match.inputs.push_back(along);
  return match;
}

constexpr std::string_view kRoots[] = {"Unique"};

}  // namespace

extern constinit const Pattern pattern{.name = "unique", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::unique
