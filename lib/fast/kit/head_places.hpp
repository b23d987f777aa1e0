// Operands of attention in tensors whose shapes are known, behind whatever only says otherwise where elements lie:
// Transpose, Reshape, Squeeze, Unsqueeze, Split, Slice, and Gather of one place.
#pragma once
#include "fast/kit/heads.hpp"

namespace ovir::fast {

/// Reads all three operands of what is before such nodes, where these are nobody else's: as PyTorch's multi-head
/// attention has them, which parts queries, keys and values before it parts their heads.
void take_places(const Graphlet& graph, std::array<HeadOperand, 3>& operands, HeadWay& way);

}  // namespace ovir::fast
