#include "tensor/copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tensor/dispatch.hpp"
#include "tensor/walk.hpp"

namespace ovir {
namespace {

struct Axis {
  i64 length, from, to;
};

/// Axes of one element left out, neighbours that are one run in both layouts merged; two axes at least. Of axes of two
/// and more elements 62 fit into 64 bits.
struct Axes {
  std::array<Axis, 64> list;
  std::size_t count = 0;
};
Axes merged(const Shape& shape, const Shape& from, const Shape& to) {
  Axes axes;
  for (auto i = shape.rank(); i-- > 0;) {  // the innermost first
    if (shape[i] == 1) continue;
    if (axes.count > 0) {
      auto& inner = axes.list[axes.count - 1];
      if (from[i] == inner.from * inner.length && to[i] == inner.to * inner.length) {
        inner.length *= shape[i];
        continue;
      }
    }
    axes.list.at(axes.count++) = {shape[i], from[i], to[i]};
  }
  while (axes.count < 2) axes.list[axes.count++] = {1, 0, 0};
  std::reverse(axes.list.begin(), axes.list.begin() + axes.count);
  return axes;
}

template <class T>
void copy_plane(const Axis& rows, const Axis& columns, const T* from, T* to) {
  for (i64 r = 0; r < rows.length; ++r, from += rows.from, to += rows.to) {
    if (columns.from == 1 && columns.to == 1) std::memcpy(to, from, columns.length * sizeof(T));
    else if (columns.from == 1)
      for (i64 i = 0; i < columns.length; ++i) to[i * columns.to] = from[i];
    else
      for (i64 i = 0; i < columns.length; ++i) to[i * columns.to] = from[i * columns.from];
  }
}

}  // namespace

void copy_strided(const Shape& shape, const std::byte* from, const Shape& from_strides, std::byte* to,
                  const Shape& to_strides, int width) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  const auto [axes, count] = merged(shape, from_strides, to_strides);
  Shape outer, outer_from, outer_to;
  for (std::size_t i = 0; i + 2 < count; ++i) {
    outer.push_back(axes[i].length);
    outer_from.push_back(axes[i].from);
    outer_to.push_back(axes[i].to);
  }
  const auto &rows = axes[count - 2], &columns = axes[count - 1];
  dispatch_width(width, [&]<class T>() {
    for (IndexWalker at(outer); !at.done(); at.next())
      copy_plane(rows, columns, reinterpret_cast<const T*>(from) + at.offset(outer_from),
                 reinterpret_cast<T*>(to) + at.offset(outer_to));
  });
}

void gather_strided(const Tensor& from, i64 first, const Shape& strides, const Shape& shape, Tensor& to) {
  if (to.size() == 0) return;
  const auto width = byte_width(to.type());
  copy_strided(shape, from.bytes() + first * width, strides, to.mutable_bytes(), strides_of(shape), width);
}

void scatter_strided(const Tensor& from, const Shape& shape, Tensor& to, i64 first, const Shape& strides) {
  if (from.size() == 0) return;
  const auto width = byte_width(from.type());
  copy_strided(shape, from.bytes(), strides_of(shape), to.mutable_bytes() + first * width, strides, width);
}

void permute(const Tensor& from, const Shape& view, const Shape& axes, Tensor& to) {
  const auto view_strides = strides_of(view);
  Shape shape, strides;
  for (const auto axis : axes) {
    shape.push_back(view[axis]);
    strides.push_back(view_strides[axis]);
  }
  gather_strided(from, 0, strides, shape, to);
}

Tensor& renew(Tensor& spare, ElementType type, const Shape& shape) {
  if (!spare || !spare.exclusive() || spare.type() != type || spare.shape() != shape) spare = Tensor(type, shape);
  return spare;
}

void fill(Tensor& to, const Tensor& value) { gather_strided(value, 0, {0}, {to.size()}, to); }

}  // namespace ovir
