#include "tensor/blocked.hpp"

#include <cstring>

namespace ovir {
namespace {

/// Calls copy(place in the blocked order, place in the plain one) for each element.
template <class Copy>
void for_places(const Shape& shape, i64 block, Copy copy) {
  const auto batch = shape[0], channels = shape[1], blocks = (channels + block - 1) / block;
  const auto plane = channels ? shape.count() / (std::max<i64>(batch, 1) * channels) : 0;
  for (i64 n = 0; n < batch; ++n)
    for (i64 c = 0; c < channels; ++c)
      for (i64 p = 0; p < plane; ++p)
        copy(((n * blocks + c / block) * plane + p) * block + c % block, (n * channels + c) * plane + p);
}

}  // namespace

Tensor blocked_to_plain(const Tensor& blocked, const Shape& shape) {
  Tensor plain(blocked.type(), shape);
  const i64 width = byte_width(blocked.type());
  for_places(shape, block_channels(blocked.type()), [&](i64 from, i64 to) {
    std::memcpy(plain.mutable_bytes() + to * width, blocked.bytes() + from * width, width);
  });
  return plain;
}

Tensor plain_to_blocked(const Tensor& plain) {
  auto padded = plain.shape();
  const auto block = block_channels(plain.type());
  padded[1] = (padded[1] + block - 1) / block * block;
  Tensor blocked(plain.type(), {padded.count()});
  const i64 width = byte_width(plain.type());
  std::memset(blocked.mutable_bytes(), 0, padded.count() * width);
  for_places(plain.shape(), block, [&](i64 to, i64 from) {
    std::memcpy(blocked.mutable_bytes() + to * width, plain.bytes() + from * width, width);
  });
  return blocked;
}

bool same_blocks(const PartialShape& a, const PartialShape& b) {
  if (!a.is_static() || !b.is_static() || a.rank() < 3 || b.rank() < 3) return false;
  const auto x = a.to_shape(), y = b.to_shape();
  return x[0] == y[0] && x[1] == y[1] && x.count() == y.count();
}

}  // namespace ovir
