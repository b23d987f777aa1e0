// Recurrent cells and the sequences made of them: shapes and the kernel of all six.
#pragma once
#include "op/kit/recurrent_attrs.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::sequence {

using Activation = CellActivation;
using Attrs = RecurrentAttrs;
using Direction = SequenceDirection;

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

/// Every row of X, of every step, takes all of W and R, which hold all directions.
template <const Ports& p>
i64 macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  const auto rows = saturating_mul(in[p.x][0], p.sequence() ? in[p.x][1] : 1);
  return saturating_mul(rows, saturating_add(saturating_count(in[p.w]), saturating_count(in[p.r])));
}

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
