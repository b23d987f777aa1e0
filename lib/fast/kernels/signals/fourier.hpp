// Discrete Fourier transforms of many lines.
#pragma once
#include <vector>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Of lines of n complex numbers: by its factors, 4 and 2 first; each prime factor p takes p times as long as 2 does.
class FourierFactors {
 public:
  explicit FourierFactors(i64 n);
  i64 n() const { return n_; }
  /// Transforms kFourierLines lines in `a`; gives where the result is: `a` or `b`.
  float* transform(float* a, float* b) const;
  /// Nanoseconds that takes, roughly.
  double time() const;

 private:
  struct Factor {
    i64 radix, w, root;  // where its numbers begin
  };
  i64 n_;
  std::vector<Factor> factors_;
  std::vector<float> numbers_;
};

/// Whether lines are not too long for their memory, nor for their factors: of others the reference kernels count the
/// work.
bool can_transform(i64 n);

/// What becomes of lines along an axis: [outer][from][inner] numbers become [outer][to][inner].
struct FourierLines {
  i64 outer, from, to, inner;
  bool real_in, real_out;  ///< else complex numbers
  bool half;               ///< numbers are the first half of a spectrum, of which the others are the conjugates
  bool inverse;
};
/// Scratch memory in floats, of each slot.
i64 fourier_scratch(i64 n);
/// Lines are cut or filled with zeros to the factors' n; of the result the first `to` numbers are stored.
void fourier(const FourierFactors& factors, const FourierLines& lines, const float* x, float* y, float* scratch,
             ThreadPool& pool);

}  // namespace ovir::fast
