// CTCGreedyDecoderSeqLen of f32 where the lengths are known beforehand: one that is more than there are steps is for
// the reference kernel to report.
#include <algorithm>
#include <limits>

#include "fast/kernels/selection/ctc_greedy.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/line_attrs.hpp"

namespace ovir::fast::patterns::ctc_greedy_decoder {
namespace {

class CtcGreedyDecoder final : public Kernel {
 public:
  /// `longest` sequence; blank < 0: the last class.
  CtcGreedyDecoder(bool merges, i64 longest, std::optional<i64> blank)
      : merges_(merges), longest_(longest), blank_(blank) {}

  std::string name() const override { return "ctc_greedy"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    if (x.rank() != 3 || longest_ > x.dim(1) || x.dim(2) > std::numeric_limits<std::int32_t>::max()) return nullptr;
    auto state = std::make_unique<State>();
    state->best = state->reserve(ctc_greedy_scratch(described(x)));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    ctc_greedy(described(in[0]), in[0].as<const float>(), in[1], out[0], out.size() > 1 ? &out[1] : nullptr,
               state.floats(state.best), runtime.pool());
  }

 private:
  struct State final : KernelState {
    Scratch best;
  };

  CtcGreedy described(const View& x) const {
    return {x.dim(0), x.dim(1), x.dim(2), blank_.value_or(x.dim(2) - 1), merges_};
  }

  bool merges_;
  i64 longest_;
  std::optional<i64> blank_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), lengths = graph.input(root, 1), blank = graph.input(root, 2);
  const auto* known = graph.constant(lengths);
  if (!is_f32(graph, x) || !known || known->size() == 0) return std::nullopt;
  // Numbers of i32 or i64, as axes are.
  const auto list = constant_axes(graph, lengths, 0),
             label = blank.node < 0 ? std::nullopt : constant_axes(graph, blank, 0);
  if (!list || (blank.node >= 0 && (!label || label->size() != 1))) return std::nullopt;
  Match match{{root},
              {x, lengths},
              std::make_unique<CtcGreedyDecoder>(graph.attrs<CtcGreedyDecoderSeqLenAttrs>(root).merge_repeated,
                                                 *std::max_element(list->begin(), list->end()),
                                                 label ? std::optional(label->front()) : std::nullopt)};
  if (blank.node >= 0) match.inputs.push_back(blank);
  return match;
}

constexpr std::string_view kRoots[] = {"CTCGreedyDecoderSeqLen"};

}  // namespace

extern constinit const Pattern pattern{.name = "ctc_greedy_decoder", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::ctc_greedy_decoder
