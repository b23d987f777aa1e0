// Moving elements between two layouts: the one loop behind Transpose, Slice, Broadcast, Concat, DepthToSpace and the
// like.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dim.hpp"
#include "tensor/tensor.hpp"

namespace ovir {

/// For every index i of `shape`: to[i · to_strides] = from[i · from_strides]. `width` is the bytes of an element,
/// strides are in elements; a stride of 0 repeats, a negative one goes backwards.
void copy_strided(const Shape& shape, const std::byte* from, const Shape& from_strides, std::byte* to,
                  const Shape& to_strides, int width);

/// Fills the whole of `to`, read as `shape`, with from[i · strides], beginning `first` elements into `from`.
void gather_strided(const Tensor& from, i64 first, const Shape& strides, const Shape& shape, Tensor& to);

/// Puts all of `from`, read as `shape`, at to[i · strides], beginning `first` elements into `to`.
void scatter_strided(const Tensor& from, const Shape& shape, Tensor& to, i64 first, const Shape& strides);

/// `from` read as `view` with its axes in the order `axes`, as in Transpose, into the whole of `to`.
void permute(const Tensor& from, const Shape& view, const Shape& axes, Tensor& to);

/// Makes `spare` a tensor of that type and shape: the same as before where nobody else holds it any more and it fits.
Tensor& renew(Tensor& spare, ElementType type, const Shape& shape);

/// convert() into a tensor of the same shape.
void convert_into(const Tensor& from, Tensor& to);

/// to_i64() into a list that keeps its storage.
void to_i64(const Tensor& from, std::vector<i64>& to);

/// The byte that zeros consist of. An nf4 is the index of a level, and that of 0 is 7.
constexpr int zero_byte(ElementType type) { return type == ElementType::nf4 ? 7 : 0; }

/// Every element of `to` becomes the one element that `value` holds.
void fill(Tensor& to, const Tensor& value);

}  // namespace ovir
