// Transposed convolution of many taps, on plain tensors: each input pixel gives a patch of every output, and patches
// are added up where they overlap.
#pragma once
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/product/batched.hpp"

namespace ovir::fast {

/// Whether it has more taps or longer strides than transposed kernels on blocks take, or outputs so few that blocks of
/// theirs would be mostly empty, with phases too many to fill one together; and patches that memory has room for.
bool overlap_add_pays(const ConvolutionShape& shape);

/// The product that gives the patches: by image and group [pixels][outputs of the group · taps], of data [channels of
/// the group][pixels] and filters as the specification has them.
BatchedProduct patches_of(const ConvolutionShape& shape);

/// Adds up patches in a fixed order into plain outputs.
void overlap_add(const ConvolutionShape& shape, const float* patches, float* out, ThreadPool& pool);

}  // namespace ovir::fast
