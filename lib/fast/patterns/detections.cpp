// MulticlassNms and MatrixNms of f32 whose classes share the boxes of an image.
#include "fast/kernels/selection/detections.hpp"

#include <limits>

#include "fast/kernels/types.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/detections.hpp"
#include "plan/measuring_kernel.hpp"

namespace ovir::fast::patterns::detections {
namespace {

enum Input { boxes, scores, roisnum };
enum Output { selected_outputs, selected_indices, selected_num };

DetectionOrder order_of(const DetectionAttrs& a, bool matrix) {
  const bool by_class = a.sort_result == SortResult::classid;
  if (a.sort_result_across_batch && a.sort_result != SortResult::none)
    return by_class ? DetectionOrder::classes : DetectionOrder::scores;
  return by_class && !matrix ? DetectionOrder::classes_of_image : DetectionOrder::as_kept;
}

class DetectionsOf final : public MeasuringKernel {
 public:
  DetectionsOf(const DetectionAttrs& attrs, bool matrix) : attrs_(attrs), matrix_(matrix) {}

  std::string name() const override { return matrix_ ? "matrix_nms" : "multiclass_nms"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    state->d = described(sizes.in[scores]);
    const auto& d = state->d;
    constexpr auto kMost = i64{std::numeric_limits<std::int32_t>::max()};
    if (d.of_class == 0 || d.of_image == 0 || d.classes > kMost / d.count || d.images > kMost / (d.classes * d.count))
      return nullptr;
    constexpr i64 kPairs = 10'000'000'000;  // that may be looked at, in seconds; the reference kernel counts them
    const auto beside = d.matrix ? d.of_class : std::min(d.of_class, d.of_image);
    if (d.of_class > kPairs / d.lists() / beside) return nullptr;
    const auto kept = detections_scratch(d), slots = detections_slot(d) * detections_slots(d, runtime.pool());
    constexpr i64 kFloats = i64{1} << 28;  // for all that may be found; the reference kernel needs what is
    if (kept + slots > kFloats) return nullptr;
    state->kept = state->reserve(kept);
    state->slots = state->reserve(slots);
    return state;
  }

  void measure(KernelState& prepared, std::span<const View> in, std::span<Shape> out, Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    detect(state, in, runtime);
    out[selected_outputs] = {state.found, 6};
    out[selected_indices] = {state.found, 1};
    out[selected_num] = {state.d.images};
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    if (state.found < 0) detect(state, in, runtime);
    put_detections(state.d, state.found, state.floats(state.kept), in[boxes].as<const float>(), out[selected_outputs],
                   out[selected_indices], out[selected_num]);
    state.found = -1;
  }

 private:
  struct State final : KernelState {
    Detections d;
    Scratch kept, slots;
    i64 found = -1;  ///< once measured
  };

  Detections described(const View& all) const {
    const auto& a = attrs_;
    const auto limit = [](i64 n, i64 otherwise) { return n < 0 ? otherwise : std::min(n, otherwise); };
    const auto classes = all.dim(1), count = all.dim(2), of_class = limit(a.nms_top_k, count);
    return {.images = all.dim(0),
            .classes = classes,
            .count = count,
            .of_class = of_class,
            .of_image = limit(a.keep_top_k, std::numeric_limits<i64>::max()),
            .background = a.background_class,
            .normalized = a.normalized,
            .order = order_of(a, matrix_),
            .score = a.score_threshold,
            .matrix = matrix_,
            .overlap = a.iou_threshold,
            .eta = a.nms_eta,
            .gaussian = a.decay_function == Decay::gaussian,
            .sigma = a.gaussian_sigma,
            .decayed = a.post_threshold};
  }

  void detect(State& state, std::span<const View> in, Runtime& runtime) const {
    state.found = fast::detect(state.d, in[boxes].as<const float>(), in[scores].as<const float>(),
                               state.floats(state.kept), state.floats(state.slots), runtime.pool());
  }

  DetectionAttrs attrs_;
  bool matrix_;
};

constexpr std::string_view kMatrix = "MatrixNms";

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto& attrs = graph.attrs<DetectionAttrs>(root);
  const bool matrix = graph.type(root) == kMatrix;
  // Where exponentials grow as boxes overlap, the least of them is another one.
  if (matrix && !(attrs.gaussian_sigma >= 0)) return std::nullopt;
  const auto at = graph.input(root, boxes), by = graph.input(root, scores);
  if (!is_f32(graph, at) || !is_f32(graph, by) || graph.input(root, roisnum).node >= 0) return std::nullopt;
  if (graph.is_read({root, selected_outputs}) && !is_f32(graph, {root, selected_outputs})) return std::nullopt;
  for (const auto port : {selected_indices, selected_num})
    if (!is_among(graph.stored({root, port}), Indices{})) return std::nullopt;
  return Match{{root}, {at, by}, std::make_unique<DetectionsOf>(attrs, matrix)};
}

constexpr std::string_view kRoots[] = {"MulticlassNms", kMatrix};

}  // namespace

extern constinit const Pattern pattern{.name = "detections", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::detections
