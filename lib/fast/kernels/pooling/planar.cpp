#include "fast/kernels/pooling/planar.hpp"

#include <limits>
#include <type_traits>
#include <utility>

#include "fast/kernels/convolution/shape.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kBand = 8 << 10;  // elements of rows that wait in the first-level cache to be joined

template <class T>
struct Maximum {
  using Element = T;
  using Limits = std::numeric_limits<T>;
  static constexpr T kNone = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
  // Of equal numbers the first remains; NaN does not count.
  static T join(T so_far, T v) { return v > so_far ? v : so_far; }
};
struct Sum {
  using Element = float;
  static constexpr float kNone = 0;
  static float join(float so_far, float v) { return so_far + v; }
};

/// y[i] = `taps` ≤ 4 values of x joined, `apart` from each other, from x[i·stride] on, and before them y[i] unless
/// `first`. Strides and numbers of taps that are common are known to the compiler.
template <class Join, i64 kStride, i64 kTaps, class T>
void join_taps(const T* x, i64 apart, i64 stride, T* y, i64 n, bool first) {
  const auto step = kStride > 0 ? kStride : stride;
  const auto joined = [&](T v, i64 i) {
    for (i64 t = 0; t < kTaps; ++t) v = Join::join(v, x[i * step + t * apart]);
    return v;
  };
  if (first)
    for (i64 i = 0; i < n; ++i) y[i] = joined(Join::kNone, i);
  else
    for (i64 i = 0; i < n; ++i) y[i] = joined(y[i], i);
}

template <class Join, i64 kStride, class T = typename Join::Element>
void join_windows(const T* x, i64 taps, i64 apart, i64 stride, T* y, i64 n) {
  for (i64 t = 0; t < taps;) {
    const auto left = taps - t;
    const T* from = x + t * apart;
    if (left >= 4) join_taps<Join, kStride, 4>(from, apart, stride, y, n, t == 0);
    else if (left == 3) join_taps<Join, kStride, 3>(from, apart, stride, y, n, t == 0);
    else if (left == 2) join_taps<Join, kStride, 2>(from, apart, stride, y, n, t == 0);
    else join_taps<Join, kStride, 1>(from, apart, stride, y, n, t == 0);
    t += std::min<i64>(left, 4);
  }
}

template <class T>
bool has_nan(const T* x, i64 n) {
  if (!std::is_floating_point_v<T>) return false;
  int any = 0;  // a number, which compilers join in vectors
  for (i64 i = 0; i < n; ++i) any |= x[i] != x[i];
  return any != 0;
}

template <class Join>
struct Pooling {
  using T = typename Join::Element;
  const PlanarPooling& p;
  const PoolAxis &depth = p.axes[0], &down = p.axes[1], &across = p.axes[2];

  T one(const T* x, const PoolWindow& w) const {
    if constexpr (std::is_same_v<Join, Sum>)
      if (across.dilation == 1 && w.taps >= kBlock) return isa().sum(x + w.first, w.taps);
    T v = Join::kNone;
    for (i64 t = 0; t < w.taps; ++t) v = Join::join(v, x[w.first + t * across.dilation]);
    return v;
  }

  /// The windows of a row.
  void along(const T* x, T* y) const {
    constexpr i64 kEnough = 8;
    auto begin = across.begin, end = across.end;
    if (end - begin < kEnough) begin = end = 0;
    for (i64 i = 0; i < begin; ++i) y[i] = one(x, across.windows[i]);
    for (auto i = end; i < across.out(); ++i) y[i] = one(x, across.windows[i]);
    if (begin == end) return;
    const auto& w = across.windows[begin];
    const auto with = [&](auto join) {
      join(x + w.first, w.taps, across.dilation, across.stride, y + begin, end - begin);
    };
    if (across.stride == 1) with(join_windows<Join, 1>);
    else if (across.stride == 2) with(join_windows<Join, 2>);
    else with(join_windows<Join, 0>);
  }

  void divide(float* y, i64 rows) const {
    const auto by = [&](i64 begin, i64 end, i64 divisor) {
      const auto size = static_cast<float>(divisor);
      for (auto i = begin; i < end; ++i) y[i] /= size;
    };
    if (p.divisor > 0) return by(0, across.out(), p.divisor);
    for (i64 i = 0; i < across.begin; ++i) by(i, i + 1, rows * across.windows[i].taps);
    by(across.begin, across.end, rows * across.windows[across.begin].taps);
    for (auto i = across.end; i < across.out(); ++i) by(i, i + 1, rows * across.windows[i].taps);
  }

  /// Rows [begin, end) of output slice z of a plane.
  void band(const T* plane, i64 z, i64 begin, i64 end, T* out, T* rows) const {
    const auto width = across.out();
    const auto& slices = depth.windows[z];
    const auto read = down.reads({begin, end});
    const auto top = read.begin, bottom = read.end, height = read.size();
    const auto source = [&](i64 slice, i64 y) {
      return plane + ((slices.first + slice * depth.dilation) * down.in + y) * across.in;
    };
    const bool joins = slices.taps > 1 || down.in > 1;
    for (i64 slice = 0; joins && slice < slices.taps; ++slice)
      for (auto y = top; y < bottom; ++y) along(source(slice, y), rows + (slice * height + y - top) * width);
    for (auto y = begin; y < end; ++y, out += width) {
      const auto& w = down.windows[y];
      if (!joins) along(source(0, w.first), out);
      for (i64 slice = 0; joins && slice < slices.taps; ++slice) {
        const T* from = rows + (slice * height + w.first - top) * width;
        const auto apart = down.dilation * width;
        if (slice == 0) join_windows<Join, 1>(from, w.taps, apart, 1, out, width);
        else
          for (i64 t = 0; t < w.taps; ++t) join_taps<Join, 1, 1>(from + t * apart, 0, 1, out, width, false);
      }
      if constexpr (std::is_same_v<Join, Sum>) {
        divide(out, slices.taps * w.taps);
      } else {
        const auto* first = source(0, w.first);
        if (!has_nan(first, across.in)) continue;
        for (i64 i = 0; i < width; ++i)
          if (const auto v = first[across.windows[i].first]; v != v) out[i] = v;
      }
    }
  }

  void all(const T* in, T* out, float* scratch, ThreadPool& pool) const {
    const auto slices = depth.out(), height = down.out(), bands = ceil_div(height, p.band), of_plane = slices * bands,
               plane = depth.in * down.in * across.in;
    const auto cost = static_cast<double>(plane) / static_cast<double>(of_plane);
    Slots rooms(scratch, p.band_floats(sizeof(T)), slots_for(pool));
    parallel_ranges(pool, p.planes * of_plane, cost, [&](i64 begin, i64 end) {
      const Slots::Lease room(rooms);
      for (auto i = begin; i < end; ++i) {
        const auto z = i / bands % slices;
        const Part part(height, bands, i % bands);
        band(in + i / of_plane * plane, z, part.begin, part.end, out + (i / bands * height + part.begin) * across.out(),
             reinterpret_cast<T*>(room.data()));
      }
    });
  }
};

}  // namespace

void PoolAxis::find_alike() {
  i64 taps = 0;
  for (const auto& w : windows) taps = std::max(taps, w.taps);
  begin = 0;
  while (windows[begin].taps < taps) ++begin;
  stride = begin + 1 < out() ? windows[begin + 1].first - windows[begin].first : 1;
  end = begin + 1;
  while (end < out() && windows[end].taps == taps &&
         windows[end].first == windows[begin].first + (end - begin) * stride)
    ++end;
}

Part PoolAxis::reads(Part some) const {
  Part all{in, 0};
  for (auto i = some.begin; i < some.end; ++i) {
    const auto& w = windows[i];
    all.begin = std::min(all.begin, w.first);
    all.end = std::max(all.end, w.first + (w.taps - 1) * dilation + 1);
  }
  return all;
}

bool PoolAxis::is_whole() const { return out() == 1 && windows[0].taps == in; }

void PlanarPooling::merge() {
  // Windows of whole rows are windows of one long row.
  for (std::size_t d = 2; d-- > 0;) {
    auto &outer = axes[d], &inner = axes[2];
    if (!inner.is_whole() || inner.dilation != 1 || outer.dilation != 1) return;
    for (auto& w : outer.windows) w = {w.first * inner.in, w.taps * inner.in};
    outer.in *= inner.in;
    inner = std::exchange(outer, {});
  }
}

bool PlanarPooling::pays(i64 channels) const {
  const auto taps_of = [](const PoolAxis& axis) { return axis.windows[axis.begin].taps; };
  const auto blocks = blocks_of(channels);
  // The rows of a slice are joined for each window that has the slice, in blocks once.
  constexpr i64 kManyRepeated = 7;
  if (const auto slices = taps_of(axes[0]); slices > 1)
    return slices * channels < kManyRepeated * axes[0].stride * blocks;
  if (2 * channels <= blocks * kBlock) return true;
  constexpr i64 kManyTaps = 36, kLongRow = 24;
  if (taps_of(axes[1]) * taps_of(axes[2]) > kManyTaps) return true;
  // Blocks take a pixel's channels in one vector or in several. Windows of five columns share most that they read.
  return isa().lanes < kBlock && axes[2].out() >= kLongRow && axes[2].stride == 1 && taps_of(axes[2]) != 5;
}

bool PlanarPooling::begin() {
  i64 slices = 0, extent = 0;
  merge();
  for (auto& axis : axes) {
    axis.find_alike();
    for (const auto& w : axis.windows)
      if (w.taps < 1) return false;
  }
  for (const auto& w : axes[0].windows) slices = std::max(slices, w.taps);
  for (const auto& w : axes[1].windows) extent = std::max(extent, (w.taps - 1) * axes[1].dilation + 1);
  const auto height = axes[1].out(), row = slices * axes[2].out();
  const auto apart = ceil_div(axes[1].in, height);  // input rows for another output row, more or less
  band = std::clamp<i64>((kBand / row - extent) / apart, 1, height);
  const auto bands = ceil_div(height, band);
  i64 rows = 0;
  for (i64 i = 0; i < bands; ++i) {
    const Part part(height, bands, i);
    rows = std::max(rows, axes[1].reads(part).size());
  }
  band_elements = rows * row;
  return true;
}

i64 PlanarPooling::band_floats(i64 element_bytes) const {
  return round_up(ceil_div(band_elements * element_bytes, i64{sizeof(float)}), kBlock);
}

i64 planar_scratch_size(const PlanarPooling& p, int threads, ElementType type) {
  return threads * p.band_floats(byte_width(type));
}

void planar_pool(const PlanarPooling& p, const float* in, float* out, float* scratch, ThreadPool& pool) {
  if (p.maximum) Pooling<Maximum<float>>{p}.all(in, out, scratch, pool);
  else Pooling<Sum>{p}.all(in, out, scratch, pool);
}

void planar_maximum(const PlanarPooling& p, ElementType type, const void* in, void* out, float* scratch,
                    ThreadPool& pool) {
  dispatch(type, Integers{}, [&]<class T>() {
    Pooling<Maximum<T>>{p}.all(static_cast<const T*>(in), static_cast<T*>(out), scratch, pool);
  });
}

}  // namespace ovir::fast
