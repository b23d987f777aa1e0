// ISTFT: a real signal from the spectra of its overlapping frames.
// Spec: operation-sets/operation-specs/signals/istft-16
#include "op/kit/signal_attrs.hpp"
#include "ops/signals/common.hpp"

namespace ovir::ops::istft {
namespace {

enum Input { data, window, frame_size, frame_step, signal_length };

using Attrs = IstftAttrs;

void infer(InferContext& c) {
  c.require_rank(data, 3, 4);
  c.require_rank(window, 1);
  c.require_rank(frame_size, 0);
  c.require_rank(frame_step, 0);
  const auto size = c.scalar_int(frame_size), step = c.scalar_int(frame_step);
  if (step)
    c.require(*step > 0, frame_step, Code::E0508, "input \"frame_step\" of ISTFT must be positive, but is {}", *step);
  if (size) {
    c.require(0 < *size && *size < (i64{1} << 40), frame_size, Code::E0508,
              "input \"frame_size\" of ISTFT must be positive, but is {}", *size);
    if (c.shape(window).has_rank())
      c.require(c.shape(window)[0].compatible(Dim(1, *size)), window, Code::E0506,
                "input \"window\" of ISTFT must have 1 to {} elements (the frame size), but its shape is {}", *size,
                to_string(c.shape(window)));
  }
  if (c.has(signal_length)) c.require_single(signal_length);
  const auto& from = c.shape(data);
  if (!from.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto rank = from.rank();
  c.require(from[rank - 1].contains(2), data, Code::E0506,
            "the last dim of input \"data\" of ISTFT must be 2 (real and imaginary part), but its shape is {}",
            to_string(from));
  if (size)
    c.require(from[rank - 3].contains(*size / 2 + 1), data, Code::E0506,
              "input \"data\" of ISTFT must have {1} values for each frame of {0} elements, but its shape is {2}",
              *size, *size / 2 + 1, to_string(from));
  Dim length;
  if (c.has(signal_length)) {
    if (const auto asked = c.dims(signal_length); asked && asked->size() == 1) length = asked->front();
  } else if (size && step) {
    length = (from[rank - 2] - Dim(1)) * Dim(*step) + Dim(c.attrs<Attrs>().center ? *size % 2 : *size);
  }
  PartialShape to;
  if (rank == 4) to.push_back(from[0]);
  to.push_back(length);
  c.output(0, std::move(to));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto size = c.scalar_int(frame_size), step = c.scalar_int(frame_step), rank = from.rank();
  const auto batches = rank == 4 ? from.dim(0) : 1, bins = from.dim(rank - 3), frames = from.dim(rank - 2);
  // Saturated: what is beyond the output does not count.
  constexpr auto kFar = std::numeric_limits<i64>::max() / 2;
  // Where there is no frame, as long as one.
  const auto whole = std::min(checked_mul(std::max<i64>(frames - 1, 0), step).value_or(kFar), kFar) + size;
  const auto margin = a.center ? size / 2 : 0;  // of the padding that a centered signal had on either side
  const auto length = std::max<i64>(0, c.has(signal_length) ? c.scalar_int(signal_length) : whole - 2 * margin);
  auto& out = c.out(0, rank == 4 ? Shape{batches, length} : Shape{length});
  const auto span = std::min(whole, length + margin);

  std::pmr::vector<double> weights(size, 0.0, c.memory()), sum(span, c.memory()), weight(span, c.memory());
  const double scale = (a.normalized ? std::sqrt(static_cast<double>(size)) : 1.0) / static_cast<double>(size);
  dispatch(from.type(), Floats{}, [&]<class T>() {
    const auto given = c.in(window).values<T>();
    std::copy(given.begin(), given.end(), weights.begin() + (size - std::ssize(given)) / 2);
    signals::Line spectrum(size, c.memory());
    signals::Fourier fourier(size, signals::Direction::inverse, c.memory());
    for (i64 b = 0; b < batches; ++b) {
      std::fill(sum.begin(), sum.end(), 0.0);
      std::fill(weight.begin(), weight.end(), 0.0);
      for (i64 f = 0; f < frames && (f == 0 || step <= span / f); ++f) {
        for (i64 k = 0; k < size; ++k) {
          const auto bin = k < bins ? k : size - k;
          const T* x = from.data<T>() + ((b * bins + bin) * frames + f) * 2;
          spectrum[k] = {static_cast<double>(x[0]), k < bins ? static_cast<double>(x[1]) : -static_cast<double>(x[1])};
        }
        const auto frame = fourier(spectrum);
        for (i64 i = 0; i < std::min(size, span - f * step); ++i) {
          const auto at = f * step + i;
          const auto w = weights[i];
          sum[at] += frame[i].real() * scale * w;
          weight[at] += w * w;
        }
      }
      T* y = out.mutable_data<T>() + b * length;
      for (i64 i = 0; i < length; ++i) {
        const auto at = i + margin;
        const bool inside = at < span && weight[at] != 0;
        y[i] = inside ? static_cast<T>(sum[at] / weight[at]) : T(0);
      }
    }
  });
}

constexpr TypeVar T{"T", kFloat}, TSize{"T_INT_1", kIndex}, TStep{"T_INT_2", kIndex}, TLength{"T_INT_3", kIndex};
constexpr PortDef kInputs[] = {{"data", T},
                               {"window", T},
                               {"frame_size", TSize},
                               {"frame_step", TStep},
                               {"signal_length", TLength, Arity::optional}};
constexpr PortDef kOutputs[] = {{"signal", T}};
constexpr Version kVersions[] = {
    {.since = 16,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"center", &Attrs::center, kRequired>,
                         Attr<"normalized", &Attrs::normalized, kRequired>>,
     .infer = infer,
     .reads = ports(frame_size, frame_step, signal_length),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ISTFT", .spec = "signals/istft", .versions = kVersions};

}  // namespace ovir::ops::istft
