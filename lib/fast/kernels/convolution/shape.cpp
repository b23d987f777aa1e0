#include "fast/kernels/convolution/shape.hpp"

#include <numeric>

namespace ovir::fast {

i64 joined_groups(const ConvolutionShape& shape) {
  const auto joined = [](i64 each) { return kBlock / std::gcd(each, kBlock); };
  const auto wanted = std::lcm(joined(shape.group_channels()), joined(shape.group_outputs()));
  return shape.groups % wanted == 0 ? wanted : shape.groups;
}

void clear_padding(const ConvolutionShape& shape, const Unary& activation, float* out) {
  const auto used = shape.outputs % kBlock;
  float zero = 0;
  isa().unary(activation, &zero, &zero, 1);
  if (used == 0 || zero == 0) return;
  const auto blocks = blocks_of(shape.outputs), pixels = shape.out_plane();
  for (i64 n = 0; n < shape.batch; ++n) {
    float* block = out + ((n + 1) * blocks - 1) * pixels * kBlock;
    for (i64 p = 0; p < pixels; ++p) std::fill(block + p * kBlock + used, block + (p + 1) * kBlock, 0.0f);
  }
}

}  // namespace ovir::fast
