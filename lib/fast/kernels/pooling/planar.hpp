// Maximum and average pooling of plain planes, by rows: along each row first, then over rows.
#pragma once
#include <array>
#include <vector>

#include "base/int.hpp"
#include "fast/kernels/chunks.hpp"
#include "tensor/element_type.hpp"

namespace ovir::fast {

/// What one window has of an axis: so many taps within the data, the first of them there.
struct PoolWindow {
  i64 first, taps;
};

struct PoolAxis {
  i64 in = 1, dilation = 1;
  std::vector<PoolWindow> windows{{0, 1}};
  // Windows [begin, end) have as many taps as any, `stride` apart.
  i64 begin = 0, end = 1, stride = 1;

  i64 out() const { return std::ssize(windows); }
  /// Whether one window has all of it.
  bool is_whole() const;
  /// What some windows read, from the first to the last.
  Part reads(Part some) const;
  /// To be called once the windows are known.
  void find_alike();
};

struct PlanarPooling {
  bool maximum = false;
  i64 planes = 0;
  i64 divisor = 0;                  ///< of all averages; 0: the taps within the data
  std::array<PoolAxis, 3> axes;     ///< of the data; those that are missing have length 1
  i64 band = 1, band_elements = 0;  ///< output rows that are computed at a time, and what waits for them

  /// Whether every window has a tap. To be called once the axes are known; sets the band.
  bool begin();
  /// Whether so many channels had better not be computed in blocks, with values brought there and back.
  bool pays(i64 channels) const;
  /// Floats of the scratch memory of a band.
  i64 band_floats(i64 element_bytes) const;

 private:
  void merge();
};

/// Floats of scratch memory, for elements of this type.
i64 planar_scratch_size(const PlanarPooling& pooling, int threads, ElementType type = ElementType::f32);
/// A maximum is NaN where the first of its values is; else NaN does not count.
void planar_pool(const PlanarPooling& pooling, const float* in, float* out, float* scratch, ThreadPool& pool);
/// Of integers.
void planar_maximum(const PlanarPooling& pooling, ElementType type, const void* in, void* out, float* scratch,
                    ThreadPool& pool);

}  // namespace ovir::fast
