// What the operations on embedding bags have in common; the fast tier reads it, too.
#pragma once
#include <cstdint>

#include "op/attributes.hpp"
#include "op/op_def.hpp"
#include "tensor/dim.hpp"

namespace ovir {

enum class BagReduction : std::uint8_t { sum, mean };
constexpr auto words(BagReduction) {
  return std::to_array<Word<BagReduction>>({{"sum", BagReduction::sum}, {"mean", BagReduction::mean}});
}

struct BagAttrs {
  BagReduction reduction = BagReduction::sum;
};

/// Where an operation has its inputs; `segments` is what tells the bags apart, -1 where each row of indices is a bag.
struct BagInputs {
  int table = 0, indices = 1, segments = -1, default_index = -1, weights = -1;
};
inline constexpr BagInputs kOffsetBags{.segments = 2, .default_index = 3, .weights = 4}, kPackedBags{.weights = 2},
    kSegmentBags{.segments = 2, .default_index = 4, .weights = 5};

/// A bag as a half-open range of indices.
struct BagRange {
  i64 first, last;
};

/// The fault of input `port`, which names a row that the table does not have.
[[noreturn]] void fail_row(const Version& version, int port, i64 row, const Dim& rows);
/// The fault of element `place` of "offsets", which is none of 0 to the number of indices.
[[noreturn]] void fail_offset(const Version& version, i64 place, i64 offset, i64 indices);

}  // namespace ovir
