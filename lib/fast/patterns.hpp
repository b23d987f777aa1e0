// The patterns of the fast tier that this build and this machine have.
#pragma once
#include "plan/pattern.hpp"

namespace ovir::fast {

/// In order of preference. The oneDNN module is opened for a plan that runs often; without it, or where it does not
/// load, there are ovir's own kernels and the reference kernels.
std::span<const Pattern* const> patterns(const PlanOptions& options);

// ovir's own, one file each.
extern const Pattern kBf16MatMul, kBf16Convolution, kU8Convolution, kU8Quantize, kConvolution, kMatMul,
    kBlockedConvolution, kBlockedPooling, kReduction, kPackedMatMul, kAttention, kCompressedWeights,
    kLayerNormalization, kRmsNormalization, kSoftmax, kTranspose, kConcat, kSplit, kElementwise, kRecurrent,
    kFakeQuantize, kGroupNormalization;

}  // namespace ovir::fast
