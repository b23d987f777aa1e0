// Pixels of RGB or BGR from planes of YUV.
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Images whose four pixels of a square share their chroma. In every image luma and chroma lie so many elements apart
/// from those of the one before; a row of chroma has a value every `chroma_step` elements, 1 or 2.
struct YuvImages {
  i64 batch, height, width, luma_stride, chroma_stride, chroma_step;
  bool bgr;
};

/// Into [batch][height][width][3]; T is u8 or f32.
template <class T>
void from_yuv(const YuvImages& what, const T* luma, const T* u, const T* v, T* out, ThreadPool& pool);

}  // namespace ovir::fast
