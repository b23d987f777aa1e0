// What the tests of f32 convolutions on blocked values share.
#pragma once
#include "convolutions.hpp"
#include "fast/kernels/convolution/reorder.hpp"

namespace ovir::fast {

inline const Unary kRelu{Function::clamp, 0, 1e30f}, kSigmoid{Function::sigmoid}, kNone{};

/// What an epilogue makes of a sum.
inline double finished(const Epilogue& e, double sum, double residual) {
  const auto f = [&](double x) {
    if (e.activation.f == Function::clamp) return std::clamp<double>(x, e.activation.a, e.activation.b);
    if (e.activation.f == Function::sigmoid) return 1 / (1 + std::exp(-x));
    return x;
  };
  return e.residual_last ? f(sum) + residual : f(sum + residual);
}

struct Data {
  Floats in, filters, bias, residual;
  Data(const ConvolutionShape& s, bool transposed = false)
      : in(random_floats(s.batch * s.channels * s.plane(), 1)),
        filters(random_floats((transposed ? s.channels * s.group_outputs() : s.outputs * s.group_channels()) * s.taps(),
                              2)),
        bias(random_floats(round_up(s.outputs, 32) + 32, 3)),
        residual(random_floats(s.batch * s.outputs * s.out_plane(), 4)) {
    for (auto i = at(s.outputs); i < bias.size(); ++i) bias[i] = 0;
  }
};

inline std::vector<double> naive_transposed(const ConvolutionShape& s, const Data& d) {
  std::vector<double> out(at(s.batch * s.outputs * s.out_plane()));
  for (i64 n = 0; n < s.batch; ++n)
    for (i64 c = 0; c < s.channels; ++c)
      for (i64 p = 0; p < s.plane(); ++p)
        for (i64 o = 0; o < s.group_outputs(); ++o)
          for (i64 t = 0; t < s.taps(); ++t) {
            const auto y = p / s.width * s.stride_y - s.pad_top + t / s.kernel_width * s.dilation_y,
                       x = p % s.width * s.stride_x - s.pad_left + t % s.kernel_width * s.dilation_x;
            if (y < 0 || y >= s.out_height || x < 0 || x >= s.out_width) continue;
            const auto output = c / s.group_channels() * s.group_outputs() + o;
            out[at((n * s.outputs + output) * s.out_plane() + y * s.out_width + x)] +=
                static_cast<double>(d.in[at((n * s.channels + c) * s.plane() + p)]) *
                d.filters[at((c * s.group_outputs() + o) * s.taps() + t)];
          }
  return out;
}

/// Runs a kernel on blocked data with every kind of epilogue, on one thread and on four; `adds`: also with a residual.
template <class Run>
void check(const ConvolutionShape& s, const Data& d, const std::vector<double>& sums, Run run, double tolerance,
           bool planar = false, bool adds = true) {
  ThreadPool one(1), four(4);
  INFO(s.batch << "x" << s.channels << "x" << s.height << "x" << s.width << " to " << s.outputs << " groups "
               << s.groups << " kernel " << s.kernel_height << "x" << s.kernel_width << " stride " << s.stride_x);
  const auto blocked_size = [&](i64 channels, i64 plane) { return at(s.batch * blocks_of(channels) * plane * kBlock); };
  Floats in(blocked_size(s.channels, s.plane())), residual(blocked_size(s.outputs, s.out_plane()));
  to_blocked(d.in.data(), in.data(), s.batch, s.channels, s.plane(), four);
  to_blocked(d.residual.data(), residual.data(), s.batch, s.outputs, s.out_plane(), four);
  const Epilogue epilogues[] = {{},
                                {.bias = d.bias.data(), .activation = kRelu, .residual = residual.data()},
                                {.bias = d.bias.data(), .activation = kSigmoid},
                                {.activation = kRelu, .residual = residual.data(), .residual_last = true},
                                {.activation = kSigmoid, .residual = residual.data()}};
  for_each_isa([&] {
    for (const auto& e : epilogues) {
      if (e.residual && !adds) continue;
      Floats out(residual.size(), 77.0f), again = out, plain(at(s.batch * s.outputs * s.out_plane()));
      run(planar ? d.in.data() : in.data(), out.data(), e, four);
      to_plain(out.data(), plain.data(), s.batch, s.outputs, s.out_plane(), four);
      auto expected = sums;
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = finished(e, expected[i] + (e.bias ? d.bias[i / at(s.out_plane()) % at(s.outputs)] : 0.0f),
                               e.residual ? d.residual[i] : 0.0f);
      CHECK(worst(plain, expected, 1) < tolerance);
      run(planar ? d.in.data() : in.data(), again.data(), e, one);
      CHECK(out == again);
      // Over the residual, as plans place it (Ending::writes_over).
      if (e.residual && !(e.residual_last && e.activation.f != Function::identity)) {
        auto over = residual;
        auto own = e;
        own.residual = over.data();
        run(planar ? d.in.data() : in.data(), over.data(), own, four);
        CHECK((over == out));
      }
      // Lanes beyond the last channel stay zero, for those who sum over channels.
      for (i64 p = 0; s.outputs % kBlock && !e.residual && p < s.out_plane(); ++p)
        REQUIRE(out[at((blocks_of(s.outputs) - 1) * s.out_plane() * kBlock + p * kBlock + kBlock - 1)] == 0);
    }
  });
}

inline ConvolutionShape shape(i64 batch, i64 groups, i64 channels, i64 outputs, i64 height, i64 width,
                              i64 kernel_height, i64 kernel_width, i64 stride, i64 dilation, i64 pad,
                              i64 pad_end = -1) {
  ConvolutionShape s{batch,  groups, channels, outputs,       height,
                     width,  0,      0,        kernel_height, kernel_width,
                     stride, stride, dilation, dilation,      height == 1 ? 0 : pad,
                     pad};
  const auto end = pad_end < 0 ? pad : pad_end;
  s.out_height = (height + s.pad_top + (height == 1 ? 0 : end) - (kernel_height - 1) * dilation - 1) / stride + 1;
  s.out_width = (width + pad + end - (kernel_width - 1) * dilation - 1) / stride + 1;
  return s;
}

/// Rounding errors of as many products of numbers below 1.
inline double rounding(const ConvolutionShape& s) {
  return 1e-6 + 1e-7 * static_cast<double>(s.group_channels() * s.taps());
}

}  // namespace ovir::fast
