// Attributes of recurrent cells and of the sequences made of them; the fast tier reads them too.
#pragma once
#include <cstdint>
#include <vector>

#include "op/attributes.hpp"

namespace ovir {

enum class CellActivation : std::uint8_t { sigmoid, tanh, relu };
constexpr auto words(CellActivation) {
  return std::to_array<Word<CellActivation>>(
      {{"sigmoid", CellActivation::sigmoid}, {"tanh", CellActivation::tanh}, {"relu", CellActivation::relu}});
}
enum class SequenceDirection : std::uint8_t { forward, reverse, bidirectional };
constexpr auto words(SequenceDirection) {
  return std::to_array<Word<SequenceDirection>>({{"forward", SequenceDirection::forward},
                                                 {"reverse", SequenceDirection::reverse},
                                                 {"bidirectional", SequenceDirection::bidirectional}});
}
/// The order of LSTM's gates in the weights: forget, input, cell, output.
enum class GateOrder : std::uint8_t { fico, icof, ifco, ifoc, iofc };
constexpr auto words(GateOrder) {
  return std::to_array<Word<GateOrder>>({{"fico", GateOrder::fico},
                                         {"icof", GateOrder::icof},
                                         {"ifco", GateOrder::ifco},
                                         {"ifoc", GateOrder::ifoc},
                                         {"iofc", GateOrder::iofc}});
}

struct RecurrentAttrs {
  i64 hidden_size = 0;
  std::vector<CellActivation> activations;
  std::vector<double> activations_alpha, activations_beta;  ///< of no use to the three functions there are
  double clip = 0;                                          ///< 0: not clipped
  SequenceDirection direction = SequenceDirection::forward;
  bool linear_before_reset = false, input_forget = false;
  GateOrder weights_format = GateOrder::fico;

  i64 directions() const { return direction == SequenceDirection::bidirectional ? 2 : 1; }
};

}  // namespace ovir
