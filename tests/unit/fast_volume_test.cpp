// Convolutions of three spatial axes against sums in double precision, on every instruction set.
#include "convolutions.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/volume.hpp"
#include "fast/kernels/convolution/winograd.hpp"

namespace ovir::fast {
namespace {

/// A cubic kernel, of the same stride and padding along all axes.
VolumeShape cube(i64 batch, i64 channels, i64 outputs, std::array<i64, 3> in, i64 kernel, i64 stride, i64 pad) {
  VolumeShape v;
  const auto count = [&](i64 length) { return (length + 2 * pad - kernel) / stride + 1; };
  auto& s = v.slice;
  s.batch = batch;
  s.channels = channels;
  s.outputs = outputs;
  s.height = in[1];
  s.width = in[2];
  s.out_height = count(in[1]);
  s.out_width = count(in[2]);
  s.kernel_height = s.kernel_width = kernel;
  s.stride_y = s.stride_x = stride;
  s.pad_top = s.pad_left = pad;
  v.slices = in[0];
  v.out_slices = count(in[0]);
  v.planes = v.kernel_planes = kernel;
  v.stride = stride;
  v.pad = pad;
  return v;
}

/// The same with `planes` along the first axis.
VolumeShape deep(VolumeShape v, i64 planes, i64 stride, i64 dilation, i64 pad) {
  v.planes = v.kernel_planes = planes;
  v.stride = stride;
  v.dilation = dilation;
  v.pad = pad;
  v.out_slices = (v.slices + 2 * pad - (planes - 1) * dilation - 1) / stride + 1;
  return v;
}

std::vector<double> naive(const VolumeShape& v, const Floats& in, const Floats& filters) {
  const auto& s = v.slice;
  std::vector<double> out;
  for (i64 n = 0; n < s.batch; ++n)
    for (i64 o = 0; o < s.outputs; ++o)
      for (i64 i = 0; i < v.out_volume(); ++i) {
        const auto z = i / s.out_plane(), y = i / s.out_width % s.out_height, x = i % s.out_width;
        double sum = 0;
        for (i64 c = 0; c < s.channels; ++c)
          for (i64 t = 0; t < v.kernel_planes * s.taps(); ++t) {
            const auto from_z = z * v.stride + t / s.taps() * v.dilation - v.pad,
                       from_y = y * s.stride_y + t / s.kernel_width % s.kernel_height * s.dilation_y - s.pad_top,
                       from_x = x * s.stride_x + t % s.kernel_width * s.dilation_x - s.pad_left;
            if (from_z < 0 || from_z >= v.slices || from_y < 0 || from_y >= s.height || from_x < 0 || from_x >= s.width)
              continue;
            const auto place = ((n * s.channels + c) * v.slices + from_z) * s.plane() + from_y * s.width + from_x;
            sum +=
                static_cast<double>(in[at(place)]) * filters[at((o * s.channels + c) * v.kernel_planes * s.taps() + t)];
          }
        out.push_back(sum);
      }
  return out;
}

/// run(shape, filters, in, out, epilogue, pool) on one thread and on four, without what follows sums and with it; held
/// to so many times the rounding of sums.
template <class Run>
void check(const VolumeShape& v, Run run, double times, bool plain_input = false) {
  const auto& s = v.slice;
  INFO(s.batch << "x" << s.channels << "x" << v.slices << "x" << s.height << "x" << s.width << " to " << s.outputs
               << " kernel " << v.kernel_planes << "x" << s.kernel_height << "x" << s.kernel_width << " stride "
               << v.stride << "," << s.stride_x << " dilation " << v.dilation);
  ThreadPool one(1), four(4);
  const auto plain_in = random_floats(s.batch * s.channels * v.volume(), 1),
             filters = random_floats(s.outputs * v.filter_floats(), 2),
             plain_residual = random_floats(s.batch * s.outputs * v.out_volume(), 4);
  auto bias = random_floats(round_up(s.outputs, kColumns), 3);
  std::fill(bias.begin() + s.outputs, bias.end(), 0.0f);
  Floats in(at(s.batch * blocks_of(s.channels) * v.volume() * kBlock)),
      residual(at(s.batch * blocks_of(s.outputs) * v.out_volume() * kBlock));
  to_blocked(plain_in.data(), in.data(), s.batch, s.channels, v.volume(), four);
  to_blocked(plain_residual.data(), residual.data(), s.batch, s.outputs, v.out_volume(), four);
  const auto sums = naive(v, plain_in, filters);
  const auto rounding = 1e-6 + 1e-7 * static_cast<double>(v.filter_floats());
  for_each_isa([&] {
    for (const bool ends : {false, true}) {
      const Epilogue e{.bias = ends ? bias.data() : nullptr,
                       .activation = {ends ? Function::sigmoid : Function::identity},
                       .residual = ends ? residual.data() : nullptr};
      auto expected = sums;
      for (std::size_t i = 0; ends && i < expected.size(); ++i)
        expected[i] =
            1 / (1 + std::exp(-expected[i] - plain_residual[i] - bias[i / at(v.out_volume()) % at(s.outputs)]));
      Floats out(residual.size(), 77.0f), again = out, plain(sums.size());
      const auto* x = plain_input ? plain_in.data() : in.data();
      run(v, filters.data(), x, out.data(), e, four);
      to_plain(out.data(), plain.data(), s.batch, s.outputs, v.out_volume(), four);
      CHECK(worst(plain, expected, 1) < times * rounding);
      run(v, filters.data(), x, again.data(), e, one);
      CHECK(out == again);
      if (ends) {  // over the residual, as plans place it (Ending::writes_over)
        auto over = residual;
        auto own = e;
        own.residual = over.data();
        run(v, filters.data(), x, over.data(), own, four);
        CHECK((over == out));
      }
      // Lanes beyond the last channel are zeros, for those who sum over channels.
      if (s.outputs % kBlock) CHECK(out[residual.size() - 1] == 0);
    }
  });
}

void direct(const VolumeShape& whole, const float* filters, const float* in, float* out, const Epilogue& e,
            ThreadPool& pool) {
  const auto v = whole.trimmed().folded();
  Floats packed(at(volume_filters_size(v))), scratch(at(volume_scratch_size(v, pool.threads())));
  volume_pack(v, filters, packed.data(), pool);
  direct_volume(v, packed.data(), in, out, e, scratch.data(), pool);
}
void direct_once(const VolumeShape& whole, const float* filters, const float* in, float* out, const Epilogue& e,
                 ThreadPool& pool) {
  const auto v = whole.trimmed().folded();
  REQUIRE(volume_packs_by_panels(v));
  Floats scratch(at(volume_once_scratch_size(v, pool.threads())));
  direct_volume_once(v, filters, in, out, e, scratch.data(), pool);
}
template <WinogradTile kTile>
void winograd(const VolumeShape& whole, const float* filters, const float* in, float* out, const Epilogue& e,
              ThreadPool& pool) {
  const auto v = whole.trimmed();
  Floats packed(at(winograd_filters_size(v, kTile))), scratch(at(winograd_scratch_size(v, kTile, pool.threads())));
  winograd_pack(v, kTile, filters, packed.data(), pool);
  winograd_convolution(v, kTile, packed.data(), in, out, e, scratch.data(), pool);
}
template <WinogradTile kTile>
void winograd_once(const VolumeShape& whole, const float* filters, const float* in, float* out, const Epilogue& e,
                   ThreadPool& pool) {
  const auto v = whole.trimmed();
  REQUIRE(winograd_packs_by_panels(v, kTile));
  Floats scratch(at(winograd_once_scratch_size(v, kTile, pool.threads())));
  winograd_convolution_once(v, kTile, filters, in, out, e, scratch.data(), pool);
}

template <WinogradTile kTile>
void by_lines_of(const VolumeShape& whole, const float* filters, const float* in, float* out, const Epilogue& e,
                 ThreadPool& pool) {
  REQUIRE(winograd_tile(whole.rows()) == kTile);
  winograd<kTile>(whole.rows(), filters, in, out, e, pool);
}
constexpr auto by_lines = by_lines_of<WinogradTile::line>, by_strided_lines = by_lines_of<WinogradTile::strided_line>;
void by_lines_once(const VolumeShape& whole, const float* filters, const float* in, float* out, const Epilogue& e,
                   ThreadPool& pool) {
  winograd_once<WinogradTile::line>(whole.rows(), filters, in, out, e, pool);
}

constexpr double kSum = 1, kWinograd4 = 5;

TEST_CASE("direct convolution of volumes") {
  check(cube(2, 20, 18, {4, 5, 4}, 3, 1, 1), direct, kSum);
  check(cube(1, 24, 33, {9, 7, 8}, 3, 2, 1), direct, kSum);
  check(cube(1, 40, 49, {5, 6, 7}, 1, 1, 0), direct, kSum);
  check(cube(1, 32, 35, {5, 7, 9}, 1, 2, 0), direct, kSum);
  // A line along the first axis, with planes that meet nothing, or slices that meet none.
  check(deep(cube(2, 18, 20, {5, 6, 7}, 1, 1, 0), 3, 1, 1, 1), direct, kSum);
  check(deep(cube(1, 32, 20, {2, 3, 3}, 1, 1, 0), 3, 1, 2, 2), direct, kSum);
  check(deep(cube(1, 18, 20, {2, 3, 3}, 1, 1, 0), 3, 1, 2, 2), direct, kSum);
  check(deep(cube(1, 40, 8, {3, 4, 5}, 1, 1, 0), 3, 1, 2, 2), direct, kSum);
  check(deep(cube(1, 7, 8, {4, 5, 6}, 3, 1, 1), 3, 1, 1, 1), direct, kSum);
  check(deep(cube(1, 18, 20, {3, 4, 5}, 1, 1, 0), 1, 1, 1, 1), direct, kSum);
  check(deep(cube(1, 18, 40, {1, 6, 5}, 3, 1, 1), 3, 1, 1, 1), direct, kSum);
  check(deep(cube(1, 17, 16, {7, 6, 5}, 3, 1, 1), 2, 3, 2, 4), direct, kSum);
  // Of a padded input that is too large to be copied at once.
  check(deep(cube(1, 40, 20, {4, 50, 40}, 3, 1, 1), 3, 1, 2, 1), direct, kSum);
  check(deep(cube(2, 32, 17, {3, 60, 50}, 3, 2, 1), 2, 1, 1, 1), direct, kSum);
  // As large, by filters that are larger.
  check(cube(1, 64, 208, {8, 24, 24}, 3, 2, 1), direct, kSum);
}

TEST_CASE("direct convolution of volumes by panels that are packed right before") {
  check(cube(1, 20, 270, {3, 5, 4}, 3, 1, 1), direct_once, kSum);
  check(cube(1, 16, 260, {1, 4, 5}, 3, 1, 1), direct_once, kSum);
  check(cube(1, 40, 257, {2, 3, 4}, 1, 1, 0), direct_once, kSum);
  check(deep(cube(1, 24, 256, {4, 3, 4}, 1, 1, 0), 3, 2, 1, 1), direct_once, kSum);
}

TEST_CASE("convolution of volumes by Winograd") {
  check(cube(1, 40, 35, {3, 9, 7}, 3, 1, 1), winograd<WinogradTile::two>, kSum);
  check(cube(2, 32, 50, {2, 14, 13}, 3, 1, 1), winograd<WinogradTile::two>, kSum);
  check(deep(cube(1, 33, 40, {5, 8, 6}, 3, 1, 1), 1, 1, 1, 0), winograd<WinogradTile::two>, kSum);
  check(deep(cube(1, 32, 40, {5, 8, 6}, 3, 1, 1), 1, 2, 1, 1), winograd<WinogradTile::two>, kSum);
  check(deep(cube(1, 32, 40, {4, 8, 6}, 3, 1, 1), 2, 3, 2, 2), winograd<WinogradTile::two>, kSum);
  check(cube(1, 32, 34, {3, 25, 26}, 3, 1, 1), winograd<WinogradTile::four>, kWinograd4);
  // Blocks that are not full: of a single one only the channels that there are, are transformed and multiplied.
  check(cube(2, 8, 8, {4, 10, 9}, 3, 1, 1), winograd<WinogradTile::two>, kSum);
  check(cube(2, 8, 8, {5, 26, 25}, 3, 1, 1), winograd<WinogradTile::four>, kWinograd4);
  check(cube(1, 12, 9, {3, 30, 24}, 3, 1, 1), winograd<WinogradTile::four>, kWinograd4);
  check(cube(1, 9, 40, {2, 25, 27}, 3, 1, 1), winograd<WinogradTile::four>, kWinograd4);
  check(deep(cube(1, 24, 12, {6, 24, 28}, 3, 1, 1), 5, 2, 1, 2), winograd<WinogradTile::four>, kWinograd4);
  // Filters that chunks share out.
  check(cube(1, 96, 160, {2, 11, 10}, 3, 1, 1), winograd<WinogradTile::four>, kWinograd4);
  check(deep(cube(2, 160, 192, {2, 8, 9}, 3, 1, 1), 1, 1, 1, 0), winograd<WinogradTile::four>, kWinograd4);
  check(cube(1, 40, 35, {5, 17, 14}, 3, 2, 1), winograd<WinogradTile::strided>, kWinograd4);
}

TEST_CASE("convolution of volumes by Winograd and panels that are packed right before") {
  check(cube(1, 40, 250, {2, 9, 8}, 3, 1, 1), winograd_once<WinogradTile::two>, kSum);
  check(cube(1, 32, 260, {1, 7, 7}, 3, 1, 1), winograd_once<WinogradTile::two>, kSum);
  check(cube(1, 9, 260, {3, 7, 8}, 3, 1, 1), winograd_once<WinogradTile::two>, kSum);
  check(deep(cube(1, 32, 257, {3, 10, 9}, 3, 1, 1), 1, 1, 1, 0), winograd_once<WinogradTile::four>, kWinograd4);
}

TEST_CASE("convolution of volumes along the first axis by Winograd") {
  check(deep(cube(2, 32, 35, {8, 6, 7}, 1, 1, 0), 3, 1, 1, 1), by_lines, kWinograd4);
  check(deep(cube(1, 40, 50, {4, 5, 13}, 1, 1, 0), 3, 1, 1, 1), by_lines, kWinograd4);
  check(deep(cube(1, 33, 32, {8, 3, 4}, 1, 1, 0), 3, 1, 1, 0), by_lines, kWinograd4);
  check(deep(cube(1, 144, 40, {7, 30, 20}, 1, 1, 0), 3, 1, 1, 1), by_lines, kWinograd4);
  // Filters that chunks share out.
  check(deep(cube(2, 320, 290, {4, 4, 5}, 1, 1, 0), 3, 1, 1, 1), by_lines, kWinograd4);
  check(deep(cube(1, 40, 250, {6, 7, 9}, 1, 1, 0), 3, 1, 1, 1), by_lines_once, kWinograd4);
  check(deep(cube(2, 128, 140, {16, 5, 7}, 1, 1, 0), 3, 2, 1, 1), by_strided_lines, kWinograd4);
  // Lines of which half of a tile is none, and what is no line.
  CHECK_FALSE(winograd_tile(deep(cube(1, 32, 32, {2, 6, 7}, 1, 1, 0), 3, 1, 1, 1).rows()));
  CHECK_FALSE(winograd_tile(deep(cube(1, 32, 32, {8, 6, 7}, 1, 1, 0), 3, 3, 1, 1).rows()));
}

TEST_CASE("planar convolution of volumes") {
  const auto planar = [](const VolumeShape& v, const float* filters, const float* in, float* out, const Epilogue& e,
                         ThreadPool& pool) {
    const auto s = planar_slice(v);
    Floats packed(at(planar_filters_size(s))), scratch(at(planar_scratch_size(s, pool.threads())));
    planar_pack(s, filters, packed.data(), pool);
    planar_volume(v, packed.data(), in, out, e, scratch.data(), pool);
  };
  check(cube(2, 3, 20, {5, 12, 11}, 5, 2, 2), planar, kSum, true);
  check(deep(cube(1, 3, 33, {4, 20, 30}, 7, 2, 3), 3, 1, 2, 2), planar, kSum, true);
  check(deep(cube(1, 1, 16, {4, 9, 150}, 3, 1, 1), 1, 1, 1, 0), planar, kSum, true);
}

}  // namespace
}  // namespace ovir::fast
