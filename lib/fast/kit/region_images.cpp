#include "fast/kit/region_images.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "op/kit/region_pooling.hpp"
#include "op/ports.hpp"

namespace ovir::fast {

void find_images(const Version& version, const View& rois, NoImage none, i64 images, std::span<i64> to) {
  std::fill(to.begin(), to.end(), -1);
  for (i64 r = 0; r < std::ssize(to); ++r) {
    const auto image = region_image(rois.as<const float>()[r * rois.dim(1)]);
    if (none == NoImage::ends && image == -1) return;
    if (none == NoImage::passes && image < 0) continue;
    if (image < 0 || image >= images)
      fail_at(version, 1, Code::E0507,
              fmt::format("region {} names image {}, but \"data\" has {}", r, image, counted(images, "image")));
    to[r] = image;
  }
}

}  // namespace ovir::fast
