#include "fast/kit/rows_of_matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/dots.hpp"

namespace ovir::fast {
namespace {

/// from[count][n] as the `count` columns `to` of a matrix of rows of k.
template <class Word>
void turn(const std::byte* from, i64 count, i64 n, std::byte* to, i64 k) {
  constexpr i64 kLine = 64 / sizeof(Word);
  const auto* const x = reinterpret_cast<const Word*>(from);
  auto* const y = reinterpret_cast<Word*>(to);
  for (i64 begin = 0; begin < n; begin += kLine)
    for (auto j = begin; j < std::min(n, begin + kLine); ++j)
      for (i64 p = 0; p < count; ++p) y[j * k + p] = x[p * n + j];
}

/// Exporters put constants one behind the other, whatever their elements need.
bool is_misaligned(const Tensor& t) {
  return reinterpret_cast<std::uintptr_t>(t.source()) % static_cast<std::uintptr_t>(byte_width(t.type())) != 0;
}

}  // namespace

RowsOfMatrix::RowsOfMatrix(Tensor b, i64 n, i64 k, bool turned, bool often)
    : b_(std::move(b)), turned_(turned), copies_(turned || often || is_misaligned(b_)), n_(n), k_(k) {}

void RowsOfMatrix::product(const float* a, float* c, i64 m, const Epilogue& epilogue, ThreadPool& pool) const {
  bool done = false;
  if (copies_) std::call_once(copied_, [&] { done = copy(a, c, m, epilogue, pool); });
  if (done) return;
  const auto* const b = copies_ ? reinterpret_cast<const std::byte*>(rows_.data()) : b_.bytes();
  if (is_narrow()) product_of_dots(a, NarrowWeights{b_.type(), b}, c, m, n_, k_, epilogue, pool);
  else product_of_dots(a, reinterpret_cast<const float*>(b), c, m, n_, k_, epilogue, pool);
}

bool RowsOfMatrix::copy(const float* a, float* c, i64 m, const Epilogue& epilogue, ThreadPool& pool) const {
  const i64 row = k_ * byte_width(b_.type());
  rows_ = Buffer::unwritten(ceil_div(n_ * row, i64{4}));
  if (turned_) {
    copy_turned(pool);
    return false;
  }
  const auto file = weights_file();
  if (file && !is_narrow()) {
    product_and_copy(a, {file, nullptr}, rows_.data(), c, m, n_, k_, epilogue, pool);
    return true;
  }
  parallel_ranges(pool, n_, static_cast<double>(row) / 8, [&](i64 begin, i64 end) {
    auto* const to = reinterpret_cast<std::byte*>(rows_.data()) + begin * row;
    const std::span part(to, static_cast<std::size_t>((end - begin) * row));
    if (file) file.read_bytes(begin * row, part);
    else std::memcpy(to, b_.source() + begin * row, part.size());
  });
  return false;
}

void RowsOfMatrix::copy_turned(ThreadPool& pool) const {
  constexpr i64 kTogether = 32;  // rows of b: what they leave in a row of the copy is a cache line or two
  const i64 width = byte_width(b_.type()), row = n_ * width;
  const auto file = weights_file();
  const auto* const all = file ? nullptr : b_.bytes();
  auto* const to = reinterpret_cast<std::byte*>(rows_.data());
  parallel_ranges(pool, ceil_div(k_, kTogether), static_cast<double>(kTogether * n_), [&](i64 begin, i64 end) {
    const auto room = file ? Buffer::unwritten(ceil_div(kTogether * row, i64{4})) : Buffer();
    for (auto first = begin * kTogether; first < std::min(k_, end * kTogether); first += kTogether) {
      const auto count = std::min(kTogether, k_ - first);
      const auto* from = all + first * row;
      if (file) {
        file.read_bytes(first * row,
                        {reinterpret_cast<std::byte*>(room.data()), static_cast<std::size_t>(count * row)});
        from = reinterpret_cast<const std::byte*>(room.data());
      }
      if (width == 2) turn<std::uint16_t>(from, count, n_, to + first * width, k_);
      else turn<std::uint32_t>(from, count, n_, to + first * width, k_);
    }
  });
}

}  // namespace ovir::fast
