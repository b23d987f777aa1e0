// The narrow floating-point types as storage: each holds its bits, converts to float exactly, and from float by
// rounding to nearest, ties to even. Arithmetic is done in float.
// Spec: operation-sets' element types; f8e4m3/f8e5m2 overflow to NaN/inf (Convert), f4e2m1 saturates.
#pragma once
#include <cstdint>

#include "base/int.hpp"

namespace ovir {

struct f16 {
  std::uint16_t bits;
  f16() = default;
  explicit f16(float);
  operator float() const;
};
struct bf16 {
  std::uint16_t bits;
  bf16() = default;
  explicit bf16(float);
  operator float() const;
};
struct f8e4m3 {
  std::uint8_t bits;
  f8e4m3() = default;
  explicit f8e4m3(float);
  operator float() const;
};
struct f8e5m2 {
  std::uint8_t bits;
  f8e5m2() = default;
  explicit f8e5m2(float);
  operator float() const;
};
struct f8e8m0 {
  std::uint8_t bits;
  f8e8m0() = default;
  explicit f8e8m0(float);
  operator float() const;
};
/// Stored unpacked: the code in the low four bits of a byte.
struct f4e2m1 {
  std::uint8_t bits;
  f4e2m1() = default;
  explicit f4e2m1(float);
  operator float() const;
};
/// NormalFloat4: sixteen fixed levels, stored unpacked as the level's index.
struct nf4 {
  std::uint8_t bits;
  nf4() = default;
  explicit nf4(float);
  operator float() const;
};

/// Bulk conversions, vectorised where the machine can.
void to_f32(const f16* from, float* to, i64 n);
void to_f32(const bf16* from, float* to, i64 n);
void from_f32(const float* from, f16* to, i64 n);
void from_f32(const float* from, bf16* to, i64 n);

}  // namespace ovir
