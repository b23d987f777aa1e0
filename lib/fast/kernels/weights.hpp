// Weights as the model has them, for those who pack them.
#pragma once
#include <cstddef>
#include <span>

#include "base/file_part.hpp"
#include "fast/kernels/chunks.hpp"
#include "tensor/element_type.hpp"

namespace ovir::fast {

/// Panels of more floats are packed where they are mapped: they would not stay in the second-level cache.
inline constexpr i64 kMaxPanelRead = 256 << 10;

/// The same of filters, which are packed in one pass: then those of 2048 channels and 9 taps are still read.
inline constexpr i64 kMaxFiltersRead = 1 << 20;

/// So many panels share out the work by themselves: each is packed by the thread that then uses it.
inline constexpr i64 kOncePanels = 8;

/// The part of a file that has weights of f32, f16 or bf16.
struct WeightsFile {
  FilePart part;
  ElementType type = ElementType::f32;

  explicit operator bool() const { return static_cast<bool>(part); }
  /// Elements [first, first + count) as f32. Throws Failure (E0302).
  void read(i64 first, i64 count, float* to) const;
  /// As they are there. Throws Failure (E0302).
  void read_bytes(i64 offset, std::span<std::byte> to) const;
};

/// Elements of f16 or bf16 where they lie.
struct NarrowWeights {
  ElementType type = ElementType::f16;
  const std::byte* data = nullptr;

  void read(i64 first, i64 count, float* to) const;
};

/// Weights where they lie or, of f16, bf16 or needed only once, where they are read from.
struct Weights {
  // NOLINTNEXTLINE(google-explicit-constructor): where they lie is all that most have to say
  Weights(const float* where) : data(where) {}
  Weights(const WeightsFile& in_file, float* memory) : file(&in_file), room(memory) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  Weights(const NarrowWeights& at) : narrow(at) {}

  /// Floats [first, first + count): in `to` where they do not lie as floats. Throws Failure (E0302).
  const float* get(i64 first, i64 count, float* to) const {
    if (data) return data + first;
    if (file) file->read(first, count, to);
    else narrow.read(first, count, to);
    return to;
  }

  const float* data = nullptr;
  const WeightsFile* file = nullptr;
  NarrowWeights narrow{};
  float* room = nullptr;  ///< of the floats of a panel for each thread, with a file
};

/// pack(panel, block, from) for all blocks of channels of all panels: `from` are the panel's weights, `panel_floats`
/// each, the last panel having what is left of `floats`. `cost`: nanoseconds a block.
template <class Pack>
void pack_blocks(const Weights& weights, i64 floats, i64 panel_floats, i64 blocks, double cost, ThreadPool& pool,
                 const Pack& pack) {
  const auto panels = ceil_div(floats, panel_floats);
  if (!weights.file) {
    parallel_ranges(pool, panels * blocks, cost, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) pack(i / blocks, i % blocks, weights.data + i / blocks * panel_floats);
    });
    return;
  }
  Slots rooms(weights.room, panel_floats, slots_for(pool));
  parallel_ranges(pool, panels, cost * static_cast<double>(blocks), [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto panel = begin; panel < end; ++panel) {
      const auto first = panel * panel_floats;
      const auto* const from = weights.get(first, std::min(panel_floats, floats - first), room.data());
      for (i64 block = 0; block < blocks; ++block) pack(panel, block, from);
    }
  });
}

}  // namespace ovir::fast
