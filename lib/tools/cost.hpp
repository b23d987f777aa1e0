// What a run will take, told from the shapes before it: parameters, multiply-accumulates, bytes moved, and the most
// bytes of tensors that are alive at a time.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

struct LayerCost {
  const Model* model = nullptr;
  int node = -1;
  i64 times = 1;       ///< it runs, by the trip counts of the loops around it
  i64 parameters = 0;  ///< of the constants that it alone, or it first, reads
  i64 macs = 0;        ///< of all its runs
  i64 moved = 0;       ///< bytes read and written in all its runs
};

/// An output that is alive at the peak.
struct AliveTensor {
  const Model* model = nullptr;
  int node = -1;
  int port = 0;
  ElementType type = ElementType::dynamic;
  Shape shape;
  i64 bytes = 0;
};

/// Element types are the declared ones. Neither constants, which stay in the mapped .bin, nor what follows from them
/// alone are among the tensors.
struct Cost {
  i64 parameters = 0;  ///< elements of the constants that are no integers of 32 or 64 bits, each stored one once
  i64 macs = 0;
  i64 weights = 0;  ///< bytes of the constants
  i64 moved = 0;
  i64 peak = 0;
  const Model* peak_model = nullptr;
  int peak_node = -1;              ///< while it runs
  std::vector<AliveTensor> alive;  ///< at the peak, the largest first
  std::vector<LayerCost> layers;   ///< that compute, in topological order, those of bodies after the layer around them
  /// Layers for which a number is missing because a length, or how often a loop runs, is only known in the run:
  /// they count with the greatest length that is known, or not at all.
  std::vector<LayerCost> open;
};
Cost cost_of(const Model& model, const Facts& facts);

/// A demand on the totals: "macs<300M", "peak<=64MB". Names: parameters, macs, weights, moved, peak.
struct CostDemand {
  std::string text, name, comparison;
  double limit = 0;

  bool holds(const Cost& cost) const;
  double value(const Cost& cost) const;
};
/// Several, separated by commas. Throws std::invalid_argument with a sentence for users.
std::vector<CostDemand> parse_demands(std::string_view text);

}  // namespace ovir::tools
