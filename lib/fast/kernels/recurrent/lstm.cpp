#include "fast/kernels/recurrent/lstm.hpp"

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

/// Which step of sequence `b` comes i-th; -1: none, it is over.
i64 step_of(const RecurrentShape& s, const RecurrentData& d, i64 b, i64 i) {
  const auto length = d.lengths ? d.lengths[b] : s.steps;
  if (i >= length) return -1;
  return s.backward ? length - 1 - i : i;
}

void clear_beyond(const RecurrentShape& s, const RecurrentData& d) {
  if (!d.lengths) return;
  for (i64 b = 0; b < s.batch; ++b)
    for (auto t = d.lengths[b]; t < s.steps; ++t) std::fill_n(d.y + b * d.y_batch + t * d.y_row, s.hidden, 0.0f);
}

/// to[batch][steps][columns] = x·w + bias, for all steps.
void inputs_product(const RecurrentShape& s, const RecurrentMatrix& w, const float* bias, const RecurrentData& d,
                    float* to, ThreadPool& pool) {
  w.multiply(d.x, s.batch * s.steps, bias, to, d.rounded, pool);
}

}  // namespace

i64 lstm_scratch_size(const RecurrentShape& s) { return (s.steps + 1) * 4 * s.hidden; }

void lstm(const RecurrentShape& s, const RecurrentMatrix& w, const RecurrentMatrix& r, const float* bias,
          const RecurrentData& d, float* scratch, ThreadPool& pool) {
  const auto& table = isa();
  const auto n = s.hidden, wide = 4 * n;
  float *from_inputs = scratch, *gates = scratch + s.batch * s.steps * wide;
  const bool usual = s.gates.f == Function::sigmoid && s.state.f == Function::tanh && s.output.f == Function::tanh;
  inputs_product(s, w, bias, d, from_inputs, pool);
  clear_beyond(s, d);
  for (i64 i = 0; i < s.steps; ++i) {
    r.multiply(d.h, s.batch, nullptr, gates, d.rounded, pool);
    for (i64 b = 0; b < s.batch; ++b) {
      const auto t = step_of(s, d, b, i);
      if (t < 0) continue;
      float *g = gates + b * wide, *forget = g, *input = g + n, *cell = g + 2 * n, *output = g + 3 * n;
      float *h = d.h + b * n, *c = d.c + b * n;
      const auto* inputs = from_inputs + (b * s.steps + t) * wide;
      if (usual) {
        table.lstm_cell(g, inputs, c, h, n);
      } else {
        table.binary(Binary::add, g, 1, inputs, 1, g, wide);
        table.unary(s.gates, forget, forget, 2 * n);
        table.unary(s.state, cell, cell, n);
        table.unary(s.gates, output, output, n);
        table.binary(Binary::multiply, forget, 1, c, 1, c, n);
        table.binary(Binary::multiply, input, 1, cell, 1, cell, n);
        table.binary(Binary::add, c, 1, cell, 1, c, n);
        table.unary(s.output, c, h, n);
        table.binary(Binary::multiply, h, 1, output, 1, h, n);
      }
      std::copy_n(h, n, d.y + b * d.y_batch + t * d.y_row);
    }
  }
}

i64 rnn_scratch_size(const RecurrentShape& s) { return (s.steps + 1) * s.hidden; }

void rnn(const RecurrentShape& s, const RecurrentMatrix& w, const RecurrentMatrix& r, const float* bias,
         const RecurrentData& d, float* scratch, ThreadPool& pool) {
  const auto& table = isa();
  const auto n = s.hidden;
  float *from_inputs = scratch, *sums = scratch + s.batch * s.steps * n;
  inputs_product(s, w, bias, d, from_inputs, pool);
  clear_beyond(s, d);
  for (i64 i = 0; i < s.steps; ++i) {
    r.multiply(d.h, s.batch, nullptr, sums, d.rounded, pool);
    for (i64 b = 0; b < s.batch; ++b) {
      const auto t = step_of(s, d, b, i);
      if (t < 0) continue;
      float* h = d.h + b * n;
      table.binary(Binary::add, sums + b * n, 1, from_inputs + (b * s.steps + t) * n, 1, h, n);
      table.unary(s.gates, h, h, n);
      std::copy_n(h, n, d.y + b * d.y_batch + t * d.y_row);
    }
  }
}

i64 gru_scratch_size(const RecurrentShape& s) { return (s.steps * 3 + 5) * s.hidden; }

void gru(const RecurrentShape& s, const RecurrentMatrix& w, const RecurrentMatrix& gates_r,
         const RecurrentMatrix& hidden_r, const float* bias, bool linear_before_reset, const RecurrentData& d,
         float* scratch, ThreadPool& pool) {
  const auto& table = isa();
  const auto n = s.hidden;
  float *from_inputs = scratch, *gates = from_inputs + s.batch * s.steps * 3 * n, *hidden = gates + s.batch * 2 * n,
        *reset = hidden + s.batch * n;
  inputs_product(s, w, bias, d, from_inputs, pool);
  clear_beyond(s, d);
  for (i64 i = 0; i < s.steps; ++i) {
    gates_r.multiply(d.h, s.batch, nullptr, gates, d.rounded, pool);
    for (i64 b = 0; b < s.batch; ++b) {
      const auto t = step_of(s, d, b, i);
      float* g = gates + b * 2 * n;
      if (t >= 0) table.binary(Binary::add, g, 1, from_inputs + (b * s.steps + t) * 3 * n, 1, g, 2 * n);
      table.unary(s.gates, g, g, 2 * n);
      table.binary(Binary::multiply, g + n, 1, d.h + b * n, 1, reset + b * n, n);
    }
    const auto* hidden_bias = linear_before_reset && bias ? bias + 3 * n : nullptr;
    hidden_r.multiply(linear_before_reset ? d.h : reset, s.batch, hidden_bias, hidden, d.rounded, pool);
    for (i64 b = 0; b < s.batch; ++b) {
      const auto t = step_of(s, d, b, i);
      if (t < 0) continue;
      float *update = gates + b * 2 * n, *h = d.h + b * n, *candidate = hidden + b * n;
      if (linear_before_reset) table.binary(Binary::multiply, candidate, 1, update + n, 1, candidate, n);
      table.binary(Binary::add, candidate, 1, from_inputs + (b * s.steps + t) * 3 * n + 2 * n, 1, candidate, n);
      table.unary(s.state, candidate, candidate, n);
      // h = candidate + update · (h - candidate)
      table.binary(Binary::subtract, h, 1, candidate, 1, h, n);
      table.binary(Binary::multiply, h, 1, update, 1, h, n);
      table.binary(Binary::add, h, 1, candidate, 1, h, n);
      std::copy_n(h, n, d.y + b * d.y_batch + t * d.y_row);
    }
  }
}

}  // namespace ovir::fast
