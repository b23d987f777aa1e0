// STFT: the short-time Fourier transform: RDFT of windowed frames of a signal.
// Spec: operation-sets/operation-specs/signals/stft-15
#include "op/kit/signal_attrs.hpp"
#include "ops/signals/common.hpp"

namespace ovir::ops::stft {
namespace {

using signals::Line;
using signals::T;

enum Input { signal, window, frame_size, frame_step };

using Attrs = StftAttrs;

/// 1 + (length - frame) / step
Dim frame_count(Dim length, Dim frame, Dim step) {
  const auto count = [](i64 n, i64 f, i64 s) {
    return n == Dim::kUnbounded ? n : std::max<i64>(0, n - f) / std::max<i64>(1, s) + 1;
  };
  return {count(length.min, frame.max, step.max), count(length.max, frame.min, step.min)};
}

void infer(InferContext& c) {
  c.require_rank(signal, 1, 2);
  c.require_rank(window, 1);
  c.require_single(frame_size);
  c.require_single(frame_step);
  const auto size = c.scalar_int(frame_size), step = c.scalar_int(frame_step);
  if (size)
    c.require(*size > 0, frame_size, Code::E0508, "input \"frame_size\" of STFT must be positive, but is {}", *size);
  if (step)
    c.require(*step > 0, frame_step, Code::E0508, "input \"frame_step\" of STFT must be positive, but is {}", *step);
  const auto& s = c.shape(signal);
  const auto& w = c.shape(window);
  if (size && w.has_rank())
    c.require(w[0].min <= *size, window, Code::E0506,
              "input \"window\" of STFT must not have more elements than \"frame_size\" ({1}), but has {0}",
              to_string(w[0]), *size);
  if (!s.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto length = s[s.rank() - 1];
  if (size)
    c.require(*size <= length.max, frame_size, Code::E0508,
              "input \"frame_size\" of STFT must not be more than the {1} elements of \"signal\", but is {0}", *size,
              to_string(length));

  const auto known = [&](int port) {
    const auto d = c.dims(port);
    return d && d->size() == 1 ? Dim(std::max<i64>(1, d->front().min), d->front().max) : Dim(1, Dim::kUnbounded);
  };
  const auto frame = known(frame_size);
  const auto frames = frame_count(length, frame, known(frame_step)), bins = div_floor(frame, 2) + Dim(1);
  PartialShape out;
  if (s.rank() == 2) out.push_back(s[0]);
  const bool transposed = c.attrs<Attrs>().transpose_frames;
  out.push_back(transposed ? bins : frames);
  out.push_back(transposed ? frames : bins);
  out.push_back(Dim(2));
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto &s = c.in(signal), &w = c.in(window);
  const auto size = c.scalar_int(frame_size), step = c.scalar_int(frame_step);
  const auto length = s.dim(s.rank() - 1), batch = s.rank() == 2 ? s.dim(0) : 1, frames = (length - size) / step + 1,
             bins = size / 2 + 1;
  const bool transposed = c.attrs<Attrs>().transpose_frames;
  Shape shape{transposed ? bins : frames, transposed ? frames : bins, 2};
  if (s.rank() == 2) shape.insert(shape.begin(), batch);
  auto& out = c.out(0, shape);
  // A window shorter than the frame stands in its middle.
  const auto before = (size - w.size()) / 2;
  dispatch(out.type(), Floats{}, [&]<class E>() {
    Line line(size, c.memory());
    signals::Fourier fourier(size, signals::Direction::forward, c.memory());
    for (i64 b = 0; b < batch; ++b)
      for (i64 f = 0; f < frames; ++f) {
        std::fill(line.begin(), line.end(), signals::Complex{});
        for (i64 i = 0; i < w.size(); ++i)
          line[before + i] = static_cast<double>(s.data<E>()[b * length + f * step + before + i]) *
                             static_cast<double>(w.data<E>()[i]);
        const auto spectrum = fourier(line);
        for (i64 k = 0; k < bins; ++k) {
          auto* to = out.mutable_data<E>() + ((b * frames * bins) + (transposed ? k * frames + f : f * bins + k)) * 2;
          to[0] = static_cast<E>(spectrum[k].real());
          to[1] = static_cast<E>(spectrum[k].imag());
        }
      }
  });
}

constexpr TypeVar TSize{"T_INT", kIndex}, TStep{"T_INT2", kIndex};
constexpr PortDef kInputs[] = {{"signal", T}, {"window", T}, {"frame_size", TSize}, {"frame_step", TStep}};
constexpr auto kAttrs = attributes<Attrs, Attr<"transpose_frames", &Attrs::transpose_frames, kRequired>>;
constexpr Version kVersions[] = {{.since = 15,
                                  .inputs = kInputs,
                                  .outputs = signals::kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .reads = ports(frame_size, frame_step),
                                  .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "STFT", .spec = "signals/stft", .versions = kVersions};

}  // namespace ovir::ops::stft
