// Rows along which no operand is broadcast, or is one number, of an output that N operands are broadcast to.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/int.hpp"

namespace ovir::fast {

template <std::size_t N>
class BroadcastRows {
 public:
  using Places = std::array<i64, N>;

  /// Of dims that fit each other as NumPy broadcasts them.
  BroadcastRows(const std::array<std::span<const i64>, N>& in, std::span<const i64> out) {
    Places elements;  // that an operand has from the axis on
    elements.fill(1);
    for (auto axis = std::ssize(out) - 1; axis >= 0; --axis) {
      const auto length = out[static_cast<std::size_t>(axis)];
      Axis own{length, {}};
      for (std::size_t i = 0; i < N; ++i) {
        const auto at = axis - (std::ssize(out) - std::ssize(in[i]));
        const auto dim = at < 0 ? 1 : in[i][static_cast<std::size_t>(at)];
        own.strides[i] = dim == 1 ? 0 : elements[i];
        elements[i] *= dim;
      }
      if (length != 1) add(own);
    }
    if (!axes_.empty()) {
      length_ = axes_.front().length;
      steps_ = axes_.front().strides;
      axes_.erase(axes_.begin());
    }
    for (const auto& axis : axes_) rows_ *= axis.length;
  }

  i64 length() const { return length_; }
  /// From element to element of a row, by operand: 0 or 1.
  const Places& steps() const { return steps_; }
  /// Rows are cut into pieces of so many elements.
  i64 pieces(i64 piece) const { return rows_ * ceil_div(length_, piece); }

  /// Calls f(where the operands begin, where the output does, elements) for some of these pieces.
  template <class F>
  void each(i64 piece, i64 begin, i64 end, const F& f) const {
    const auto in_row = ceil_div(length_, piece);
    auto row = begin / in_row, part = begin % in_row;
    std::vector<i64> index(axes_.size());
    Places at{};
    for (std::size_t a = 0, rest = static_cast<std::size_t>(row); a < axes_.size(); ++a) {
      index[a] = static_cast<i64>(rest) % axes_[a].length;
      rest /= static_cast<std::size_t>(axes_[a].length);
      for (std::size_t i = 0; i < N; ++i) at[i] += index[a] * axes_[a].strides[i];
    }
    for (auto i = begin; i < end; ++i) {
      const auto first = part * piece;
      auto from = at;
      for (std::size_t n = 0; n < N; ++n) from[n] += first * steps_[n];
      f(from, row * length_ + first, std::min(piece, length_ - first));
      if (++part < in_row) continue;
      part = 0;
      ++row;
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        for (std::size_t n = 0; n < N; ++n) at[n] += axes_[a].strides[n];
        if (++index[a] < axes_[a].length) break;
        for (std::size_t n = 0; n < N; ++n) at[n] -= axes_[a].length * axes_[a].strides[n];
        index[a] = 0;
      }
    }
  }

 private:
  struct Axis {
    i64 length;
    Places strides;
  };

  /// The next axis outwards: one with the last, where all operands lie so.
  void add(const Axis& axis) {
    const bool merges = !axes_.empty() && [&] {
      for (std::size_t i = 0; i < N; ++i)
        if (axis.strides[i] != axes_.back().strides[i] * axes_.back().length) return false;
      return true;
    }();
    if (merges) axes_.back().length *= axis.length;
    else axes_.push_back(axis);
  }

  std::vector<Axis> axes_;  ///< from the innermost one outwards; without the row's
  i64 length_ = 1, rows_ = 1;
  Places steps_{};
};

}  // namespace ovir::fast
