// Attributes of the element-wise operations and reductions; the fast tier reads them too.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "op/attributes.hpp"

namespace ovir {

enum class AutoBroadcast : std::uint8_t { none, numpy, pdpd };
constexpr auto words(AutoBroadcast) {
  return std::to_array<Word<AutoBroadcast>>(
      {{"none", AutoBroadcast::none}, {"numpy", AutoBroadcast::numpy}, {"pdpd", AutoBroadcast::pdpd}});
}

/// How the second operand is fitted to the first. `axis` is where "pdpd" begins; -1: at rank(a) - rank(b).
/// Spec: operation-sets/broadcast-rules
struct BroadcastRule {
  AutoBroadcast kind = AutoBroadcast::numpy;
  i64 axis = -1;
};

struct BroadcastAttrs {
  AutoBroadcast auto_broadcast = AutoBroadcast::numpy;
  i64 auto_broadcast_axis = -1;
  BroadcastRule rule() const { return {auto_broadcast, auto_broadcast_axis}; }
};

struct DivideAttrs {
  AutoBroadcast auto_broadcast = AutoBroadcast::numpy;
  i64 auto_broadcast_axis = -1;
  bool m_pythondiv = true;
  BroadcastRule rule() const { return {auto_broadcast, auto_broadcast_axis}; }
};

struct FakeQuantizeAttrs {
  i64 levels = 0;
  AutoBroadcast auto_broadcast = AutoBroadcast::numpy;
  i64 auto_broadcast_axis = -1;
  BroadcastRule rule() const { return {auto_broadcast, auto_broadcast_axis}; }
};

struct ClampAttrs {
  double min = 0, max = 0;
};

struct EluAttrs {
  double alpha = 0;
};

enum class GeluMode : std::uint8_t { erf, tanh };
constexpr auto words(GeluMode) {
  return std::to_array<Word<GeluMode>>({{"erf", GeluMode::erf}, {"tanh", GeluMode::tanh}});
}
struct GeluAttrs {
  GeluMode approximation_mode = GeluMode::erf;
};

enum class RoundMode : std::uint8_t { half_to_even, half_away_from_zero };
constexpr auto words(RoundMode) {
  return std::to_array<Word<RoundMode>>(
      {{"half_to_even", RoundMode::half_to_even}, {"half_away_from_zero", RoundMode::half_away_from_zero}});
}
struct RoundAttrs {
  RoundMode mode = RoundMode::half_to_even;
};

struct IsInfAttrs {
  bool detect_negative = true, detect_positive = true;
};

/// Of Softmax and LogSoftmax.
struct SoftmaxAttrs {
  i64 axis = 1;
};

struct ReduceAttrs {
  bool keep_dims = false;
};

}  // namespace ovir
