#include "pattern_examples.hpp"

namespace ovir::testing::patterns::recurrent {
namespace {

void lstm(Net& n, const char* direction, i64 directions) {
  const auto y = n.op("LSTMSequence-5",
                      {n.input({2, 5, 7}), n.input({2, directions, 6}), n.input({2, directions, 6}), lengths(n),
                       n.weights({directions, 24, 7}), n.weights({directions, 24, 6}), n.weights({directions, 24})},
                      {{"hidden_size", "6"}, {"direction", direction}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
void lstm_forward(Net& n) { lstm(n, "forward", 1); }
void lstm_both(Net& n) { lstm(n, "bidirectional", 2); }
void lstm_by_f16(Net& n) {  // of the weights one constant is large, the others small
  const auto y = n.op("LSTMSequence-5",
                      {n.input({2, 5, 96}), n.input({2, 1, 48}), n.input({2, 1, 48}), lengths(n),
                       narrow_weights(n, {1, 192, 96}), narrow_weights(n, {1, 192, 48}), narrow_weights(n, {1, 192})},
                      {{"hidden_size", "48"}, {"direction", "forward"}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
/// The same where the batch may be open.
void lstm_of_any_batch(Net& n) {
  const auto x = n.input({2, 5, 96});
  const auto batch =
      n.op("Gather-8", {n.op("ShapeOf-3", {x}), n.indices({0}), n.constant(Tensor::scalar(0))}, {{"batch_dims", "0"}});
  const auto lengths = n.op("Broadcast-3", {n.constant(Tensor::scalar(5)), batch}, {{"mode", "numpy"}});
  const auto y = n.op("LSTMSequence-5",
                      {x, n.input({2, 1, 48}), n.input({2, 1, 48}), lengths, narrow_weights(n, {1, 192, 96}),
                       narrow_weights(n, {1, 192, 48}), narrow_weights(n, {1, 192})},
                      {{"hidden_size", "48"}, {"direction", "forward"}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
void gru_reverse(Net& n) {
  const auto y = n.op("GRUSequence-5",
                      {n.input({2, 5, 7}), n.input({2, 1, 6}), lengths(n), n.weights({1, 18, 7}), n.weights({1, 18, 6}),
                       n.weights({1, 24})},
                      {{"hidden_size", "6"}, {"direction", "reverse"}, {"linear_before_reset", "true"}}, 2);
  for (int port = 0; port < 2; ++port) n.result(y, port);
}
/// Of which each thread takes some, each of another length.
void many_sequences(Net& n) {
  std::vector<i64> steps;
  for (i64 i = 0; i < 17; ++i) steps.push_back(i % 5);
  const auto known = n.constant(Tensor::vector(steps));
  const auto y = n.op("GRUSequence-5",
                      {n.input({17, 4, 7}), n.input({17, 1, 6}), known, n.weights({1, 18, 7}), n.weights({1, 18, 6}),
                       n.weights({1, 18})},
                      {{"hidden_size", "6"}, {"direction", "forward"}}, 2);
  const auto z = n.op("LSTMSequence-5",
                      {n.input({17, 4, 9}), n.input({17, 1, 6}), n.input({17, 1, 6}), known, n.weights({1, 24, 9}),
                       n.weights({1, 24, 6}), n.weights({1, 24})},
                      {{"hidden_size", "6"}, {"direction", "reverse"}}, 3);
  for (int port = 0; port < 2; ++port) n.result(y, port);
  for (int port = 0; port < 3; ++port) n.result(z, port);
}
void lstm_cell(Net& n) {
  const auto y =
      n.op("LSTMCell-4",
           {n.input({3, 7}), n.input({3, 6}), n.input({3, 6}), n.weights({24, 7}), n.weights({24, 6}), n.weights({24})},
           {{"hidden_size", "6"}}, 2);
  for (int port = 0; port < 2; ++port) n.result(y, port);
}
void gru_cell(Net& n) {
  n.result(n.op("GRUCell-3",
                {n.input({3, 7}), n.input({3, 6}), n.weights({18, 7}), n.weights({18, 6}), n.weights({18})},
                {{"hidden_size", "6"}}));
}
/// Whose products are of one row, of more columns than a panel has.
void gru_wide(Net& n) {
  const auto y = n.op("GRUSequence-5",
                      {n.input({1, 5, 33}), n.input({1, 2, 41}), n.indices({5}), n.weights({2, 123, 33}),
                       n.weights({2, 123, 41}), n.weights({2, 164})},
                      {{"hidden_size", "41"}, {"direction", "bidirectional"}, {"linear_before_reset", "true"}}, 2);
  for (int port = 0; port < 2; ++port) n.result(y, port);
}
void rnn_both(Net& n) {
  const auto y = n.op("RNNSequence-5",
                      {n.input({2, 5, 7}), n.input({2, 2, 6}), lengths(n), n.weights({2, 6, 7}), n.weights({2, 6, 6}),
                       n.weights({2, 6})},
                      {{"hidden_size", "6"}, {"direction", "bidirectional"}}, 2);
  for (int port = 0; port < 2; ++port) n.result(y, port);
}
void rnn_cell(Net& n) {
  n.result(n.op("RNNCell-1", {n.input({3, 7}), n.input({3, 6}), n.weights({6, 7}), n.weights({6, 6}), n.weights({6})},
                {{"hidden_size", "6"}, {"activations", "relu"}}));
}

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

// clang-format off
constexpr Example kExamples[] = {
    {"lstm.sequence", lstm_forward},
    {"lstm.sequence", lstm_both, kOnce},
    {"lstm.sequence", lstm_by_f16, kOnce, kFixed, kF32Only},
    {"lstm.sequence", lstm_by_f16, kOften, kFixed, kF32Only},
    {"lstm.sequence", lstm_of_any_batch, kOnce, kOpen, kF32Only},
    {"lstm.sequence", lstm_of_any_batch, kOften, kOpen, kF32Only},
    {"gru.sequence", gru_reverse},
    {"gru.sequence", many_sequences},
    {"lstm.sequence", many_sequences},
    {"lstm.sequence", many_sequences, kOnce},
    {"lstm.cell", lstm_cell, kOften, kOpen},
    {"gru.cell", gru_cell},
    {"rnn.sequence", rnn_both, kOnce},
    {"rnn.cell", rnn_cell},
    {"gru.sequence", gru_wide},
    {"bf16.lstm.sequence", lstm_both, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.lstm.sequence", many_sequences, kOnce, kFixed, true, kBf16, Precision::bf16},
    {"bf16.gru.sequence", many_sequences, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.gru.sequence", gru_wide, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.rnn.sequence", rnn_both, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.lstm.cell", lstm_cell, kOften, kOpen, true, kBf16, Precision::bf16},
    {"bf16.gru.cell", gru_cell, kOften, kFixed, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"recurrent", kExamples};

}  // namespace ovir::testing::patterns::recurrent
