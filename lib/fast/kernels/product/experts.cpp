#include "fast/kernels/product/experts.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kTogether = 16;  // experts of one token each

}  // namespace

i64 ExpertRouting::most_rows(i64 tokens) { return std::max(tokens, kTogether); }

i64 ExpertRouting::rows_of(i64 expert) const {
  const auto* w = weights_ + expert * tokens_;
  return std::count_if(w, w + tokens_, [](float x) { return x != 0; });
}

bool ExpertRouting::next(ExpertRows& rows) {
  rows.experts.clear();
  rows.tokens.clear();
  rows.together = 0;
  for (; expert_ < experts_ && rows.count() < most_rows(tokens_); ++expert_) {
    const auto count = rows_of(expert_);
    if (count == 0) continue;
    if (rows.together > 0 && (rows.together > 1 || count > 1)) break;
    rows.together = count;
    for (i64 token = 0; token < tokens_; ++token)
      if (weight(expert_, token) != 0) {
        rows.experts.push_back(expert_);
        rows.tokens.push_back(token);
      }
  }
  return rows.count() > 0;
}

void gather_tokens(const ExpertRows& rows, const float* from, i64 columns, float* to, ThreadPool& pool) {
  parallel_ranges(pool, rows.count(), static_cast<double>(columns) / 8, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) std::copy_n(from + rows.tokens[i] * columns, columns, to + i * columns);
  });
}

void add_weighted(const ExpertRows& rows, const ExpertRouting& routing, const float* from, const float* bias,
                  i64 columns, float* to, ThreadPool& pool) {
  const auto& table = isa();
  const auto blocks = ceil_div(columns, kBlock);
  parallel_ranges(pool, blocks, static_cast<double>(rows.count() * kBlock) / 8, [&](i64 begin, i64 end) {
    const auto first = begin * kBlock, count = std::min(columns, end * kBlock) - first;
    for (i64 i = 0; i < rows.count(); ++i) {
      const auto weight = routing.weight(rows.experts[i], rows.tokens[i]);
      auto* sum = to + rows.tokens[i] * columns + first;
      table.axpy(weight, from + i * columns + first, 1, sum, count);
      if (bias) table.axpy(weight, bias + rows.experts[i] * columns + first, 1, sum, count);
    }
  });
}

}  // namespace ovir::fast
