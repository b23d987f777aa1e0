// Recurrent cells and the sequences made of them: attributes, shapes and the kernel of all six.
#pragma once
#include "op/op.hpp"

namespace ovir::ops::sequence {

enum class Activation : std::uint8_t { sigmoid, tanh, relu };
constexpr auto words(Activation) {
  return std::to_array<Word<Activation>>(
      {{"sigmoid", Activation::sigmoid}, {"tanh", Activation::tanh}, {"relu", Activation::relu}});
}
enum class Direction : std::uint8_t { forward, reverse, bidirectional };
constexpr auto words(Direction) {
  return std::to_array<Word<Direction>>(
      {{"forward", Direction::forward}, {"reverse", Direction::reverse}, {"bidirectional", Direction::bidirectional}});
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

struct Attrs {
  i64 hidden_size = 0;
  std::vector<Activation> activations;
  std::vector<double> activations_alpha, activations_beta;  ///< of no use to the three functions there are
  double clip = 0;                                          ///< 0: not clipped
  Direction direction = Direction::forward;
  bool linear_before_reset = false, input_forget = false;
  GateOrder weights_format = GateOrder::fico;

  i64 directions() const { return direction == Direction::bidirectional ? 2 : 1; }
};

enum class Cell : std::uint8_t { rnn, gru, lstm };

/// Which input is which; -1 where there is none. With `lengths` it is a sequence, else a single cell.
struct Ports {
  Cell cell;
  int x, hidden, state, lengths, w, r, b;
  bool sequence() const { return lengths >= 0; }
};
inline constexpr Ports kRnnCell{Cell::rnn, 0, 1, -1, -1, 2, 3, 4}, kGruCell{Cell::gru, 0, 1, -1, -1, 2, 3, 4},
    kLstmCell{Cell::lstm, 0, 1, 2, -1, 3, 4, 5};
inline constexpr Ports kRnnSequence{Cell::rnn, 0, 1, -1, 2, 3, 4, 5}, kGruSequence{Cell::gru, 0, 1, -1, 2, 3, 4, 5},
    kLstmSequence{Cell::lstm, 0, 1, 2, 3, 4, 5, 6};

void infer(InferContext& c, const Ports& p);
void eval(EvalContext& c, const Ports& p);

inline constexpr TypeVar T{"T", kFloat}, TLength{"T2", kInteger};
using A = Attrs;
inline constexpr auto kCellAttrs =
    attributes<A, Attr<"hidden_size", &A::hidden_size, kRequired>, Attr<"activations", &A::activations>,
               Attr<"activations_alpha", &A::activations_alpha>, Attr<"activations_beta", &A::activations_beta>,
               Attr<"clip", &A::clip>>;
inline constexpr auto kSequenceAttrs =
    attributes<A, Attr<"hidden_size", &A::hidden_size, kRequired>, Attr<"direction", &A::direction>,
               Attr<"activations", &A::activations>, Attr<"activations_alpha", &A::activations_alpha>,
               Attr<"activations_beta", &A::activations_beta>, Attr<"clip", &A::clip>>;

}  // namespace ovir::ops::sequence
