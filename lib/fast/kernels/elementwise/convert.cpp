#include "fast/kernels/elementwise/convert.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/half.hpp"
#include "fast/isa/lines.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPiece = 256;

using Wholes = TypeList<TypeEntry<ElementType::i64, i64>, TypeEntry<ElementType::i32, std::int32_t>,
                        TypeEntry<ElementType::i16, std::int16_t>, TypeEntry<ElementType::i8, std::int8_t>,
                        TypeEntry<ElementType::u32, std::uint32_t>, TypeEntry<ElementType::u16, std::uint16_t>,
                        TypeEntry<ElementType::u8, std::uint8_t>, TypeEntry<ElementType::boolean, std::uint8_t>>;
using Halves = TypeList<TypeEntry<ElementType::f16, f16>, TypeEntry<ElementType::bf16, bf16>>;

bool is_half(ElementType t) { return t == ElementType::f16 || t == ElementType::bf16; }

/// Truncated towards zero, saturated to 64 bits; NaN is 0.
i64 truncated(float x) {
  constexpr float kLimit = 0x1p63f;
  if (!(x < kLimit)) return x >= kLimit ? std::numeric_limits<i64>::max() : 0;
  return x >= -kLimit ? static_cast<i64>(x) : std::numeric_limits<i64>::min();
}

/// Modulo 2^bits.
template <class T>
void from_floats(const float* x, T* y, i64 n) {
  for (i64 at = 0; at < n; at += kPiece) {
    const auto count = std::min(n - at, kPiece);
    if (line_isa().truncate(x + at, sizeof(T), y + at, count)) continue;
    for (i64 i = at; i < at + count; ++i) y[i] = static_cast<T>(truncated(x[i]));
  }
}

template <class T, class U>
void each(const T* x, U* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] = static_cast<U>(x[i]);
}
template <class T>
void are_set(const T* x, std::uint8_t* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] = x[i] != T{0};
}

void floats_to(ElementType to, const float* x, std::byte* y, i64 n) {
  if (to == ElementType::boolean) return are_set(x, reinterpret_cast<std::uint8_t*>(y), n);
  if (is_half(to)) return dispatch(to, Halves{}, [&]<class T>() { from_f32(x, reinterpret_cast<T*>(y), n); });
  dispatch(to, Wholes{}, [&]<class T>() { from_floats(x, reinterpret_cast<T*>(y), n); });
}

void floats_of(ElementType from, const std::byte* x, float* y, i64 n) {
  if (is_half(from)) return dispatch(from, Halves{}, [&]<class T>() { to_f32(reinterpret_cast<const T*>(x), y, n); });
  if (from == ElementType::u8) return line_isa().floats_of_bytes(reinterpret_cast<const std::uint8_t*>(x), y, n);
  dispatch(from, Wholes{}, [&]<class T>() { each(reinterpret_cast<const T*>(x), y, n); });
}

}  // namespace

void convert_elements(ElementType from, const std::byte* x, ElementType to, std::byte* y, i64 n) {
  if (from == ElementType::f32) return floats_to(to, reinterpret_cast<const float*>(x), y, n);
  if (to == ElementType::f32) return floats_of(from, x, reinterpret_cast<float*>(y), n);
  if (is_half(from) || is_half(to)) {
    float values[kPiece];
    for (i64 at = 0; at < n; at += kPiece) {
      const auto count = std::min(n - at, kPiece);
      floats_of(from, x + at * byte_width(from), values, count);
      floats_to(to, values, y + at * byte_width(to), count);
    }
    return;
  }
  dispatch(from, Wholes{}, [&]<class T>() {
    const auto* whole = reinterpret_cast<const T*>(x);
    if (to == ElementType::boolean) return are_set(whole, reinterpret_cast<std::uint8_t*>(y), n);
    dispatch(to, Wholes{}, [&]<class U>() { each(whole, reinterpret_cast<U*>(y), n); });
  });
}

void round_elements(const float* x, ElementType narrow, float* y, i64 n) {
  dispatch(narrow, Halves{}, [&]<class T>() {
    T values[kPiece];
    for (i64 at = 0; at < n; at += kPiece) {
      const auto count = std::min(n - at, kPiece);
      from_f32(x + at, values, count);
      to_f32(values, y + at, count);
    }
  });
}

}  // namespace ovir::fast
