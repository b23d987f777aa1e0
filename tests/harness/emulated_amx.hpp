// The tiles of AMX by plain loops, for machines without them: what the tile instructions do, and an end of the process
// where the processor would fault. Included before the loops that use the intrinsics (emulated_amx.cpp).
#pragma once
#include <immintrin.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace ovir::testing::amx {

/// As LDTILECFG reads it.
struct Shapes {
  std::uint8_t palette, start, reserved[14];
  std::uint16_t bytes[16];
  std::uint8_t rows[16];
};
static_assert(sizeof(Shapes) == 64);

struct Tiles {
  Shapes shapes{};
  std::array<std::array<std::array<std::byte, 64>, 16>, 8> lines{};
};

inline Tiles& tiles() {
  static thread_local Tiles own;
  return own;
}

/// Where the processor would raise a fault.
inline void demand(bool condition) {
  if (!condition) std::abort();
}

inline void load_config(const void* shapes) {
  tiles() = {};
  std::memcpy(&tiles().shapes, shapes, sizeof(Shapes));
}
inline void store_config(void* shapes) { std::memcpy(shapes, &tiles().shapes, sizeof(Shapes)); }

inline int rows(int tile) { return tiles().shapes.rows[tile]; }
inline int bytes(int tile) { return tiles().shapes.bytes[tile]; }
inline void demand_shape(int tile) {
  demand(tiles().shapes.palette == 1 && rows(tile) > 0 && rows(tile) <= 16 && bytes(tile) > 0 && bytes(tile) <= 64);
}

inline void load(int tile, const void* from, std::ptrdiff_t stride) {
  demand_shape(tile);
  tiles().lines[tile] = {};
  for (int row = 0; row < rows(tile); ++row)
    std::memcpy(tiles().lines[tile][row].data(), static_cast<const std::byte*>(from) + row * stride, bytes(tile));
}
inline void store(int tile, void* to, std::ptrdiff_t stride) {
  demand_shape(tile);
  for (int row = 0; row < rows(tile); ++row)
    std::memcpy(static_cast<std::byte*>(to) + row * stride, tiles().lines[tile][row].data(), bytes(tile));
}
inline void zero(int tile) {
  demand_shape(tile);
  tiles().lines[tile] = {};
}

/// `sums` are rows(a) × columns of b; a line of `b` is what `a` has in 4 bytes.
inline void demand_product(int sums, int a, int b) {
  for (const int tile : {sums, a, b}) demand_shape(tile);
  demand(sums != a && sums != b && a != b && rows(sums) == rows(a) && bytes(sums) == bytes(b) &&
         bytes(a) == 4 * rows(b));
}

/// The element at `index` of a line.
template <class T>
T element(int tile, int row, int index) {
  T value;
  std::memcpy(&value, tiles().lines[tile][row].data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Numbers that are not normal count as 0.
inline float bf16(int tile, int row, int index) {
  const auto bits = std::uint32_t{element<std::uint16_t>(tile, row, index)} << 16;
  return (bits & 0x7f800000u) == 0 ? 0.0f : __builtin_bit_cast(float, bits);
}

/// Products of even and of odd numbers of a line are added up by themselves, each rounded once, then both to the sum.
inline void dot_bf16(int sums, int a, int b) {
  demand_product(sums, a, b);
  for (int row = 0; row < rows(sums); ++row)
    for (int column = 0; column < bytes(sums) / 4; ++column) {
      float even = 0, odd = 0;
      for (int step = 0; step < rows(b); ++step) {
        even = std::fma(bf16(a, row, 2 * step), bf16(b, step, 2 * column), even);
        odd = std::fma(bf16(a, row, 2 * step + 1), bf16(b, step, 2 * column + 1), odd);
      }
      const float sum = element<float>(sums, row, column) + (even + odd);
      std::memcpy(tiles().lines[sums][row].data() + 4 * column, &sum, 4);
    }
}

/// u8 by i8, modulo 2^32.
inline void dot_u8(int sums, int a, int b) {
  demand_product(sums, a, b);
  for (int row = 0; row < rows(sums); ++row)
    for (int column = 0; column < bytes(sums) / 4; ++column) {
      auto sum = element<std::uint32_t>(sums, row, column);
      for (int step = 0; step < rows(b); ++step)
        for (int i = 0; i < 4; ++i)
          sum += static_cast<std::uint32_t>(element<std::uint8_t>(a, row, 4 * step + i) *
                                            element<std::int8_t>(b, step, 4 * column + i));
      std::memcpy(tiles().lines[sums][row].data() + 4 * column, &sum, 4);
    }
}

}  // namespace ovir::testing::amx

// The compiler's names: macros, or functions that macros hide.
#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbf16ps
#undef _tile_dpbusd
#define _tile_loadconfig(shapes) ovir::testing::amx::load_config(shapes)
#define _tile_storeconfig(shapes) ovir::testing::amx::store_config(shapes)
#define _tile_loadd(tile, from, stride) ovir::testing::amx::load(tile, from, stride)
#define _tile_stored(tile, to, stride) ovir::testing::amx::store(tile, to, stride)
#define _tile_zero(tile) ovir::testing::amx::zero(tile)
#define _tile_dpbf16ps(sums, a, b) ovir::testing::amx::dot_bf16(sums, a, b)
#define _tile_dpbusd(sums, a, b) ovir::testing::amx::dot_u8(sums, a, b)
