#include "fast/kernels/elementwise/reduced_chain.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/reduction/reduce.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kValues = 8192;  // at a time: in the first-level cache

/// The size of an input along an axis of the values, to which its last axes are aligned.
i64 size_along(std::span<const i64> input, std::size_t rank, std::size_t axis) {
  const auto back = rank - axis;
  return back > input.size() ? 1 : input[input.size() - back];
}

}  // namespace

bool ReducedChain::takes(i64 terms) { return terms <= kValues; }

ReducedChain::ReducedChain(const ChainProgram& program, Reduction what, std::span<const std::span<const i64>> inputs,
                           std::span<const i64> values, i64 reduced)
    : what_(what) {
  const auto rank = values.size(), kept = rank - static_cast<std::size_t>(reduced);
  for (auto axis = kept; axis < rank; ++axis) terms_ *= values[axis];
  auto split = kept > 0 ? kept - 1 : 0;
  while (split > 0 && inner_ * values[split] * std::max<i64>(terms_, 1) <= kValues) inner_ *= values[split--];
  outer_.assign(values.begin(), values.begin() + static_cast<i64>(split));
  if (kept > 0) length_ = values[split];
  part_ = std::clamp<i64>(kValues / std::max<i64>(inner_ * terms_, 1), 1, std::max<i64>(length_, 1));
  for (const auto& input : inputs) {
    auto& strides = strides_.emplace_back(split + 1, 0);
    i64 stride = 1;
    for (auto axis = rank; axis-- > 0;) {
      const auto size = size_along(input, rank, axis);
      if (axis <= split && size != 1) strides[axis] = stride;
      stride *= size;
    }
  }
  const auto chain_of = [&](i64 places) {
    std::vector<std::vector<i64>> sizes;
    const auto of = [&](std::span<const i64> shape) {
      std::vector<i64> part;
      for (auto axis = split; axis < rank; ++axis) {
        const auto size = size_along(shape, rank, axis);
        part.push_back(axis == split && kept > 0 && size != 1 ? places : size);
      }
      return part;
    };
    for (const auto& input : inputs) sizes.push_back(of(input));
    const std::vector<std::span<const i64>> shapes(sizes.begin(), sizes.end());
    return Chain(program, shapes, of(values));
  };
  chains_.push_back(chain_of(part_));
  if (length_ % part_ != 0) chains_.push_back(chain_of(length_ % part_));
}

i64 ReducedChain::scratch_size(int threads) const { return threads * part_ * inner_ * terms_; }

void ReducedChain::run(std::span<const float* const> inputs, float* out, float* scratch, ThreadPool& pool) const {
  i64 outer = 1;
  for (const auto d : outer_) outer *= d;
  const auto parts = ceil_div(length_, part_);
  if (outer * parts * inner_ == 0) return;
  const auto values = part_ * inner_ * terms_;
  const auto cost = chains_[0].time() + static_cast<double>(values) / 8;
  Slots slots(scratch, values, slots_for(pool));
  parallel_ranges(pool, outer * parts, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    std::array<const void*, ChainProgram::kInputs> data;
    for (auto i = begin; i < end; ++i) {
      const auto first = i % parts * part_, places = std::min(part_, length_ - first);
      for (std::size_t input = 0; input < inputs.size(); ++input) {
        const auto& strides = strides_[input];
        auto place = first * strides.back();
        auto at = i / parts;
        for (auto d = outer_.size(); d-- > 0; at /= outer_[d]) place += at % outer_[d] * strides[d];
        data[input] = inputs[input] + place;
      }
      const auto& chain = chains_[places == part_ ? 0 : 1];
      chain.run(std::span(data).first(inputs.size()), room.data());
      reduce_rows(what_, room.data(), out + (i / parts * length_ + first) * inner_, places * inner_, terms_);
    }
  });
}

}  // namespace ovir::fast
