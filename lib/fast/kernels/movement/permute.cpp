#include "fast/kernels/movement/permute.hpp"

#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr std::size_t kMaxDims = 8;

/// Output dims with the strides that they have in the input; neighbors that stay neighbors are one, ones are gone.
struct Merged {
  std::array<i64, kMaxDims> dims{}, from{}, to{};
  std::size_t rank = 0;

  Merged(std::span<const i64> dims_in, std::span<const i64> order) {
    std::array<i64, kMaxDims> strides{};
    i64 stride = 1;
    for (auto d = dims_in.size(); d-- > 0; stride *= dims_in[d]) strides[d] = stride;
    for (const auto d : order) {
      if (dims_in[d] == 1) continue;
      if (rank && from[rank - 1] == strides[d] * dims_in[d]) {
        dims[rank - 1] *= dims_in[d];
        from[rank - 1] = strides[d];
      } else {
        dims[rank] = dims_in[d];
        from[rank++] = strides[d];
      }
    }
    if (rank == 0) {
      dims[0] = from[0] = 1;
      rank = 1;
    }
    stride = 1;
    for (auto d = rank; d-- > 0; stride *= dims[d]) to[d] = stride;
  }
};

}  // namespace

void permute(std::span<const i64> dims, std::span<const i64> order, const float* x, float* y, ThreadPool& pool) {
  const auto& table = isa();
  const Merged m(dims, order);
  i64 count = 1;
  for (std::size_t d = 0; d < m.rank; ++d) count *= m.dims[d];
  if (count == 0) return;
  // Axis `row` and the last one are done by one call: `row` is the one that lies together in the input. Where that is
  // the last one itself, rows are copied.
  const auto last = m.rank - 1;
  std::size_t row = last;
  for (std::size_t d = 0; d < last; ++d)
    if (m.from[d] == 1) row = d;
  const bool copies = row == last;
  constexpr i64 kRows = 64;  // of a transposition, at a time
  const auto rows = copies ? 1 : m.dims[row], parts = ceil_div(rows, kRows), columns = m.dims[last];
  const auto outer = count / (rows * columns);
  const auto cost = static_cast<double>(std::min(rows, kRows) * columns) / (copies ? 8 : 3) + 5;
  parallel_ranges(pool, outer * parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      auto index = i / parts;
      const auto first = i % parts * kRows, here = std::min(kRows, rows - first);
      i64 from = 0, to = 0;
      for (auto d = last; d-- > 0;) {
        if (d == row) continue;
        from += index % m.dims[d] * m.from[d];
        to += index % m.dims[d] * m.to[d];
        index /= m.dims[d];
      }
      if (copies) std::copy_n(x + from, columns, y + to);
      else table.transpose(x + from + first, m.from[last], y + to + first * m.to[row], m.to[row], columns, here);
    }
  });
}

}  // namespace ovir::fast
