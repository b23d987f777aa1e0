// NonMaxSuppression of f32 without soft suppression.
#include <limits>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/non_max_suppression.hpp"
#include "fast/kernels/types.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"
#include "plan/measuring_kernel.hpp"

namespace ovir::fast::patterns::non_max_suppression {
namespace {

enum Input { boxes, scores, most, overlap, score };
enum Output { selected_indices, selected_scores, valid_outputs };

/// The number that a view of one element holds; 0 where there is none.
double number(std::span<const View> in, std::size_t i) {
  if (i >= in.size()) return 0;
  double value = 0;
  dispatch(in[i].type, Numbers{}, [&]<class T>() { value = static_cast<double>(*in[i].as<const T>()); });
  return value;
}

class NonMaxSuppression final : public MeasuringKernel {
 public:
  explicit NonMaxSuppression(const NonMaxSuppressionAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "non_max_suppression"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    // How much is kept must be known: otherwise all boxes of all classes might be.
    if (sizes.in.size() > most && !sizes.in[most].data) return nullptr;
    auto state = std::make_unique<State>();
    state->s = described(sizes.in);
    constexpr auto kMost = i64{std::numeric_limits<std::int32_t>::max()};
    const auto& s = state->s;
    if (s.count > kMost || s.most == 0 || s.lists() > kMost / s.most) return nullptr;
    constexpr i64 kPairs = 10'000'000'000;  // that may be looked at, in seconds; the reference kernel counts them
    if (s.count > kPairs / (s.lists() * s.most)) return nullptr;
    state->kept = state->reserve(suppression_scratch(s));
    state->slots = state->reserve(suppression_slot(s) * slots_for(runtime.pool()));
    return state;
  }

  void measure(KernelState& prepared, std::span<const View> in, std::span<Shape> out, Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    suppress(state, in, runtime);
    for (auto& shape : out) shape = {state.found, 3};
    if (out.size() > valid_outputs) out[valid_outputs] = {1};
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    if (state.found < 0) suppress(state, in, runtime);
    const bool has_scores = out.size() > selected_scores && out[selected_scores].type == ElementType::f32;
    put_suppressed(state.s, state.found, state.floats(state.kept), out[selected_indices], in[scores].as<const float>(),
                   has_scores ? out[selected_scores].as<float>() : nullptr);
    if (out.size() > valid_outputs)
      dispatch(out[valid_outputs].type, Indices{},
               [&]<class Index>() { *out[valid_outputs].as<Index>() = static_cast<Index>(state.found); });
    state.found = -1;
  }

 private:
  struct State final : KernelState {
    Suppression s;
    Scratch kept, slots;
    i64 found = -1;  ///< boxes, once measured
  };

  Suppression described(std::span<const View> in) const {
    const auto& all = in[scores];
    const auto limit = static_cast<i64>(number(in, most));
    return {all.dim(0),
            all.dim(1),
            all.dim(2),
            std::clamp<i64>(limit, 0, all.dim(2)),
            attrs_.box_encoding == BoxEncoding::center,
            attrs_.sort_result_descending,
            0,
            0};
  }

  void suppress(State& state, std::span<const View> in, Runtime& runtime) const {
    state.s.overlap = static_cast<float>(number(in, overlap));
    state.s.score = static_cast<float>(number(in, score));
    state.found = fast::suppress(state.s, in[boxes].as<const float>(), in[scores].as<const float>(),
                                 state.floats(state.kept), state.floats(state.slots), runtime.pool());
  }

  NonMaxSuppressionAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr int kSigma = 5;
  if (const auto sigma = graph.input(root, kSigma); sigma.node >= 0) {
    const auto* known = graph.constant(sigma);
    if (!known || known->type() != ElementType::f32 || known->size() != 1 || *known->data<float>() > 0)
      return std::nullopt;
  }
  const auto limit = graph.input(root, most);
  if (!is_f32(graph, graph.input(root, boxes)) || !is_f32(graph, graph.input(root, scores)) || limit.node < 0 ||
      !graph.constant(limit) || !is_among(graph.stored({root, selected_indices}), Indices{}))
    return std::nullopt;
  if (graph.is_read({root, selected_scores}) && !is_f32(graph, {root, selected_scores})) return std::nullopt;
  Match match{{root}, {}, std::make_unique<NonMaxSuppression>(graph.attrs<NonMaxSuppressionAttrs>(root))};
  bool ended = false;
  for (int port = 0; port <= kSigma; ++port) {
    const auto v = graph.input(root, port);
    if (v.node < 0) ended = true;
    else if (ended || (port > scores && !is_among(graph.stored(v), Numbers{}))) return std::nullopt;
    else match.inputs.push_back(v);
  }
  return match;
}

constexpr std::string_view kRoots[] = {"NonMaxSuppression"};

}  // namespace

extern constinit const Pattern pattern{.name = "non_max_suppression", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::non_max_suppression
