// Every operation type that OpenVINO's public opsets define, whether ovir has it or not.
#pragma once
#include <span>
#include <string_view>

namespace ovir {

inline constexpr int kNewestOpset = 17;

struct KnownType {
  std::string_view type;
  int since;      ///< the opset that introduced it
  int until = 0;  ///< the last opset that holds it; 0: the newest
};
std::span<const KnownType> known_types();
/// Without regard to letter case; null where no opset defines it.
const KnownType* known_type(std::string_view type);

}  // namespace ovir
