#include "fast/kernels/convolution/shape.hpp"

#include <numeric>

namespace ovir::fast {

JoinedGroups::JoinedGroups(const ConvolutionShape& s, i64 of_channels, i64 of_outputs) : block(of_channels) {
  const auto whole = [](i64 each, i64 of) { return of / std::gcd(each, of); };
  joined = std::min(s.groups, std::lcm(whole(s.group_channels(), of_channels), whole(s.group_outputs(), of_outputs)));
  count = ceil_div(s.groups, joined);
  channels = joined * s.group_channels();
  outputs = joined * s.group_outputs();
}

JoinedGroups::Read JoinedGroups::blocks_read(const ConvolutionShape& s, i64 i, i64 output) const {
  const auto last = std::min(output + kBlock, outputs_of(s, i)) - 1;
  return {s.first_channel(output) / kBlock, ceil_div(s.first_channel(last) + s.group_channels(), kBlock)};
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
