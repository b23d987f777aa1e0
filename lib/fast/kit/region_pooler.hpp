// The kernel of operations that pool regions of a map to bins: where the bins of each region lie is found once a run.
#pragma once
#include <memory>
#include <vector>

#include "fast/kernels/image/region_pooling.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/region_images.hpp"

namespace ovir::fast {

/// Regions are [region][5]: an image, then left, top, right and bottom. `Bins`, an operation in one of its modes, has
/// its `Attrs`, what belongs to a bin along an axis (`Along`, PixelSpan or AxisPoint), `kName`, and
///   sizes(attrs, maps, regions)                        of what is pooled,
///   put(attrs, first, last, bins, points, length, to)  the bins of a side from `first` to `last`; returns their end,
///   scratch_size(what), pool(what, sides, maps, bins, scratch, pool)
template <class Bins>
class RegionPooler final : public Kernel {
 public:
  using Attrs = typename Bins::Attrs;
  using Along = typename Bins::Along;

  RegionPooler(const Version& version, const Attrs& attrs) : version_(&version), attrs_(attrs) {}

  std::string name() const override { return std::string(Bins::kName); }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto what = Bins::sizes(attrs_, sizes.in[0], sizes.in[1]);
    state->images.resize(what.regions);
    state->rows.resize(what.regions * what.bin_rows * what.point_rows);
    state->columns.resize(what.regions * what.bin_columns * what.point_columns);
    if (const auto size = Bins::scratch_size(what)) state->scratch = state->reserve(size);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &maps = in[0], &regions = in[1];
    const auto what = Bins::sizes(attrs_, maps, regions);
    find_images(*version_, regions, NoImage::ends, what.images, state.images);
    auto *row = state.rows.data(), *column = state.columns.data();
    for (i64 r = 0; r < what.regions; ++r) {
      const auto* region = regions.as<const float>() + 5 * r;
      row = Bins::put(attrs_, region[2], region[4], what.bin_rows, what.point_rows, what.height, row);
      column = Bins::put(attrs_, region[1], region[3], what.bin_columns, what.point_columns, what.width, column);
    }
    const RegionSides<Along> sides{state.images.data(), state.rows.data(), state.columns.data()};
    Bins::pool(what, sides, maps.as<const float>(), out[0].as<float>(),
               state.scratch ? state.floats(state.scratch) : nullptr, runtime.pool());
  }

 private:
  struct State final : KernelState {
    std::vector<i64> images;
    std::vector<Along> rows, columns;
    Scratch scratch;
  };

  const Version* version_;
  Attrs attrs_;
};

/// That of a node that pools f32, in the mode of `Bins`.
template <class Bins>
std::optional<Match> match_regions(const Graphlet& graph, int root) {
  const auto maps = graph.input(root, 0), regions = graph.input(root, 1);
  if (!is_f32(graph, maps) || !is_f32(graph, regions)) return std::nullopt;
  const auto& attrs = graph.attrs<typename Bins::Attrs>(root);
  return Match{{root}, {maps, regions}, std::make_unique<RegionPooler<Bins>>(*graph.node(root).version, attrs)};
}

}  // namespace ovir::fast
