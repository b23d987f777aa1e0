// Attributes that others than the operation's own file read: the framework, and the fast tier.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "op/attributes.hpp"

namespace ovir {

/// Of an operation whose Kind is `constant`: bytes [offset, offset + size) of the .bin.
struct ConstantAttrs {
  ElementType element_type = ElementType::dynamic;
  Shape shape;
  i64 offset = 0, size = 0;
};
inline constexpr auto kConstantAttrs =
    attributes<ConstantAttrs, Attr<"element_type", &ConstantAttrs::element_type, kRequired>,
               Attr<"shape", &ConstantAttrs::shape, kRequired>, Attr<"offset", &ConstantAttrs::offset, kRequired>,
               Attr<"size", &ConstantAttrs::size, kRequired>>;

/// Of an operation whose Kind is `parameter`.
struct ParameterAttrs {
  ElementType element_type = ElementType::dynamic;
  PartialShape shape = PartialShape::unknown_rank();
};
inline constexpr auto kParameterAttrs =
    attributes<ParameterAttrs, Attr<"element_type", &ParameterAttrs::element_type, kRequired>,
               Attr<"shape", &ParameterAttrs::shape, kRequired>>;

/// Of an operation whose Kind is `read_value` or `assign`; type and shape are ReadValue-6's.
struct VariableAttrs {
  std::string variable_id;
  ElementType variable_type = ElementType::dynamic;
  PartialShape variable_shape = PartialShape::unknown_rank();
};
template <class... More>
inline constexpr auto kVariableAttrs =
    attributes<VariableAttrs, Attr<"variable_id", &VariableAttrs::variable_id, kRequired>, More...>;

struct ConcatAttrs {
  i64 axis = 0;
};

struct GatherElementsAttrs {
  i64 axis = 0;
};

struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
};

enum class MvnEps : std::uint8_t { inside_sqrt, outside_sqrt };
constexpr auto words(MvnEps) {
  return std::to_array<Word<MvnEps>>({{"inside_sqrt", MvnEps::inside_sqrt}, {"outside_sqrt", MvnEps::outside_sqrt}});
}
/// Version 6; of version 1 the first three, where the axes follow from across_channels or reduction_axes.
struct MvnAttrs {
  bool normalize_variance = true, across_channels = false;
  double eps = 1e-9;
  MvnEps eps_mode = MvnEps::inside_sqrt;
  std::optional<std::vector<i64>> reduction_axes;
};

struct ScaledDotProductAttentionAttrs {
  bool causal = false;
};

/// Of Pad.
enum class PadMode { constant, edge, reflect, symmetric };
constexpr auto words(PadMode) {
  return std::to_array<Word<PadMode>>({{"constant", PadMode::constant},
                                       {"edge", PadMode::edge},
                                       {"reflect", PadMode::reflect},
                                       {"symmetric", PadMode::symmetric}});
}
struct PadAttrs {
  PadMode pad_mode = PadMode::constant;
};

}  // namespace ovir
