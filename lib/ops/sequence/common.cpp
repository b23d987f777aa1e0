#include "ops/sequence/common.hpp"

#include "op/kit/accumulate.hpp"

namespace ovir::ops::sequence {
namespace {

i64 gates(Cell cell) {
  switch (cell) {
    case Cell::lstm: return 4;
    case Cell::gru: return 3;
    default: return 1;
  }
}

std::span<const Activation> default_activations(Cell cell) {
  using enum Activation;
  static constexpr Activation kDefaults[] = {sigmoid, tanh, tanh};
  if (cell == Cell::lstm) return kDefaults;
  if (cell == Cell::gru) return std::span(kDefaults).first(2);
  return std::span(kDefaults).last(1);
}

std::string times_hidden(i64 n) { return n == 1 ? "hidden_size" : fmt::format("{} * hidden_size", n); }

}  // namespace

void infer(InferContext& c, const Ports& p) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.hidden_size > 0 && a.hidden_size <= INT32_MAX, "hidden_size", "must be in 1..{1}, but is {0}",
                 a.hidden_size, INT32_MAX);
  c.require_attr(a.clip >= 0, "clip", "must not be negative, but is {}", a.clip);
  c.require_attr(!a.input_forget, "input_forget",
                 "must be false: the specification does not define coupled input and forget gates");
  const auto functions = default_activations(p.cell).size();
  c.require_attr(a.activations.empty() || a.activations.size() == functions, "activations",
                 "must name {2} functions, but {0} {1} named", a.activations.size(),
                 a.activations.size() == 1 ? "function is" : "functions are", functions);

  // A sequence's tensors have one axis more: time in x, direction in all others.
  const i64 more = p.sequence() ? 1 : 0;
  const Dim hidden(a.hidden_size), rows(gates(p.cell) * a.hidden_size), directions(a.directions());
  c.require_rank(p.x, 2 + more);
  c.require_rank(p.w, 2 + more);
  c.require_rank(p.r, 2 + more);
  c.require_rank(p.hidden, 2 + more);
  const auto held = c.shape(p.hidden).dim(1 + more), columns = c.shape(p.r).dim(1 + more);
  if (held.is_static() && columns == held && held != hidden)
    c.fail_attr("hidden_size",
                fmt::format("must be the last dim of \"{1}\" and \"R\" ({2}), but is {0}", a.hidden_size,
                            c.port_name(p.hidden), to_string(held)),
                Code::E0506);
  auto batch = c.shape(p.x).dim(0);
  for (const auto port : {p.hidden, p.state}) {
    if (port < 0) continue;
    c.require_rank(port, 2 + more);
    const auto& s = c.shape(port);
    batch = c.require_same_dim(batch, s.dim(0), port, "the batch of \"X\"",
                               fmt::format("that of \"{}\"", c.port_name(port)));
    c.require_same_dim(hidden, s.dim(1 + more), port, "hidden_size",
                       fmt::format("the last dim of \"{}\"", c.port_name(port)));
    if (p.sequence())
      c.require_same_dim(directions, s.dim(1), port, "the number of directions",
                         fmt::format("dim 1 of \"{}\"", c.port_name(port)));
  }
  if (p.sequence()) {
    c.require_rank(p.lengths, 1);
    c.require_rank(p.b, 2);
    batch = c.require_same_dim(batch, c.shape(p.lengths).dim(0), p.lengths, "the batch of \"X\"",
                               "the number of elements of \"sequence_lengths\"");
    for (const auto port : {p.w, p.r, p.b})
      c.require_same_dim(directions, c.shape(port).dim(0), port, "the number of directions",
                         fmt::format("dim 0 of \"{}\"", c.port_name(port)));
  }
  const auto &w = c.shape(p.w), &r = c.shape(p.r);
  c.require_same_dim(w.dim(more), rows, p.w, "the number of rows of \"W\"", times_hidden(gates(p.cell)));
  c.require_same_dim(c.shape(p.x).dim(1 + more), w.dim(1 + more), p.w, "the last dim of \"X\"",
                     "the number of columns of \"W\"");
  c.require_same_dim(r.dim(more), rows, p.r, "the number of rows of \"R\"", times_hidden(gates(p.cell)));
  c.require_same_dim(hidden, r.dim(1 + more), p.r, "hidden_size", "the number of columns of \"R\"");
  if (c.has(p.b)) {
    c.require_rank(p.b, 1 + more);
    // GRU's linear_before_reset keeps the two biases of the h gate apart.
    const auto biases = p.cell == Cell::gru && a.linear_before_reset ? 4 * a.hidden_size : rows.length();
    c.require_same_dim(c.shape(p.b).dim(more), Dim(biases), p.b, "the number of elements of \"B\"",
                       times_hidden(biases / a.hidden_size));
  }

  const PartialShape last = p.sequence() ? PartialShape{batch, directions, hidden} : PartialShape{batch, hidden};
  int port = 0;
  if (p.sequence()) c.output(port++, {batch, directions, c.shape(p.x).dim(1), hidden});
  for (; port < c.output_count(); ++port) c.output(port, last);
}

namespace {

template <class T>
T apply(Activation f, T x) {
  switch (f) {
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::relu: break;
  }
  return x > 0 ? x : T{};
}

/// One direction's weights, transposed so that a row belongs to an element of x (or of the hidden state) and holds all
/// gates.
template <class T>
struct Weights {
  std::pmr::vector<T> transposed;
  std::pmr::vector<i64> offsets;
  Weights(const T* from, i64 rows, i64 columns, std::pmr::memory_resource* memory)
      : transposed(rows * columns, memory), offsets(columns, memory) {
    for (i64 i = 0; i < rows; ++i)
      for (i64 j = 0; j < columns; ++j) transposed[j * rows + i] = from[i * columns + j];
    for (i64 j = 0; j < columns; ++j) offsets[j] = j * rows;
  }
  /// to[0, n) += the product of `x` with the gates' columns [first, first + n).
  void multiply(const T* x, i64 first, i64 n, T* to) const {
    accumulate(to, n, transposed.data() + first, offsets.data(), 1, x, std::ssize(offsets));
  }
};

template <class T>
struct RnnCell {
  Cell cell;
  i64 H;  ///< hidden_size
  bool linear_before_reset;
  T clip;
  std::span<const Activation> f;
  i64 gate[4];  ///< LSTM: where the gates f, i, c, o are
  Weights<T> W, R;
  const T* B;  ///< null: zeros
  std::pmr::vector<T> sums, recurrent;

  RnnCell(const Attrs& a, Cell kind, const T* w, const T* r, const T* b, i64 input, std::pmr::memory_resource* memory)
      : cell(kind),
        H(a.hidden_size),
        linear_before_reset(a.linear_before_reset),
        clip(static_cast<T>(a.clip)),
        f(a.activations.empty() ? default_activations(kind) : std::span(a.activations)),
        W(w, gates(kind) * H, input, memory),
        R(r, gates(kind) * H, H, memory),
        B(b),
        sums(gates(kind) * H, memory),
        recurrent(H, memory) {
    constexpr std::string_view kOrders[] = {"fico", "icof", "ifco", "ifoc", "iofc"};
    for (std::size_t i = 0; i < 4; ++i)
      gate[i] = kOrders[static_cast<std::size_t>(a.weights_format)].find("fico"[i]) * H;
  }

  /// "Clipping is performed before activations."
  T activate(std::size_t which, T x) const { return apply(f[which], clip > 0 ? std::clamp(x, -clip, clip) : x); }

  /// One step in time: h and s (LSTM's cell state) become the next ones.
  void step(const T* x, T* h, T* s) {
    const auto n = std::ssize(sums);
    if (B) std::copy_n(B, n, sums.data());
    else std::fill_n(sums.data(), n, T{});
    W.multiply(x, 0, n, sums.data());
    if (cell == Cell::gru) return gru(h);
    R.multiply(h, 0, n, sums.data());
    if (cell == Cell::lstm) return lstm(h, s);
    for (i64 i = 0; i < H; ++i) h[i] = activate(0, sums[i]);
  }

  void lstm(T* h, T* s) {
    for (i64 i = 0; i < H; ++i) {
      const T ft = activate(0, sums[gate[0] + i]), it = activate(0, sums[gate[1] + i]);
      const T ct = activate(1, sums[gate[2] + i]), ot = activate(0, sums[gate[3] + i]);
      s[i] = ft * s[i] + it * ct;
      h[i] = ot * apply(f[2], s[i]);
    }
  }

  void gru(T* h) {
    T *z = sums.data(), *r = z + H, *n = r + H;  // gate order zrh
    R.multiply(h, 0, 2 * H, z);
    for (i64 i = 0; i < 2 * H; ++i) z[i] = activate(0, z[i]);
    if (linear_before_reset) {
      // ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh), Rbh being the fourth bias
      for (i64 i = 0; i < H; ++i) recurrent[i] = B ? B[3 * H + i] : T{};
      R.multiply(h, 2 * H, H, recurrent.data());
      for (i64 i = 0; i < H; ++i) n[i] += r[i] * recurrent[i];
    } else {
      // ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh)
      for (i64 i = 0; i < H; ++i) recurrent[i] = r[i] * h[i];
      R.multiply(recurrent.data(), 2 * H, H, n);
    }
    for (i64 i = 0; i < H; ++i) h[i] = (1 - z[i]) * activate(1, n[i]) + z[i] * h[i];
  }
};

template <class T>
void run(EvalContext& c, const Ports& p) {
  const auto& a = c.attrs<Attrs>();
  const auto &x = c.in(p.x), &initial = c.in(p.hidden), &w = c.in(p.w), &r = c.in(p.r);
  const auto H = a.hidden_size, directions = p.sequence() ? a.directions() : 1, batch = x.dim(0),
             time = p.sequence() ? x.dim(1) : 1, input = x.dim(x.rank() - 1);
  const bool biased = c.has(p.b);
  std::pmr::vector<i64> lengths(batch, time, c.memory());
  if (p.sequence()) std::ranges::copy(c.ints(p.lengths), lengths.begin());

  // Outputs: Y of a sequence, the last hidden state, LSTM's last cell state.
  int port = 0;
  T* y = nullptr;
  if (p.sequence()) {
    auto& all = c.out(port++);
    y = all.mutable_data<T>();
    std::fill_n(y, all.size(), T{});  // what lies past a sequence's length stays 0
  }
  std::pmr::vector<T> hidden(initial.values<T>().begin(), initial.values<T>().end(), c.memory()),
      state(hidden.size(), c.memory());
  if (p.state >= 0) state.assign(c.in(p.state).values<T>().begin(), c.in(p.state).values<T>().end());

  for (i64 d = 0; d < directions; ++d) {
    const auto rows = gates(p.cell) * H;
    const auto biases = biased ? c.in(p.b).size() / directions : 0;
    RnnCell<T> cell(a, p.cell, w.data<T>() + d * rows * input, r.data<T>() + d * rows * H,
                    biased ? c.in(p.b).data<T>() + d * biases : nullptr, input, c.memory());
    const bool backwards = a.direction == Direction::reverse || d == 1;
    for (i64 b = 0; b < batch; ++b) {
      const auto length = std::clamp<i64>(lengths[b], 0, time), at = (b * directions + d) * H;
      for (i64 i = 0; i < length; ++i) {
        const auto t = backwards ? length - 1 - i : i;
        cell.step(x.data<T>() + (b * time + t) * input, hidden.data() + at, state.data() + at);
        if (y) std::copy_n(hidden.data() + at, H, y + ((b * directions + d) * time + t) * H);
      }
    }
  }
  if (port < c.output_count()) std::copy(hidden.begin(), hidden.end(), c.out(port).mutable_data<T>());
  if (p.state >= 0 && ++port < c.output_count()) std::copy(state.begin(), state.end(), c.out(port).mutable_data<T>());
}

}  // namespace

void eval(EvalContext& c, const Ports& p) {
  dispatch(c.out_type(0), Floats{}, [&]<class E>() { run<E>(c, p); });
}

}  // namespace ovir::ops::sequence
