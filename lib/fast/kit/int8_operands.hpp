// What kernels of blocked channels read as levels where it is stored as such, else in f32.
#pragma once
#include "fast/kernels/elementwise/u8_elements.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast {

class U8Source {
 public:
  /// `levels`: nothing where the value has none.
  U8Source(const std::optional<Levels>& levels, i64 channels);

  bool reads_as(ElementType type, Layout layout) const;
  /// Floats of scratch memory that take() needs: none of a value that is blocked.
  static i64 scratch_size(const View& v);
  U8Operand take(const View& v, float* scratch, ThreadPool& pool) const;

 private:
  std::optional<U8Table> table_;
};

}  // namespace ovir::fast
