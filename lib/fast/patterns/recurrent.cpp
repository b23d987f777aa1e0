// LSTMSequence, GRUSequence, RNNSequence and their cells in f32 with constant weights, packed when the plan is made.
// With Precision::bf16 the products are in bf16.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/recurrent/lstm.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/recurrent_attrs.hpp"

namespace ovir::fast::patterns::recurrent {
namespace {

constexpr i64 kFewestSequences = 8;  // that a thread takes: fewer would read weights as often

/// The weights of one direction.
struct Packed {
  RecurrentMatrix inputs, states, hidden_gate;  ///< hidden_gate: of the GRU, whose states' product is in two
  Buffer bias;
};

enum class Cell : std::uint8_t { rnn, gru, lstm };

class Recurrent final : public Kernel {
 public:
  struct Form {
    Cell cell;
    bool sequence, linear_before_reset, bf16;
    SequenceDirection direction;
    i64 inputs, hidden;
    Unary gates, state, output;
    int lengths;  ///< the operand; -1: all steps count

    i64 directions() const { return direction == SequenceDirection::bidirectional ? 2 : 1; }
    i64 rows() const { return (cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1) * hidden; }
    /// Of the states' product that is taken at once.
    i64 columns() const { return cell == Cell::gru ? 2 * hidden : rows(); }
    bool lstm() const { return cell == Cell::lstm; }
  };

  using Weights = std::vector<Packed>;  ///< by direction

  Recurrent(const Form& form, std::shared_ptr<const Weights> weights) : form_(form), weights_(std::move(weights)) {}

  /// w: [directions][rows][inputs], r: [directions][rows][hidden], bias: [directions][biases] or null.
  static Weights packed(const Form& form, const float* w, const float* r, const float* bias, i64 biases) {
    Weights weights;
    const auto n = form.hidden, rows = form.rows(), wide = form.columns();
    for (i64 d = 0; d < form.directions(); ++d) {
      Packed p{RecurrentMatrix(w + d * rows * form.inputs, form.inputs, rows, form.bf16),
               RecurrentMatrix(r + d * rows * n, n, wide, form.bf16),
               {},
               {}};
      if (form.cell == Cell::gru) p.hidden_gate = RecurrentMatrix(r + (d * rows + wide) * n, n, n, form.bf16);
      if (bias) {
        p.bias = Buffer(biases + 2 * kColumns);
        std::copy_n(bias + d * biases, biases, p.bias.data());
      }
      weights.push_back(std::move(p));
    }
    return weights;
  }

  std::string name() const override {
    constexpr std::array kNames{"rnn", "gru", "lstm"};
    return std::string(form_.bf16 ? "bf16." : "") + kNames[static_cast<std::size_t>(form_.cell)] +
           (form_.sequence ? ".sequence" : ".cell");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    auto state = std::make_unique<State>();
    auto& s = state->shape;
    s.batch = x.dim(0);
    s.steps = form_.sequence ? x.dim(1) : 1;
    s.inputs = form_.inputs;
    s.hidden = form_.hidden;
    s.gates = form_.gates;
    s.state = form_.state;
    s.output = form_.output;
    if (x.dim(x.rank() - 1) != s.inputs) return nullptr;
    state->y = Buffer(form_.sequence ? 0 : s.batch * s.hidden);
    if (form_.lstm()) state->each = lstm_scratch_size(s);
    else state->each = form_.cell == Cell::gru ? gru_scratch_size(s) : rnn_scratch_size(s);
    state->scratch = Buffer(form_.directions() * s.batch * state->each);
    state->words = std::max(weights_->front().inputs.words(s.steps), weights_->front().states.words(1));
    state->rounded = Buffer(form_.directions() * s.batch * state->words);
    state->h = Buffer(form_.directions() * s.batch * s.hidden);
    state->c = Buffer(form_.lstm() ? form_.directions() * s.batch * s.hidden : 0);
    if (form_.lengths >= 0) state->lengths.resize(s.batch);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    if (form_.lengths >= 0) read_lengths(in[form_.lengths], state);
    const auto directions = form_.directions(), batch = state.shape.batch;
    // A direction, or some sequences of it, a thread: their steps are too short to be shared out.
    const auto parts = std::clamp<i64>(runtime.threads() / directions, 1, std::max<i64>(batch / kFewestSequences, 1));
    if (directions * parts == 1) return one(0, Part(0, batch), state, in, out, runtime.pool());
    parallel(runtime.pool(), directions * parts,
             [&](i64 i) { one(i / parts, Part(batch, parts, i % parts), state, in, out, state.alone); });
  }

 private:
  struct State final : KernelState {
    RecurrentShape shape;
    Buffer y, scratch, rounded, h, c;
    i64 each = 0, words = 0;  // of a sequence's scratch memory, and of its rounded rows
    std::vector<i64> lengths;
    ThreadPool alone{1};
  };

  static void read_lengths(const View& from, State& state) {
    const auto& s = state.shape;
    for (i64 b = 0; b < s.batch; ++b) {
      const auto length =
          from.type == ElementType::i64 ? from.as<const i64>()[b] : i64{from.as<const std::int32_t>()[b]};
      state.lengths[b] = std::clamp<i64>(length, 0, s.steps);
    }
  }

  /// Some sequences, in one direction.
  void one(i64 d, Part part, State& state, std::span<const View> in, std::span<const View> out,
           ThreadPool& pool) const {
    auto s = state.shape;
    const auto before = d * s.batch + part.begin;  // sequences whose states lie before these
    s.batch = part.size();
    s.backward = form_.direction == SequenceDirection::reverse || d == 1;
    const auto& p = (*weights_)[d];
    const auto n = s.hidden, directions = form_.directions();
    // States are [batch][directions][hidden] outside, and each direction's lie together here.
    const auto at = [&](i64 b) { return ((part.begin + b) * directions + d) * n; };
    float *h = state.h.data() + before * n, *c = form_.lstm() ? state.c.data() + before * n : nullptr;
    for (i64 b = 0; b < s.batch; ++b) {
      std::copy_n(in[1].as<const float>() + at(b), n, h + b * n);
      if (c) std::copy_n(in[2].as<const float>() + at(b), n, c + b * n);
    }
    const auto y_batch = form_.sequence ? directions * s.steps * n : n;
    auto* y = form_.sequence ? out[0].as<float>() + d * s.steps * n : state.y.data();
    const RecurrentData data{.x = in[0].as<const float>() + part.begin * s.steps * s.inputs,
                             .y = y + part.begin * y_batch,
                             .y_batch = y_batch,
                             .y_row = n,
                             .lengths = state.lengths.empty() ? nullptr : state.lengths.data() + part.begin,
                             .h = h,
                             .c = c,
                             .rounded = words(state.rounded) + before * state.words};
    auto* scratch = state.scratch.data() + before * state.each;
    const auto* bias = p.bias.data();
    if (form_.lstm()) lstm(s, p.inputs, p.states, bias, data, scratch, pool);
    else if (form_.cell == Cell::rnn) rnn(s, p.inputs, p.states, bias, data, scratch, pool);
    else gru(s, p.inputs, p.states, p.hidden_gate, bias, form_.linear_before_reset, data, scratch, pool);
    const std::size_t first = form_.sequence ? 1 : 0;
    for (i64 b = 0; b < s.batch; ++b) {
      std::copy_n(h + b * n, n, out[first].as<float>() + at(b));
      if (c) std::copy_n(c + b * n, n, out[first + 1].as<float>() + at(b));
    }
  }

  Form form_;
  std::shared_ptr<const Weights> weights_;
};

Unary function_of(CellActivation f) {
  if (f == CellActivation::sigmoid) return {Function::sigmoid};
  if (f == CellActivation::tanh) return {Function::tanh};
  return {Function::clamp, 0, std::numeric_limits<float>::infinity()};
}

/// A copy of its own where it has to be widened, which goes with the last who has it. Empty: no constant.
Tensor f32_constant(const Graphlet& graph, ValueRef v) {
  if (const auto* narrow = graph.narrow_constant(v)) return Tensor::widened(*narrow);
  const auto* t = graph.constant(v);
  return t && t->type() == ElementType::f32 ? t->apart() : Tensor();
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto type = graph.type(root);
  const auto& attrs = graph.attrs<RecurrentAttrs>(root);
  const auto cell = type.starts_with("LSTM") ? Cell::lstm : type.starts_with("GRU") ? Cell::gru : Cell::rnn;
  const bool sequence = type.ends_with("Sequence");
  if (attrs.clip > 0 || attrs.weights_format != GateOrder::fico || attrs.input_forget) return std::nullopt;
  // A cell by itself is too little work for its weights to be packed.
  if (!sequence && !graph.options().steady()) return std::nullopt;
  const int states = cell == Cell::lstm ? 2 : 1, lengths = sequence ? 1 + states : -1, w_port = 1 + states + sequence;
  const auto w_value = graph.input(root, w_port), r_value = graph.input(root, w_port + 1),
             bias_value = graph.input(root, w_port + 2);
  // Packed here, and not read again.
  const auto w = f32_constant(graph, w_value), r = f32_constant(graph, r_value);
  const bool biased = bias_value.node >= 0;
  const auto bias = biased ? f32_constant(graph, bias_value) : Tensor();
  const auto& shape = graph.fact(graph.input(root, 0)).shape;
  if (!w || !r || (biased && !bias) || !shape.has_rank() || w.size() == 0) return std::nullopt;
  Match match{{root}, {}, nullptr};
  for (int port = 0; port <= states; ++port) {
    match.inputs.push_back(graph.input(root, port));
    if (!is_f32(graph, match.inputs.back())) return std::nullopt;
  }
  Recurrent::Form form{cell,
                       sequence,
                       attrs.linear_before_reset,
                       graph.options().precision == Precision::bf16,
                       sequence ? attrs.direction : SequenceDirection::forward,
                       w.dim(w.rank() - 1),
                       attrs.hidden_size,
                       {cell == Cell::rnn ? Function::tanh : Function::sigmoid},
                       {Function::tanh},
                       {Function::tanh},
                       -1};
  const auto& given = attrs.activations;
  if (!given.empty()) form.gates = function_of(given[0]);
  if (given.size() > 1) form.state = function_of(given[1]);
  if (given.size() > 2) form.output = function_of(given[2]);
  if (sequence) {
    const auto v = graph.input(root, lengths);
    const auto type_of_lengths = graph.stored(v);
    if (type_of_lengths != ElementType::i64 && type_of_lengths != ElementType::i32) return std::nullopt;
    form.lengths = static_cast<int>(match.inputs.size());
    match.inputs.push_back(v);
  }
  if (!graph.takes(match.nodes)) return std::nullopt;
  const auto *r_origin = graph.origin(r_value), *bias_origin = biased ? graph.origin(bias_value) : nullptr;
  const bool shared = r_origin && (!biased || bias_origin);
  const auto name = fmt::format("recurrent {} {} {} {} {} by {} {}", static_cast<int>(form.cell), form.directions(),
                                form.inputs, form.hidden, form.bf16, r_origin, bias_origin);
  auto weights = graph.shared<Recurrent::Weights>(shared ? graph.origin(w_value) : nullptr, name, [&] {
    return std::make_shared<const Recurrent::Weights>(Recurrent::packed(form, w.data<float>(), r.data<float>(),
                                                                        bias ? bias.data<float>() : nullptr,
                                                                        bias ? bias.size() / form.directions() : 0));
  });
  match.kernel = std::make_unique<Recurrent>(form, std::move(weights));
  return match;
}

constexpr std::string_view kRoots[] = {"LSTMSequence", "GRUSequence", "RNNSequence", "LSTMCell", "GRUCell", "RNNCell"};

}  // namespace

extern constinit const Pattern pattern{.name = "recurrent", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::recurrent
