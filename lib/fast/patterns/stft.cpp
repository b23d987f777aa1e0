// STFT-15 of f32, of frames whose size and step are known: windows of the signal, which are transformed as lines.
#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/signals/fourier.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/signal_attrs.hpp"

namespace ovir::fast::patterns::stft {
namespace {

constexpr i64 kFramesAndBins[] = {0, 2, 1, 3};  // change places

class Stft final : public Kernel {
 public:
  Stft(i64 size, i64 step, bool transposed) : factors_(size), step_(step), transposed_(transposed) {}

  std::string name() const override { return "stft"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &signal = sizes.in[0], &window = sizes.in[1], &out = sizes.out[0];
    const auto size = factors_.n(), frames = out.dim(out.rank() - (transposed_ ? 2 : 3));
    if (out.size() == 0 || window.size() > size) return nullptr;
    auto state = std::make_unique<State>();
    state->length = signal.dim(signal.rank() - 1);
    state->lines = {.outer = signal.size() / state->length * frames,
                    .from = size,
                    .to = size / 2 + 1,
                    .inner = 1,
                    .real_in = true,
                    .real_out = false,
                    .half = false,
                    .inverse = false};
    state->frames = frames;
    state->windows = state->reserve(state->lines.outer * size);
    if (transposed_) state->spectra = state->reserve(out.size());
    state->work = state->reserve(fourier_scratch(size) * slots_for(runtime.pool()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto size = factors_.n(), count = in[1].size();
    const auto before = (size - count) / 2;  // a window shorter than the frame stands in its middle
    const auto *signal = in[0].as<const float>(), *window = in[1].as<const float>();
    auto* windows = state.floats(state.windows);
    parallel_ranges(pool, state.lines.outer, 5 + static_cast<double>(size) / 8, [&](i64 begin, i64 end) {
      for (auto line = begin; line < end; ++line) {
        const auto* from = signal + line / state.frames * state.length + line % state.frames * step_ + before;
        auto* to = windows + line * size;
        std::fill_n(to, before, 0.0F);
        isa().binary(Binary::multiply, from, 1, window, 1, to + before, count);
        std::fill_n(to + before + count, size - before - count, 0.0F);
      }
    });
    auto* y = out[0].as<float>();
    fourier(factors_, state.lines, windows, transposed_ ? state.floats(state.spectra) : y, state.floats(state.work),
            pool);
    if (!transposed_) return;
    const i64 dims[] = {state.lines.outer / state.frames, state.frames, state.lines.to, 2};
    permute(dims, kFramesAndBins, state.floats(state.spectra), y, pool);
  }

 private:
  struct State final : KernelState {
    FourierLines lines{};
    i64 length = 0, frames = 0;
    Scratch windows, spectra, work;
  };

  FourierFactors factors_;
  i64 step_;
  bool transposed_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto signal = graph.input(root, 0), window = graph.input(root, 1);
  const auto size = whole_number(graph, graph.input(root, 2)), step = whole_number(graph, graph.input(root, 3));
  if (!is_f32(graph, signal) || !is_f32(graph, window) || !size || !step || !can_transform(*size) || *step < 1)
    return std::nullopt;
  return Match{
      {root}, {signal, window}, std::make_unique<Stft>(*size, *step, graph.attrs<StftAttrs>(root).transpose_frames)};
}

constexpr std::string_view kRoots[] = {"STFT"};

}  // namespace

extern constinit const Pattern pattern{.name = "stft", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::stft
