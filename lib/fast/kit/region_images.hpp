// Of which images regions are.
#pragma once
#include <span>

#include "op/op_def.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {

/// Where a region has no image.
enum class NoImage : std::uint8_t {
  ends,    ///< at -1 the list of regions ends, and there are no more
  passes,  ///< a region below 0 is none, others follow
};

/// Writes the image of each region, the first of its numbers, or -1 where there is no region. Throws Failure (E0507)
/// where maps of so many images have no such image.
void find_images(const Version& version, const View& rois, NoImage none, i64 images, std::span<i64> to);

}  // namespace ovir::fast
