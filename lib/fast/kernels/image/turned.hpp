// Images with the channels of a pixel side by side: what is sampled anywhere is then sampled for all of them together.
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// [batch][channels][plane] becomes [batch][plane][channels], pixels `pixel` and images `apart` floats apart.
void turn_images(const float* x, i64 batch, i64 channels, i64 plane, i64 pixel, i64 apart, float* to, ThreadPool& pool);

/// Whether that pays for so many points in all images, of so many pixels together.
inline bool turning_pays(i64 channels, i64 points, i64 pixels) {
  constexpr i64 kFewest = 8;
  return channels >= kFewest && 2 * points >= pixels;
}

}  // namespace ovir::fast
