// Where Winograd's convolution pays, and by which tiles.
#include "fast/kernels/convolution/winograd.hpp"
#include "fast/kernels/convolution/winograd_regions.hpp"

namespace ovir::fast {
namespace {

// Of F(2×2). The filters of groups are few beside what is transformed.
constexpr i64 kLeastSideOfGroups = 12, kLeastSideOfSmallGroups = 32;
constexpr i64 kLeastOfStrides = 32, kLeastOfStridedLines = 64;  // channels
// Half a block is enough where so many planes are summed before the transform of the output.
constexpr i64 kFewestChannels = 8, kPlanesOfFewChannels = 3;
constexpr double kLeastUsed = 0.69;  // of the tiles' pixels
// The same for groups of so few channels that vectors of 16 take not much longer for direct sums.
constexpr double kLeastUsedByFew = 0.78;
// Products that a tile saves for each weight more that it reads, from which on it pays: F(2×2) instead of direct sums,
// F(4×4) instead of F(2×2), with vectors of 16, of fewer, of groups, and where filters are packed in every run; of more
// taps, and with a stride, instead of direct sums.
constexpr double kSavedByTwo = 10, kSavedByFour = 8, kSavedByFourNarrow = 5, kSavedByFourGroups = 3.5,
                 kSavedByFourOnce = 50, kSavedByManyTaps = 18, kSavedByStrides = 20;

/// Output pixels, of all images, from which on filters that are packed in every run are worth transforming.
constexpr i64 kPixelsWorthTransforming = 150;

/// What a pair of an input and an output channel of a slice costs: multiplications, and packed weights to read.
struct Cost {
  i64 products, weights;
  explicit Cost(const ConvolutionShape& s) : products(s.out_plane() * s.taps()), weights(s.taps()) {}
  Cost(const ConvolutionShape& s, WinogradTile tile) {
    const auto [y, x] = WinogradAxes(s, tile);
    weights = y.window * x.window;
    products = y.tiles * x.tiles * weights;
  }
};

/// Products of so many slices that `by` saves for each weight more that it reads.
double saved(const Cost& of, const Cost& by, i64 slices) {
  return static_cast<double>(slices * (of.products - by.products)) / static_cast<double>(by.weights - of.weights);
}

/// How much more must be saved where vectors of 16 floats multiply twice as fast, and read weights no faster. An
/// estimate, which leaves single images there much as they were measured.
double of_wide_vectors() { return isa().lanes == 16 ? 2 : 1; }

/// Whether enough of the tiles' pixels are in the plane: where it is small, or taps lie far apart, many are not.
bool pays(const ConvolutionShape& s, WinogradTile tile, double least_used = kLeastUsed) {
  const auto [y, x] = WinogradAxes(s, tile);
  return static_cast<double>(y.tiles * y.size * x.tiles * x.size) * least_used <= static_cast<double>(s.out_plane());
}

double saved_by_four(bool once, bool groups) {
  if (once) return kSavedByFourOnce;
  return groups ? kSavedByFourGroups : isa().lanes == 16 ? kSavedByFour : kSavedByFourNarrow;
}

}  // namespace

bool winograd_fits(const ConvolutionShape& s, WinogradTile tile) {
  if (s.is_volume()) return false;
  const auto side = side_of(tile);
  if (is_line(tile)) {
    const bool upright = s.kernel_height == 3;
    const auto along = upright ? s.stride_y : s.stride_x, across = upright ? s.stride_x : s.stride_y;
    const bool single = (upright ? s.out_width : s.out_height) == 1;
    if (s.taps() != 3 || std::max(s.kernel_height, s.kernel_width) != 3 || along != side.stride ||
        (across != 1 && !single) || s.groups > 1)
      return false;
  } else if (s.kernel_height != side.taps || s.kernel_width != side.taps || s.stride_y != side.stride ||
             s.stride_x != side.stride) {
    return false;
  }
  return (side.stride == 1 || !s.is_dilated()) &&
         (s.groups == 1 || (s.group_channels() % kBlock == 0 && s.group_outputs() % kBlock == 0));
}

std::optional<WinogradTile> winograd_tile(const VolumeShape& v, i64 images, bool once) {
  using enum WinogradTile;
  const auto& s = v.slice;
  const auto slices = images * (v.of_images ? 1 : v.out_slices);
  if (once && slices * s.out_plane() < kPixelsWorthTransforming) return std::nullopt;
  const auto least = v.planes >= kPlanesOfFewChannels ? kFewestChannels : kBlock;
  if (s.channels < least || s.outputs < least || v.kernel_planes > WinogradRegions::kMaxPlanes ||
      v.kernel_planes * s.taps() > WinogradRegions::kMaxTaken || blocks_of(s.channels) > WinogradRegions::kMaxBlocks)
    return std::nullopt;
  const auto side = std::min(s.out_height, s.out_width);
  if (winograd_fits(s, strided))
    return !once && s.groups == 1 && s.channels >= kLeastOfStrides && s.outputs >= 2 * kLeastOfStrides &&
                   pays(s, strided) && saved(Cost(s), Cost(s, strided), slices) >= kSavedByStrides
               ? std::optional(strided)
               : std::nullopt;
  if (winograd_fits(s, strided_line))
    return !once && std::min(s.channels, s.outputs) >= kLeastOfStridedLines && pays(s, strided_line)
               ? std::optional(strided_line)
               : std::nullopt;
  const auto least_steps = v.planes >= kPlanesOfFewChannels ? kPlanesOfFewChannels * kFewestChannels : 2 * kBlock;
  const bool few = s.channels * v.planes < least_steps, narrow = s.outputs < 2 * kBlock;
  if (winograd_fits(s, line)) return !few && !narrow && pays(s, line) ? std::optional(line) : std::nullopt;
  for (const auto tile : {four_taps, five_taps})
    if (winograd_fits(s, tile))
      return !few && !narrow && s.groups == 1 && pays(s, tile) &&
                     saved(Cost(s), Cost(s, tile), slices) >=
                         (once ? kSavedByFourOnce : of_wide_vectors() * kSavedByManyTaps)
                 ? std::optional(tile)
                 : std::nullopt;
  if (!winograd_fits(s, two) || ((few || narrow) && s.groups > 1)) return std::nullopt;
  const bool small = s.group_channels() * v.planes < least_steps,
             direct_is_fast = small && s.groups > 1 && isa().lanes == 16;
  const auto together = s.groups == 1 ? slices : 1;
  if (pays(s, four, direct_is_fast ? kLeastUsedByFew : kLeastUsed) &&
      saved(Cost(s, two), Cost(s, four), together) >= saved_by_four(once, s.groups > 1))
    return four;
  if ((few && narrow) || (s.groups > 1 && side < (small ? kLeastSideOfSmallGroups : kLeastSideOfGroups)))
    return std::nullopt;
  const bool saves = saved(Cost(s), Cost(s, two), together) >= of_wide_vectors() * kSavedByTwo;
  return pays(s, two) && saves ? std::optional(two) : std::nullopt;
}

}  // namespace ovir::fast
