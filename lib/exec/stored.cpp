#include "exec/stored.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/blocked.hpp"

namespace ovir {
namespace {

/// Calls each(element, low, scale) for all elements of a tensor.
template <class Each>
void for_levels(const Quantization& q, const Shape& shape, Each each) {
  const auto by_channel = q.low.size() > 1;
  const auto channels = by_channel ? shape[1] : 1;
  i64 plane = 1;
  for (i64 axis = by_channel ? 2 : 0; axis < shape.rank(); ++axis) plane *= shape[axis];
  const auto count = shape.count();
  for (i64 i = 0; i < count; ++i) {
    const auto c = i / plane % channels;
    each(i, q.low[c], q.scale[c]);
  }
}

}  // namespace

Tensor as_declared(const Value& value, const Tensor& stored, const std::optional<Shape>& shape) {
  auto tensor = value.layout == Layout::blocked ? blocked_to_plain(stored, *shape) : stored;
  if (value.quantization) {
    Tensor wide(ElementType::f32, tensor.shape());
    const auto* from = tensor.data<std::uint8_t>();
    auto* to = wide.mutable_data<float>();
    for_levels(*value.quantization, tensor.shape(),
               [&](i64 i, float low, float scale) { to[i] = low + scale * static_cast<float>(from[i]); });
    return wide;
  }
  return value.stored == type_as_declared(value) ? tensor : convert(tensor, ElementType::f32);
}

ElementType type_as_declared(const Value& value) {
  const bool narrowed = value.stored == ElementType::bf16 && value.declared != ElementType::bf16;
  return value.quantization || narrowed ? ElementType::f32 : value.stored;
}

Tensor widened_as_declared(const Value& value, const Tensor& tensor) {
  const auto type = type_as_declared(value);
  const bool differs = tensor && tensor.type() != type && is_float(tensor.type()) && is_float(type);
  return differs ? convert(tensor, type) : tensor;
}

Tensor as_stored(const Value& value, const Tensor& declared) {
  auto tensor = declared;
  if (value.quantization) {
    tensor = Tensor(ElementType::u8, declared.shape());
    const auto* from = declared.data<float>();
    auto* to = tensor.mutable_data<std::uint8_t>();
    for_levels(*value.quantization, declared.shape(), [&](i64 i, float low, float scale) {
      to[i] = static_cast<std::uint8_t>(std::clamp(std::nearbyint((from[i] - low) / scale), 0.0f, 255.0f));
    });
  } else if (value.stored == ElementType::bf16 && declared.type() == ElementType::f32) {
    tensor = convert(declared, ElementType::bf16);
  }
  return value.layout == Layout::blocked ? plain_to_blocked(tensor) : tensor;
}

void convert_into(const Tensor& given, Tensor& out, ThreadPool& pool) {
  constexpr i64 kPart = 32 << 10;
  const auto whole_bytes = [](const Tensor& t) { return t.type() != ElementType::string && bit_width(t.type()) >= 8; };
  const auto size = given.size();
  if (size < 2 * kPart || !whole_bytes(given) || !whole_bytes(out)) return convert_into(given, out);
  const std::shared_ptr<const void> owned_elsewhere(std::shared_ptr<void>(), given.bytes());
  auto* const to = out.mutable_bytes();
  pool.run((size + kPart - 1) / kPart, [&](i64 i) {
    const auto first = i * kPart, n = std::min(kPart, size - first);
    const Tensor part(given.type(), {n}, owned_elsewhere, given.bytes() + first * byte_width(given.type()));
    Tensor converted(out.type(), {n}, owned_elsewhere, to + first * byte_width(out.type()));
    convert_into(part, converted);
  });
}

}  // namespace ovir
