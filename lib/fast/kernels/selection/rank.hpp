// Numbers as integers in the same order, so that NaN and -0 have their places, and comparing takes one instruction.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/int.hpp"

namespace ovir::fast {

template <class T>
using Rank = std::conditional_t<sizeof(T) <= 4, std::int32_t, i64>;
/// Of floats, that of NaN alone.
template <class R>
inline constexpr R kMostRank = std::numeric_limits<R>::max();

/// NaN is larger than every number, -0 is 0.
template <class T>
Rank<T> rank_of(T x) {
  using R = Rank<T>;
  if constexpr (std::is_floating_point_v<T>) {
    R bits;
    std::memcpy(&bits, &x, sizeof bits);
    // Negative numbers are larger the smaller their bits are; of -0, now -1, becomes 0.
    const R ordered = bits ^ (bits < 0 ? kMostRank<R> : R{0});
    return x != x ? kMostRank<R> : (ordered == -1 ? 0 : ordered);
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(R)) {
    return static_cast<R>(x) ^ std::numeric_limits<R>::min();
  } else {
    return static_cast<R>(x);
  }
}

}  // namespace ovir::fast
