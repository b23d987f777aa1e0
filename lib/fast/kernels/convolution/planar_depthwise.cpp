#include "fast/kernels/convolution/planar_depthwise.hpp"

#include <array>
#include <utility>

#include "fast/kernels/convolution/padded_row.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kMostChannels = 4;  // those of 8 take as long in blocks
// Of a single channel: sums of more outputs or taps take longer than those of lanes that are outputs.
constexpr i64 kFewOutputs = 2, kMostOutputs = 8, kTapsOfMost = 9;
constexpr i64 kBandFloats = 4 << 10;   // of padded input rows: they stay in the cache of the first level
constexpr i64 kFewestColumns = 16;     // of an output row
constexpr double kNanoseconds = 0.04;  // an output and tap
constexpr i64 kLongRow = 16 << 10;     // of outputs, which are computed part by part

/// Part of the outputs of a plane that is computed at a time, and the input that it reads: rows of `width` columns,
/// those of each phase of the stride one after the other.
struct Bands {
  i64 columns, rows, phase_width, phases, width, read;

  explicit Bands(const ConvolutionShape& s)
      : columns(std::min(s.out_width, kLongRow)),
        phase_width(columns + ceil_div((s.kernel_width - 1) * s.dilation_x + 1, s.stride_x) - 1),
        phases(std::min(s.stride_x, (s.kernel_width - 1) * s.dilation_x + 1)),
        width(phases * phase_width) {
    const auto tall = (s.kernel_height - 1) * s.dilation_y + 1;
    rows = std::clamp<i64>((kBandFloats / width - tall) / s.stride_y + 1, 1, std::max<i64>(s.out_height, 1));
    read = (rows - 1) * s.stride_y + tall;
  }
  i64 size() const { return read * width; }
};

}  // namespace

bool planar_depthwise_pays(const ConvolutionShape& s, bool open) {
  if (!open && s.out_width < kFewestColumns) return false;
  if (s.is_by_channel()) return s.channels <= kMostChannels;
  return s.channels == 1 && (s.outputs <= kFewOutputs || (s.outputs <= kMostOutputs && s.taps() <= kTapsOfMost));
}

i64 planar_depthwise_filters_size(const ConvolutionShape& s) { return s.weights(); }

i64 planar_depthwise_scratch_size(const ConvolutionShape& s, int threads) { return threads * Bands(s).size(); }

void planar_depthwise_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                                  const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  VolumeShape v;
  v.slice = s;
  planar_depthwise_volume(v, filters, in, out, epilogue, scratch, pool);
}

void planar_depthwise_volume(const VolumeShape& v, const float* filters, const float* in, float* out,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const auto& s = v.slice;
  if (s.out_plane() == 0) return;
  const Bands bands(s);
  const auto across = ceil_div(s.out_width, bands.columns), down = ceil_div(s.out_height, bands.rows);
  const auto each = s.group_outputs();
  const auto& table = isa();
  Slots slots(scratch, bands.size(), slots_for(pool));
  const auto cost = static_cast<double>(bands.rows * bands.columns * each) *
                    static_cast<double>(1 + v.planes * s.taps()) * kNanoseconds;
  parallel_ranges(pool, s.batch * s.channels * v.out_slices * down * across, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    auto* const band = room.data();
    std::array<const float*, kMaxTaps> from;
    std::array<float, kMaxTaps> weights;
    for (auto i = begin; i < end; ++i) {
      const auto slice = i / (down * across), z = slice % v.out_slices, channel = slice / v.out_slices % s.channels,
                 image = slice / v.out_slices / s.channels;
      const Part rows(s.out_height, down, i / across % down), columns(s.out_width, across, i % across);
      const auto offset_of = [&](i64 output, i64 y) {
        return ((image * s.outputs + output) * v.out_slices + z) * s.out_plane() + y * s.out_width + columns.begin;
      };
      const auto for_rows = [&](auto work) {
        for (auto output = channel * each; output < (channel + 1) * each; ++output)
          for (auto y = rows.begin; y < rows.end; ++y) work(output, y, out + offset_of(output, y));
      };
      // Row r of the band is row top + r of the plane; rows beside the plane are not read.
      const auto top = rows.begin * s.stride_y - s.pad_top, left = columns.begin * s.stride_x - s.pad_left;
      const auto bottom = top + (rows.size() - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y;
      const bool inside = bands.phases == 1 && s.stride_x == 1 && left >= 0 && left + bands.width <= s.width;
      const auto planes = v.inside(z);
      for (auto plane = planes.begin; plane < planes.end; ++plane) {
        const auto* pixels = in + ((image * s.channels + channel) * v.slices + v.slice_of(z, plane)) * s.plane();
        for (auto y = std::max<i64>(top, 0); !inside && y <= std::min(bottom, s.height - 1); ++y)
          for (i64 phase = 0; phase < bands.phases; ++phase)
            copy_padded_row(pixels + y * s.width, s.width, left + phase, s.stride_x, bands.phase_width,
                            band + (y - top) * bands.width + phase * bands.phase_width);
        const auto* data = inside ? pixels : band;
        const auto origin = inside ? top * s.width + left : 0, stride = inside ? s.width : bands.width;
        for_rows([&](i64 output, i64 y, float* to) {
          const auto* filter = filters + (output * v.planes + plane) * s.taps();
          bool first = plane == planes.begin;
          i64 count = 0;
          const auto add = [&] {
            table.weighted_sum(weights.data(), from.data(), count, to, columns.size(), std::exchange(first, false));
            count = 0;
          };
          for (i64 t = 0; t < s.taps(); ++t) {
            const auto row = (y - rows.begin) * s.stride_y + t / s.kernel_width * s.dilation_y;
            if (top + row < 0 || top + row >= s.height) continue;
            if (count == kMaxTaps) add();
            const auto column = t % s.kernel_width * s.dilation_x;
            from[count] = data + origin + row * stride + column % s.stride_x * bands.phase_width + column / s.stride_x;
            weights[count++] = filter[t];
          }
          add();
        });
      }
      for_rows([&](i64 output, i64 y, float* to) {
        if (planes.size() <= 0) std::fill_n(to, columns.size(), 0.0F);
        const auto* residual = epilogue.residual ? epilogue.residual + offset_of(output, y) : nullptr;
        finish_row(table, epilogue, output, 0, to, residual, to, columns.size());
      });
    }
  });
}

}  // namespace ovir::fast
