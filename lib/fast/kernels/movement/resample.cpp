#include "fast/kernels/movement/resample.hpp"

#include <array>
#include <cstring>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPiece = 4 << 10;  // elements of long rows, or columns, that are computed at a time

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float>;

/// Pixels index[k] of a row, one after the other.
template <class T>
void pick(const i64* index, i64 inner, const T* x, T* y, i64 n) {
  const auto by = [&](auto numbers) {
    for (i64 k = 0; k < n; ++k) std::memcpy(y + k * numbers, x + index[k] * numbers, sizeof(T) * numbers);
  };
  if (inner == 1) by(std::integral_constant<i64, 1>());
  else if (inner == 3) by(std::integral_constant<i64, 3>());
  else by(inner);
}

/// Elements [begin, end) of row k, as sums.
template <class T>
void add_rows(const AxisTaps<T>& taps, i64 k, i64 row, const T* x, i64 begin, i64 end, SumOf<T>* to) {
  constexpr i64 kTogether = 8;
  const auto* index = taps.index.data() + k * taps.count;
  const auto* weight = taps.weight.data() + k * taps.count;
  std::array<const T*, kTogether> rows;
  for (i64 t = 0; t < taps.count; t += kTogether) {
    const auto count = std::min(kTogether, taps.count - t);
    for (i64 i = 0; i < count; ++i) rows[i] = x + index[t + i] * row + begin;
    if constexpr (kIsFloat<T>) isa().weighted_sum(weight + t, rows.data(), count, to, end - begin, t == 0);
    else line_isa().add_byte_rows(weight + t, rows.data(), count, to, end - begin, t == 0);
  }
}

template <class T>
void add_pixels(const AxisTaps<T>& taps, i64 first, i64 inner, const SumOf<T>* x, SumOf<T>* y, i64 n) {
  const auto* index = taps.index.data() + first * taps.count;
  const auto* weight = taps.weight.data() + first * taps.count;
  if constexpr (kIsFloat<T>) line_isa().add_pixels(index, weight, taps.count, inner, x, y, n);
  else line_isa().add_wide_pixels(index, weight, taps.count, inner, x, y, n);
}

template <class T>
bool picks(const Resampling<T>& r) {
  return (r.rows ? *r.rows : *r.columns).picks;
}

/// Sums that are kept aside: of a row before its columns are resampled, and of bytes that are to be rounded.
template <class T>
i64 sums_aside(const Resampling<T>& r) {
  if (picks(r)) return 0;
  const auto before = r.columns && (r.rows || !kIsFloat<T>) ? r.columns->in * r.inner : 0;
  const auto rounded = kIsFloat<T> ? 0 : r.columns ? r.columns->out * r.inner : std::min(r.inner, kPiece);
  return round_up(before + rounded, kBlock);
}

/// Elements [begin, end) of row k, where columns stay as they are.
template <class T>
void row_of(const Resampling<T>& r, i64 k, const T* x, i64 begin, i64 end, SumOf<T>* room, T* y) {
  const auto& taps = *r.rows;
  if (taps.picks) {
    std::copy_n(x + taps.index[k] * r.inner + begin, end - begin, y + begin);
  } else if constexpr (kIsFloat<T>) {
    add_rows(taps, k, r.inner, x, begin, end, y + begin);
  } else {
    add_rows(taps, k, r.inner, x, begin, end, room);
    line_isa().to_bytes(room, y + begin, end - begin);
  }
}

/// Columns [begin, end) of row k, or of the row x where rows stay as they are.
template <class T>
void columns_of(const Resampling<T>& r, i64 k, const T* x, i64 begin, i64 end, SumOf<T>* room, T* y) {
  const auto& taps = *r.columns;
  const auto row = taps.in * r.inner;
  y += begin * r.inner;
  if (taps.picks)
    return pick(taps.index.data() + begin, r.inner, x + (r.rows ? r.rows->index[k] * row : 0), y, end - begin);
  if (r.rows) add_rows(*r.rows, k, row, x, 0, row, room);
  if constexpr (kIsFloat<T>) {
    add_pixels(taps, begin, r.inner, r.rows ? room : x, y, end - begin);
  } else {
    constexpr double kSame = 1;
    if (!r.rows) line_isa().add_byte_rows(&kSame, &x, 1, room, row, true);
    add_pixels(taps, begin, r.inner, room, room + row, end - begin);
    line_isa().to_bytes(room + row, y, (end - begin) * r.inner);
  }
}

}  // namespace

template <class T>
i64 resample_scratch_size(const Resampling<T>& r, int threads) {
  return threads * sums_aside(r) * static_cast<i64>(sizeof(SumOf<T>) / sizeof(float));
}

template <class T>
void resample(const Resampling<T>& r, const T* x, T* y, float* scratch, ThreadPool& pool) {
  const auto rows_in = r.rows ? r.rows->in : 1, rows = r.rows ? r.rows->out : 1;
  const auto in = rows_in * (r.columns ? r.columns->in : 1) * r.inner, out = (r.columns ? r.columns->out : 1) * r.inner;
  // Rows are computed as a whole where that takes sums which all of their columns need.
  const auto units = r.columns ? r.columns->out : r.inner;
  const bool whole = r.columns && sums_aside(r) > 0;
  const auto parts = whole ? 1 : ceil_div(units, kPiece);
  const auto taps = static_cast<double>((r.rows ? r.rows->count : 0) + (r.columns ? 4 * r.columns->count : 0)) / 4;
  const auto cost = 5 + taps * static_cast<double>(std::max(in / rows_in, out) / parts) / 4;
  constexpr auto kFloats = static_cast<i64>(sizeof(SumOf<T>) / sizeof(float));
  Slots slots(scratch, sums_aside(r) * kFloats, slots_for(pool));
  parallel_ranges(pool, r.outer * rows * parts, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    auto* sums = reinterpret_cast<SumOf<T>*>(room.data());
    for (auto i = begin; i < end; ++i) {
      const auto line = i / parts / rows, k = i / parts % rows;
      const Part part(units, parts, i % parts);
      (r.columns ? columns_of<T> : row_of<T>)(r, k, x + line * in, part.begin, part.end, sums,
                                              y + (line * rows + k) * out);
    }
  });
}

template i64 resample_scratch_size(const Resampling<float>&, int);
template i64 resample_scratch_size(const Resampling<std::uint8_t>&, int);
template void resample(const Resampling<float>&, const float*, float*, float*, ThreadPool&);
template void resample(const Resampling<std::uint8_t>&, const std::uint8_t*, std::uint8_t*, float*, ThreadPool&);

}  // namespace ovir::fast
