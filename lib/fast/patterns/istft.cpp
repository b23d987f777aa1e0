// ISTFT-16 of f32, of frames whose size, step and window are known: spectra are transformed as lines, which are then
// added up where they overlap.
#include <algorithm>
#include <cmath>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/signals/fourier.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/signal_attrs.hpp"

namespace ovir::fast::patterns::istft {
namespace {

constexpr i64 kFramesAndBins[] = {0, 2, 1, 3};  // change places

class Istft final : public Kernel {
 public:
  /// `window`: of the frames' size.
  Istft(Buffer window, i64 step, const IstftAttrs& attrs)
      : factors_(window.size()),
        window_(std::move(window)),
        step_(step),
        margin_(attrs.center ? factors_.n() / 2 : 0),
        scale_(attrs.normalized ? std::sqrt(static_cast<double>(factors_.n())) : 1) {}

  std::string name() const override { return "istft"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &spectra = sizes.in[0], &out = sizes.out[0];
    const auto rank = spectra.rank(), size = factors_.n(), bins = spectra.dim(rank - 3);
    auto state = std::make_unique<State>();
    state->frames = spectra.dim(rank - 2);
    if (out.size() == 0 || spectra.size() == 0 || bins != size / 2 + 1) return nullptr;
    state->length = out.dim(out.rank() - 1);
    if (!set_weights(*state)) return nullptr;
    const auto lines = spectra.size() / (2 * bins);
    state->lines = {.outer = lines,
                    .from = bins,
                    .to = size,
                    .inner = 1,
                    .real_in = false,
                    .real_out = true,
                    .half = true,
                    .inverse = true};
    state->spectra = state->reserve(spectra.size());
    state->signals = state->reserve(lines * size);
    state->work = state->reserve(fourier_scratch(size) * slots_for(runtime.pool()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto& table = isa();
    const auto size = factors_.n(), frames = state.frames, length = state.length;
    const i64 dims[] = {state.lines.outer / frames, state.lines.from, frames, 2};
    auto *spectra = state.floats(state.spectra), *signals = state.floats(state.signals);
    permute(dims, kFramesAndBins, in[0].as<const float>(), spectra, pool);
    fourier(factors_, state.lines, spectra, signals, state.floats(state.work), pool);
    auto* y = out[0].as<float>();
    const auto parts = ceil_div(length, kPart);
    const auto cost = static_cast<double>(kPart * (ceil_div(size, step_) + 1)) / 4;
    parallel_ranges(pool, dims[0] * parts, cost, [&](i64 begin, i64 end) {
      alignas(64) float weighted[kPart];
      for (auto i = begin; i < end; ++i) {
        const auto batch = i / parts, first = i % parts * kPart, last = std::min(length, first + kPart);
        auto* to = y + batch * length;
        std::fill(to + first, to + last, 0.0F);
        // The frames that have elements of this part.
        const auto from = ceil_div(std::max<i64>(0, first + margin_ - size + 1), step_);
        for (auto f = from; f < frames && f * step_ - margin_ < last; ++f) {
          const auto place = f * step_ - margin_, a = std::max(first, place), b = std::min(last, place + size);
          if (a >= b) continue;
          table.binary(Binary::multiply, signals + (batch * frames + f) * size + a - place, 1,
                       window_.data() + a - place, 1, weighted, b - a);
          table.binary(Binary::add, to + a, 1, weighted, 1, to + a, b - a);
        }
        table.binary(Binary::multiply, to + first, 1, state.factors.data() + first, 1, to + first, last - first);
      }
    });
  }

 private:
  static constexpr i64 kPart = 1024;  // elements that one thread adds up

  struct State final : KernelState {
    FourierLines lines{};
    i64 frames = 0, length = 0;
    Buffer factors;  // of the sums: the scale by the squares of the windows that have the element, or 0
    Scratch spectra, signals, work;
  };

  /// False where few squares are left of some element, whose sum f32 does not hold well enough.
  bool set_weights(State& state) const {
    const auto size = factors_.n();
    std::vector<double> weights(static_cast<std::size_t>(state.length), 0);
    for (i64 f = 0; f < state.frames && f * step_ - margin_ < state.length; ++f) {
      const auto place = f * step_ - margin_;
      for (auto at = std::max<i64>(0, place); at < std::min(state.length, place + size); ++at)
        weights[at] += static_cast<double>(window_.data()[at - place]) * window_.data()[at - place];
    }
    const auto most = *std::ranges::max_element(weights);
    state.factors = Buffer(state.length);
    for (i64 i = 0; i < state.length; ++i) {
      constexpr double kLeast = 0.05;
      if (weights[i] != 0 && weights[i] < kLeast * most) return false;
      state.factors.data()[i] = weights[i] == 0 ? 0 : static_cast<float>(scale_ / weights[i]);
    }
    return true;
  }

  FourierFactors factors_;
  Buffer window_;
  i64 step_, margin_;
  double scale_;
};

/// A window shorter than the frame stands in its middle.
Buffer widened(const Tensor& window, i64 size) {
  Buffer wide(size);
  std::fill_n(wide.data(), size, 0.0F);
  std::copy_n(window.data<float>(), window.size(), wide.data() + (size - window.size()) / 2);
  return wide;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto spectra = graph.input(root, 0);
  const auto* window = graph.constant(graph.input(root, 1));
  const auto size = whole_number(graph, graph.input(root, 2)), step = whole_number(graph, graph.input(root, 3));
  constexpr i64 kFar = i64{1} << 40;  // steps beyond it are for the reference kernel, whose sums of places cannot wrap
  if (!is_f32(graph, spectra) || !window || window->type() != ElementType::f32 || !size || !step ||
      !can_transform(*size) || *step < 1 || *step > kFar || window->size() > *size)
    return std::nullopt;
  if (const auto length = graph.input(root, 4); length.node >= 0 && !graph.constant(length)) return std::nullopt;
  return Match{
      {root}, {spectra}, std::make_unique<Istft>(widened(*window, *size), *step, graph.attrs<IstftAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"ISTFT"};

}  // namespace

extern constinit const Pattern pattern{.name = "istft", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::istft
