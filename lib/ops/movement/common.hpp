// What the operations of this family share: the part of an axis that start, stop and step select, and how the
// Scatter…Update operations combine an update with what is there.
#pragma once
#include <cstring>

#include "op/kit/data_index.hpp"
#include "op/kit/movement_attrs.hpp"
#include "op/kit/ranks.hpp"
#include "op/kit/strided_slicing.hpp"
#include "op/op.hpp"
#include "op/ports.hpp"
#include "tensor/copy.hpp"

namespace ovir::ops::movement {

using ovir::AxisSlice;
using ovir::BlockAttrs;
using ovir::BlockMode;
using ovir::fail_index;
using ovir::slice_axis;

/// The 0 of a type whose elements are moved as `Element`s.
template <class Element>
Element zero_of(ElementType type) {
  Element zero;
  std::memset(&zero, zero_byte(type), sizeof zero);
  return zero;
}

/// A value known to lie in [lo, hi]; the ends of i64 stand for "no limit".
struct IndexRange {
  i64 lo = std::numeric_limits<i64>::min();
  i64 hi = std::numeric_limits<i64>::max();
  std::uint32_t symbol = 0;
  bool is_known() const { return lo == hi; }
};

/// The elements of an integer input as ranges, where they are known or bounded.
std::optional<std::vector<IndexRange>> ranges(const InferContext& c, int port);

/// The lengths that a slice of `dim` can have. Keeps the symbol where the slice is the whole axis in every case.
Dim slice_dim(const Dim& dim, const IndexRange& start, const IndexRange& stop, i64 step);
/// With a step of which only the range is known.
Dim slice_dim(const Dim& dim, const IndexRange& start, const IndexRange& stop, const IndexRange& step);

/// The shape of data[start:stop:step] of Slice and SliceScatter: data is input 0; start, stop, step and perhaps axes
/// are the inputs from `start` on.
PartialShape infer_slices(const InferContext& c, int start);

/// Where the elements of the slice lie in data of shape `from`.
struct SlicedPart {
  i64 first = 0;
  Shape shape, strides;
};
SlicedPart slices_of(EvalContext& c, int start, const Shape& from);

/// An element of input `port`, an index along `axis` of `data`, made non-negative. Throws Failure where it is out of
/// range; `from_end`: it may be negative.
i64 data_index(const EvalContext& c, int port, i64 index, const Tensor& data, i64 axis, bool from_end = true);
/// The same demand of inference, where the elements of input `port` are known: indices along the axes of `data` from
/// `axis` on, one each of `tuple` after the other, each of which may be negative where `from_end`.
void require_indices(const InferContext& c, int port, const PartialShape& data, i64 axis, i64 tuple = 1,
                     bool from_end = true);

using Reduction = ScatterReduction;

/// `value` under `update`; for booleans "sum, sub, prod behave like logical OR, XOR, AND". A mean is summed up here.
template <class T>
T reduce(Reduction reduction, T value, T update, bool boolean) {
  using enum Reduction;
  // Integers wrap.
  using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const auto a = static_cast<U>(value),
             b = static_cast<U>(update);  // NOLINT(bugprone-signed-char-misuse): the sign is to be kept
  switch (reduction) {
    case sum:
    case mean: return boolean ? static_cast<T>(value != 0 || update != 0) : static_cast<T>(a + b);
    case sub: return boolean ? static_cast<T>((value != 0) != (update != 0)) : static_cast<T>(a - b);
    case prod: return static_cast<T>(a * b);
    case min: return std::min(value, update);
    case max: return std::max(value, update);
    default: return update;
  }
}

/// What scatters with reduction compute with.
using Scattered = decltype(Numbers{} + Boolean{});

/// block_size to the power of the number of spatial axes.
i64 block_volume(const InferContext& c, i64 block_size, i64 axes);

/// BatchToSpace and SpaceToBatch: the demands on block_shape and the crops or pads, inputs 1 to 3; gives the rank.
Dim require_block_inputs(const InferContext& c);

/// The lengths x with x * n in `dim`; nothing where there is none. `n` is positive.
std::optional<Dim> divided(const Dim& dim, i64 n);

/// An axis made non-negative; only for axes that shape inference has accepted.
inline i64 normalized(i64 axis, i64 rank) { return axis < 0 ? axis + rank : axis; }

inline constexpr auto kBlockAttrs =
    attributes<BlockAttrs, Attr<"mode", &BlockAttrs::mode, kRequired>, Attr<"block_size", &BlockAttrs::block_size>>;

}  // namespace ovir::ops::movement
