#include "io/storable.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "diag/diagnostic.hpp"

namespace ovir::io {

ElementType storable_type(ElementType type) {
  if (type == ElementType::bf16 || contains(kNarrowFloat, type)) return ElementType::f32;
  if (bit_width(type) < 8 && contains(kInteger, type))
    return type == ElementType::i4 ? ElementType::i8 : ElementType::u8;
  return type;
}

Tensor storable(const Tensor& tensor) { return convert(with_clean_booleans(tensor), storable_type(tensor.type())); }

Tensor narrow(const Tensor& widened, ElementType type) {
  const auto wide = storable_type(type);
  if (widened.type() == type) return widened;
  if (widened.type() != wide)
    fail(Code::E0704, "expected {} (or {}, which holds it), but got {}", name(type), name(wide), name(widened.type()));
  const Tensor out = convert(widened, type);
  const Tensor back = convert(out, wide);
  const auto check = [&]<class T>(T) {
    for (i64 i = 0; i < out.size(); ++i) {
      const T given = widened.data<T>()[i], kept = back.data<T>()[i];
      if (given != kept && !(given != given && kept != kept))
        fail(Code::E0705, "element {} is {}, which {} cannot hold exactly", i, given, name(type));
    }
  };
  if (wide == ElementType::f32) check(0.0f);
  else if (wide == ElementType::i8) check(std::int8_t{});
  else check(std::uint8_t{});
  return out;
}

Tensor with_clean_booleans(Tensor t) {
  if (t.type() != ElementType::boolean || std::ranges::all_of(t.values<std::uint8_t>(), [](auto b) { return b <= 1; }))
    return t;
  Tensor clean(t.type(), t.shape());
  std::ranges::transform(t.values<std::uint8_t>(), clean.mutable_data<std::uint8_t>(),
                         [](auto b) { return static_cast<std::uint8_t>(b != 0); });
  return clean;
}

}  // namespace ovir::io
