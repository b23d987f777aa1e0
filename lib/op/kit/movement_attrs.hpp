// Attributes of operations that move elements; the fast tier reads them too.
#pragma once
#include <cstdint>

#include "op/attributes.hpp"

namespace ovir {

enum class BroadcastMode : std::uint8_t { numpy, explicit_, bidirectional, pdpd };
// files also hold "none" for "explicit", and "pdpd"
constexpr auto words(BroadcastMode) {
  return std::to_array<Word<BroadcastMode>>({{"numpy", BroadcastMode::numpy},
                                             {"explicit", BroadcastMode::explicit_},
                                             {"none", BroadcastMode::explicit_},
                                             {"bidirectional", BroadcastMode::bidirectional},
                                             {"pdpd", BroadcastMode::pdpd}});
}
struct BroadcastModeAttrs {
  BroadcastMode mode = BroadcastMode::numpy;
};

/// Of GatherND, too.
struct GatherAttrs {
  i64 batch_dims = 0;
};

struct ShuffleChannelsAttrs {
  i64 axis = 1, group = 1;
};

/// DepthToSpace and SpaceToDepth: whether the channels hold the blocks before or after the depth.
enum class BlockMode : std::uint8_t { blocks_first, depth_first };
constexpr auto words(BlockMode) {
  return std::to_array<Word<BlockMode>>(
      {{"blocks_first", BlockMode::blocks_first}, {"depth_first", BlockMode::depth_first}});
}
struct BlockAttrs {
  BlockMode mode{};
  i64 block_size = 1;
};

/// What becomes of an element that an update of Scatter… meets.
enum class ScatterReduction : std::uint8_t { none, sum, sub, prod, min, max, mean };
constexpr auto words(ScatterReduction) {
  return std::to_array<Word<ScatterReduction>>({{"none", ScatterReduction::none},
                                                {"sum", ScatterReduction::sum},
                                                {"sub", ScatterReduction::sub},
                                                {"prod", ScatterReduction::prod},
                                                {"min", ScatterReduction::min},
                                                {"max", ScatterReduction::max},
                                                {"mean", ScatterReduction::mean}});
}
struct ScatterElementsAttrs {
  ScatterReduction reduction = ScatterReduction::none;
  bool use_init_val = true;
};

struct UniqueAttrs {
  bool sorted = true;
  ElementType index_element_type = ElementType::i64, count_element_type = ElementType::i64;
};

}  // namespace ovir
