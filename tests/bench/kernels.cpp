// The compute kernels by themselves: GFLOP/s, best of many runs, beside the best that a packed product reaches in the
// same process. Direct sums count as the work of every kind of convolution, so Winograd's may exceed it.
//   ovir_kernel_bench [THREADS] [baseline|avx2|avx512]
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/direct.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/pointwise.hpp"
#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/elementwise/chain.hpp"
#include "fast/kernels/product/packed.hpp"
#include "fast/kit/convolution_method.hpp"

namespace {

using namespace ovir;
using namespace ovir::fast;

/// Seconds of the fastest of many runs.
double best(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double min = 1e9;
  const auto end = Clock::now() + std::chrono::milliseconds(150);
  run();
  for (int i = 0; i < 20 || Clock::now() < end; ++i) {
    const auto start = Clock::now();
    run();
    min = std::min(min, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return min;
}

Buffer numbers(i64 n) {
  Buffer b(n);
  for (i64 i = 0; i < n; ++i) b.data()[i] = static_cast<float>(i % 17 - 8) / 16;
  return b;
}

double reference = 0;  // GFLOP/s of the fastest product so far

void print(const std::string& name, double gflop, double seconds) {
  const auto rate = gflop / seconds;
  if (name.starts_with("product")) reference = std::max(reference, rate);
  fmt::print("{:44} {:9.1f} us {:8.1f} GFLOP/s {:5.0f}%\n", name, seconds * 1e6, rate, 100 * rate / reference);
}

void product_of(i64 m, i64 k, i64 n, ThreadPool& pool) {
  const auto a = numbers(m * k), b = numbers(k * n), packed = numbers(panels_size(k, n)), c = numbers(m * n);
  pack_panels(b.data(), n, 1, k, n, packed.data(), pool);
  for (const auto& [name, f] : {std::pair{"", Unary{}}, {" gelu", Unary{Function::gelu_erf}}}) {
    const auto seconds = best([&, g = f] {
      product({packed.data(), k, n}, a.data(), k, c.data(), n, m, {.activation = g}, pool);
    });
    print(fmt::format("product {}x{}x{}{}", m, k, n, name), 2e-9 * static_cast<double>(m * k * n), seconds);
  }
}

ConvolutionShape convolution(i64 channels, i64 outputs, i64 side, i64 kernel, i64 stride, i64 groups = 1) {
  ConvolutionShape s{
      .batch = 1, .groups = groups, .channels = channels, .outputs = outputs, .height = side, .width = side};
  s.kernel_height = s.kernel_width = kernel;
  s.stride_y = s.stride_x = stride;
  s.pad_top = s.pad_left = kernel == stride ? 0 : kernel / 2;
  s.out_height = s.out_width = (side + 2 * s.pad_top - kernel) / stride + 1;
  return s;
}

void convolutions(ThreadPool& pool) {
  const Epilogue relu{.activation = {Function::clamp, 0, 1e30f}};
  const auto run = [&](const ConvolutionShape& s, std::string_view name, i64 scratch_size, auto compute) {
    const auto in = numbers(s.batch * round_up(s.channels, kBlock) * s.plane()),
               out = numbers(s.batch * round_up(s.outputs, kBlock) * s.out_plane()), scratch = numbers(scratch_size);
    const auto seconds = best([&] { compute(in.data(), out.data(), scratch.data()); });
    print(fmt::format("{} {}->{} @{} k{} s{}", name, s.channels, s.outputs, s.height, s.kernel_height, s.stride_x),
          2e-9 * s.multiplications(), seconds);
  };
  for (const auto& [channels, outputs, side, kernel, stride] : {std::array<i64, 5>{64, 64, 56, 3, 1},
                                                                {128, 128, 28, 3, 1},
                                                                {256, 256, 14, 3, 1},
                                                                {512, 512, 7, 3, 1},
                                                                {128, 128, 56, 3, 2},
                                                                {64, 128, 80, 3, 2},
                                                                {256, 256, 28, 3, 2},
                                                                {64, 64, 224, 3, 1},
                                                                {64, 256, 56, 1, 1},
                                                                {256, 64, 56, 1, 1},
                                                                {512, 128, 28, 1, 1},
                                                                {256, 1024, 14, 1, 1},
                                                                {2048, 512, 7, 1, 1},
                                                                {256, 512, 56, 1, 2},
                                                                {16, 16, 160, 3, 1},
                                                                {32, 32, 80, 3, 1}}) {
    const auto s = convolution(channels, outputs, side, kernel, stride);
    const auto filters = numbers(direct_filters_size(s));
    if (s.is_pointwise())
      run(s, "pointwise", 0,
          [&](const float* in, float* out, float*) { pointwise_convolution(s, filters.data(), in, out, relu, pool); });
    else
      run(s, "direct", direct_scratch_size(s, pool.threads()), [&](const float* in, float* out, float* scratch) {
        direct_convolution(s, filters.data(), in, out, relu, scratch, pool);
      });
    for (const auto method :
         {ConvolutionMethod::winograd2, ConvolutionMethod::winograd4, ConvolutionMethod::winograd_strided})
      if (const auto tile = *tile_of(method); winograd_fits(s, tile)) {
        const auto transformed = numbers(winograd_filters_size(s, tile));
        run(s, name(method), winograd_scratch_size(s, tile, pool.threads()),
            [&](const float* in, float* out, float* scratch) {
              winograd_convolution(s, tile, transformed.data(), in, out, relu, scratch, pool);
            });
      }
  }
  for (const auto& s :
       {convolution(3, 64, 224, 7, 2), convolution(3, 32, 224, 3, 2), convolution(3, 192, 224, 16, 16)}) {
    const auto filters = numbers(planar_filters_size(s));
    run(s, "planar", planar_scratch_size(s, pool.threads()), [&](const float* in, float* out, float* scratch) {
      planar_convolution(s, filters.data(), in, out, relu, scratch, pool);
    });
  }
  for (const auto& [channels, side, kernel, stride] : {std::array<i64, 4>{32, 112, 3, 1},
                                                       {96, 112, 3, 2},
                                                       {144, 56, 3, 1},
                                                       {384, 14, 3, 1},
                                                       {960, 7, 3, 1},
                                                       {96, 56, 7, 1},
                                                       {384, 14, 7, 1},
                                                       {768, 7, 7, 1},
                                                       {672, 14, 5, 1}}) {
    const auto s = convolution(channels, channels, side, kernel, stride, channels);
    const auto filters = numbers(depthwise_filters_size(s));
    run(s, "depthwise", depthwise_scratch_size(s, pool.threads()), [&](const float* in, float* out, float* scratch) {
      depthwise_convolution(s, filters.data(), in, out, relu, scratch, pool);
    });
  }
}

void elementwise(ThreadPool& pool) {
  const i64 n = 1 << 20;
  const auto a = numbers(n), b = numbers(n), y = numbers(n);
  const i64 shape[] = {n};
  const std::span<const i64> shapes[] = {shape, shape};
  const void* const inputs[] = {a.data(), b.data()};
  const auto show = [&](const char* name, const ChainProgram& program) {
    const Chain chain(program, std::span(shapes).first(static_cast<std::size_t>(program.inputs)), shape);
    const auto seconds =
        best([&] { chain.run(std::span(inputs).first(static_cast<std::size_t>(program.inputs)), y.data(), pool); });
    fmt::print("{:44} {:9.1f} us {:8.2f} ns/value\n", name, seconds * 1e6, seconds * 1e9 / static_cast<double>(n));
  };
  show("copy (identity)", {1, {{ChainStep::unary, {}, {}, 0, 0}}});
  show("add", {2, {{ChainStep::binary, {}, Binary::add, 0, 1}}});
  show("multiply, add, relu", {2,
                               {{ChainStep::binary, {}, Binary::multiply, 0, 1},
                                {ChainStep::binary, {}, Binary::add, 2, 1},
                                {ChainStep::unary, {Function::clamp, 0, 1e30f}, {}, 3, 0}}});
  for (const auto& [name, f] : {std::pair{"exp", Function::exp},
                                {"tanh", Function::tanh},
                                {"erf", Function::erf},
                                {"log", Function::log},
                                {"gelu", Function::gelu_erf},
                                {"swish", Function::swish},
                                {"mish", Function::mish}})
    show(name, {1, {{ChainStep::unary, {f, 1}, {}, 0, 0}}});
}

}  // namespace

int main(int argc, char** argv) {
  ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : available_processors());
  const std::string level = argc > 2 ? argv[2] : "";
  if (level == "baseline") force_isa(Isa::baseline);
  if (level == "avx2") force_isa(Isa::avx2);
  fmt::print("{} threads, {}\n", pool.threads(), isa().name);
  product_of(128, 768, 768, pool);
  product_of(128, 768, 3072, pool);
  product_of(128, 3072, 768, pool);
  product_of(1, 768, 3072, pool);
  product_of(197, 192, 576, pool);
  product_of(3136, 96, 384, pool);
  convolutions(pool);
  elementwise(pool);
}
