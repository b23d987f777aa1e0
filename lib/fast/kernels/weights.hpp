// Weights as the model has them, for those who pack them.
#pragma once
#include "base/file_part.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// Panels of more floats are packed where they are mapped: they would not stay in the second-level cache.
inline constexpr i64 kMaxPanelRead = 256 << 10;

/// The same of filters, which are packed in one pass: then those of 2048 channels and 9 taps are still read.
inline constexpr i64 kMaxFiltersRead = 1 << 20;

/// So many panels share out the work by themselves: each is packed by the thread that then uses it.
inline constexpr i64 kOncePanels = 8;

/// Weights where they lie, and where they are needed only once the file from which they are read instead.
struct Weights {
  // NOLINTNEXTLINE(google-explicit-constructor): where they lie is all that most have to say
  Weights(const float* where) : data(where) {}
  Weights(const float* where, const FilePart& in_file, float* memory)
      : data(where), file(in_file ? &in_file : nullptr), room(memory) {}

  /// Floats [first, first + count): in `to` where they can be read from the file.
  const float* get(i64 first, i64 count, float* to) const {
    const std::span own(to, count);
    return file && file->read(first * 4, std::as_writable_bytes(own)) ? to : data + first;
  }

  const float* data;
  const FilePart* file = nullptr;  ///< null: they are used where they lie
  float* room = nullptr;           ///< of the floats of a panel for each thread, with a file
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
