// LSTM, GRU and plain cells over a sequence: the inputs' products are taken for all steps at once, the states' step by
// step.
#pragma once
#include "base/int.hpp"
#include "fast/isa/elementwise.hpp"
#include "fast/kernels/recurrent/matrix.hpp"

namespace ovir::fast {

struct RecurrentShape {
  i64 batch = 1, steps = 0, inputs = 0, hidden = 0;
  bool backward = false;  ///< from the last step to the first
  Unary gates{Function::sigmoid}, state{Function::tanh}, output{Function::tanh};
};

/// Operands of one direction. x: [batch][steps][inputs]; y: [batch][steps][hidden], rows `y_row` apart and batches
/// `y_batch`.
struct RecurrentData {
  const float* x;
  float* y;
  i64 y_batch, y_row;
  const i64* lengths;  ///< [batch], each at most `steps`; null: all are. Steps beyond give zeros
  float *h, *c;        ///< [batch][hidden]: first state in, last state out; c of the LSTM only
  Word* rounded;       ///< room for all rows that a matrix of bf16 multiplies at once (RecurrentMatrix::words)
};

// Sizes of scratch memory are floats of one sequence.

/// Gates of an LSTM in OpenVINO's order: forget, input, cell, output. w: [inputs][4·hidden], r: [hidden][4·hidden],
/// bias: 4·hidden.
i64 lstm_scratch_size(const RecurrentShape& shape);
void lstm(const RecurrentShape& shape, const RecurrentMatrix& w, const RecurrentMatrix& r, const float* bias,
          const RecurrentData& data, float* scratch, ThreadPool& pool);

/// A plain cell, whose function is that of the gates. w: [inputs][hidden], r: [hidden][hidden], bias: hidden.
i64 rnn_scratch_size(const RecurrentShape& shape);
void rnn(const RecurrentShape& shape, const RecurrentMatrix& w, const RecurrentMatrix& r, const float* bias,
         const RecurrentData& data, float* scratch, ThreadPool& pool);

/// Gates of a GRU: update, reset, hidden. bias: 3·hidden, or 4·hidden where `linear_before_reset` (the fourth belongs
/// to the state's product of the hidden gate). r is in two: [hidden][2·hidden] and [hidden][hidden].
i64 gru_scratch_size(const RecurrentShape& shape);
void gru(const RecurrentShape& shape, const RecurrentMatrix& w, const RecurrentMatrix& gates_r,
         const RecurrentMatrix& hidden_r, const float* bias, bool linear_before_reset, const RecurrentData& data,
         float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
