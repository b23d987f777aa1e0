#include "fast/kit/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fast/kit/broadcasting.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"
#include "tensor/blocked.hpp"

namespace ovir::fast {
namespace {

Buffer padded(const Tensor& t) { return fast::padded(std::span(t.data<float>(), static_cast<std::size_t>(t.size()))); }

std::optional<Unary> with_numbers(const Graphlet& graph, int node, Function f, int a_port, int b_port) {
  const auto a = number(graph, graph.input(node, a_port)), b = number(graph, graph.input(node, b_port));
  if (!a || (b_port != a_port && !b)) return std::nullopt;
  return Unary{f, *a, *b};
}

const Tensor* along_channels(const Graphlet& graph, ValueRef v, const ChannelAxis& c) {
  return per_channel(graph, v, c.rank, c.axis, c.count, c.axes);
}

/// Powers that are products or quotients, where the exponent adds no axes.
std::optional<Unary> power_of(const Graphlet& graph, int node) {
  const auto exponent = graph.input(node, 1);
  const auto& shape = graph.fact(graph.input(node, 0)).shape;
  const auto value = number(graph, exponent);
  if (!value || !shape.has_rank() || graph.constant(exponent)->rank() > shape.rank()) return std::nullopt;
  if (*value == 2) return Unary{Function::square};
  return *value == -1 ? std::optional(Unary{Function::reciprocal}) : std::nullopt;
}

/// The slopes by channel of a node PRelu. "If slope input rank is 1 and its dimension is equal to the second dimension
/// of data input, then per channel broadcast is applied."
const Tensor* slopes_of(const Graphlet& graph, int node, const ChannelAxis& c) {
  const auto slope = graph.input(node, 1);
  const auto* t = graph.constant(slope);
  if (!t || c.axis != 1) return nullptr;
  return t->rank() == 1 ? per_channel(graph, slope, 2, 1, c.count) : along_channels(graph, slope, c);
}

/// x where it is greater than 0, x · slope elsewhere: a PRelu, as torch.export decomposes it.
std::optional<Activation> slope_after(const Graphlet& graph, int node, const std::optional<ChannelAxis>& channels) {
  const auto users = graph.users({node, 0});
  const auto find = [&](std::string_view type) {
    const auto found = std::find_if(users.begin(), users.end(), [&](int user) { return graph.type(user) == type; });
    return found == users.end() ? -1 : *found;
  };
  const auto test = find("Greater"), product = find("Multiply"), select = find("Select");
  if (users.size() != 3 || test < 0 || product < 0 || select < 0) return std::nullopt;
  const auto is = [](ValueRef v, int of) { return v.node == of && v.port == 0; };
  const auto slope_port = is(graph.input(product, 0), node) ? 1 : 0;
  const auto slope_input = graph.input(product, slope_port);
  const auto slope = number(graph, slope_input), zero = number(graph, graph.input(test, 1));
  const auto* const slopes = channels && !slope ? along_channels(graph, slope_input, *channels) : nullptr;
  const bool chooses = is(graph.input(select, 0), test) && is(graph.input(select, 1), node) &&
                       is(graph.input(select, 2), product) && graph.only_user({test, 0}) == select &&
                       graph.only_user({product, 0}) == select && is(graph.input(test, 0), node);
  if (!chooses || !(slope || slopes) || zero != 0.0F || !is_f32(graph, {select, 0}) ||
      !is_same(graph.fact({node, 0}).shape, graph.fact({select, 0}).shape))
    return std::nullopt;
  return Activation{{Function::prelu, slope.value_or(0)}, {test, product, select}, "+Select", slopes};
}

/// (x · ½) · (1 - erf(-x/√2)): GELU, as TensorFlow spells it out.
std::optional<Activation> complement_after(const Graphlet& graph, int node) {
  constexpr float kRoot = -0.70710678F, kRounding = 1e-6F;
  const auto users = graph.users({node, 0});
  if (users.size() != 2) return std::nullopt;
  const auto factor = [&](int product) {
    if (graph.type(product) != "Multiply") return std::optional<float>();
    return number(graph, graph.input(product, graph.input(product, 0).node == node ? 1 : 0));
  };
  const auto [half, inner] = factor(users[0]) == 0.5F ? std::pair(users[0], users[1]) : std::pair(users[1], users[0]);
  const auto root = factor(inner);
  if (factor(half) != 0.5F || !root || std::abs(*root - kRoot) > kRounding) return std::nullopt;
  const auto erf = followed_by(graph, inner, "Erf");
  const auto complement = erf ? followed_by(graph, erf->first, "Subtract") : std::nullopt;
  const auto product = complement ? followed_by(graph, complement->first, "Multiply") : std::nullopt;
  if (!product || complement->second != 1 || number(graph, graph.input(complement->first, 0)) != 1.0F ||
      graph.only_user({half, 0}) != product->first || !is_f32(graph, {product->first, 0}) ||
      !is_same(graph.fact({product->first, 0}).shape, graph.fact({node, 0}).shape))
    return std::nullopt;
  return Activation{{Function::gelu_erf}, {half, inner, erf->first, complement->first, product->first}, "+Erf"};
}

/// x · g(x), which models spell out where an exporter has no operation for it: Swish, and HSwish.
std::optional<Activation> gated_after(const Graphlet& graph, int node) {
  constexpr float kSixth = 1.0F / 6, kRounding = 1e-6F;
  const auto users = graph.users({node, 0});
  if (users.size() != 2) return std::nullopt;
  for (const int i : {0, 1}) {
    const auto gate = users[i], product = users[1 - i];
    if (gate < 0 || graph.only_user({gate, 0}) != product || graph.type(product) != "Multiply") continue;
    const auto function = function_of(graph, gate);
    if (!function) continue;
    if (function->f == Function::sigmoid) return Activation{{Function::swish, 1}, {gate, product}, "+Sigmoid+Multiply"};
    if (function->f == Function::hard_sigmoid && std::abs(function->a - kSixth) < kRounding && function->b == 0.5F)
      return Activation{{Function::hswish}, {gate, product}, "+HardSigmoid+Multiply"};
  }
  return std::nullopt;
}

}  // namespace

Buffer padded(std::span<const float> values) {
  const auto n = std::ssize(values);
  Buffer to((n + kColumns - 1) / kColumns * kColumns + kColumns);
  std::copy(values.begin(), values.end(), to.data());
  return to;
}

bool is_f32(const Graphlet& graph, ValueRef v) { return v.node >= 0 && graph.stored(v) == ElementType::f32; }

bool is_positive(const Graphlet& graph, ValueRef v) {
  const auto type = graph.any_type(v.node);
  return type == "Relu" || type == "Sigmoid" || (type == "Clamp" && graph.attrs<ClampAttrs>(v.node).min >= 0);
}

bool is_residual(const Graphlet& graph, ValueRef product, ValueRef other) {
  const auto &shape = graph.fact(product).shape, &own = graph.fact(other).shape;
  return is_f32(graph, other) && !graph.constant(other) && shape.is_static() && own.is_static() && shape == own;
}

std::optional<ConstantMatrix> constant_matrix(const Graphlet& graph, int matmul) {
  const auto a = graph.input(matmul, 0);
  const auto& attrs = graph.attrs<MatMulAttrs>(matmul);
  const auto* matrix = graph.constant(graph.input(matmul, 1));
  const auto& shape = graph.fact(a).shape;
  if (!is_f32(graph, a) || attrs.transpose_a || !matrix || !shape.has_rank() || matrix->type() != ElementType::f32 ||
      matrix->rank() < 2 || shape.rank() < matrix->rank())
    return std::nullopt;
  const auto rank = matrix->rank(), last = matrix->dim(rank - 1), before = matrix->dim(rank - 2);
  if (matrix->size() == 0 || matrix->size() != last * before) return std::nullopt;
  if (attrs.transpose_b) return ConstantMatrix{*matrix, 1, last, last, before};
  return ConstantMatrix{*matrix, last, 1, before, last};
}

WeightsFile file_of(const Graphlet& graph, ValueRef v) {
  const auto* const narrow = graph.narrow_constant(v);
  const auto* const constant = narrow ? narrow : graph.constant(v);
  return constant ? WeightsFile{constant->file_part(), constant->type()} : WeightsFile();
}

std::optional<Unary> function_of(const Graphlet& graph, int node) {
  struct Simple {
    std::string_view type;
    Unary function;
  };
  static constexpr Simple kSimple[] = {
      {"Relu", {Function::clamp, 0, std::numeric_limits<float>::infinity()}},
      {"Sigmoid", {Function::sigmoid}},
      {"HSwish", {Function::hswish}},
      {"HSigmoid", {Function::hsigmoid}},
      {"Tanh", {Function::tanh}},
      {"Mish", {Function::mish}},
      {"SoftPlus", {Function::softplus}},
      {"SoftSign", {Function::softsign}},
      {"Exp", {Function::exp}},
      {"Log", {Function::log}},
      {"Erf", {Function::erf}},
      {"Sqrt", {Function::sqrt}},
      {"Abs", {Function::abs}},
      {"Negative", {Function::negative}},
      {"Floor", {Function::floor}},
      {"Ceiling", {Function::ceiling}},
      {"Sign", {Function::sign}},
      {"Sin", {Function::sin}},
      {"Cos", {Function::cos}},
      {"Tan", {Function::tan}},
      {"Sinh", {Function::sinh}},
      {"Cosh", {Function::cosh}},
      {"Asin", {Function::asin}},
      {"Acos", {Function::acos}},
      {"Atan", {Function::atan}},
      {"Asinh", {Function::asinh}},
      {"Acosh", {Function::acosh}},
      {"Atanh", {Function::atanh}},
  };
  const auto type = graph.type(node);
  if (type.empty() || !is_f32(graph, graph.input(node, 0)) || !is_f32(graph, {node, 0})) return std::nullopt;
  const auto* simple =
      std::find_if(std::begin(kSimple), std::end(kSimple), [&](const Simple& s) { return s.type == type; });
  if (simple != std::end(kSimple)) return simple->function;
  if (type == "Clamp") {
    const auto& a = graph.attrs<ClampAttrs>(node);
    return Unary{Function::clamp, static_cast<float>(a.min), static_cast<float>(a.max)};
  }
  if (type == "Round") {
    const bool even = graph.attrs<RoundAttrs>(node).mode == RoundMode::half_to_even;
    return Unary{even ? Function::round_even : Function::round_away};
  }
  if (type == "Power") return power_of(graph, node);
  if (type == "Elu") return Unary{Function::elu, static_cast<float>(graph.attrs<EluAttrs>(node).alpha)};
  if (type == "Gelu") {
    const bool exact = graph.attrs<GeluAttrs>(node).approximation_mode == GeluMode::erf;
    return Unary{exact ? Function::gelu_erf : Function::gelu_tanh};
  }
  if (type == "Swish") {
    if (graph.input(node, 1).node < 0) return Unary{Function::swish, 1};
    return with_numbers(graph, node, Function::swish, 1, 1);
  }
  if (type == "PRelu") return with_numbers(graph, node, Function::prelu, 1, 1);
  if (type == "HardSigmoid") return with_numbers(graph, node, Function::hard_sigmoid, 1, 2);
  if (type == "Selu") return with_numbers(graph, node, Function::selu, 1, 2);
  return std::nullopt;
}

std::optional<Activation> activation_after(const Graphlet& graph, int node, std::optional<ChannelAxis> channels) {
  if (const auto next = graph.only_user({node, 0}); next >= 0) {
    if (graph.input(next, 0).node != node) return std::nullopt;
    const auto name = "+" + std::string(graph.type(next));
    if (const auto function = function_of(graph, next)) return Activation{*function, {next}, name};
    const bool may = channels && graph.type(next) == "PRelu" && is_f32(graph, {next, 0});
    const auto* const slopes = may ? slopes_of(graph, next, *channels) : nullptr;
    return slopes ? std::optional(Activation{{Function::prelu}, {next}, name, slopes}) : std::nullopt;
  }
  if (auto gated = gated_after(graph, node)) return gated;
  if (auto complement = complement_after(graph, node)) return complement;
  return slope_after(graph, node, channels);
}

bool is_view(const Graphlet& graph, int node) {
  if (graph.type(node).empty() || !graph.node(node).version->view) return false;
  for (int port = 1; port < std::ssize(graph.node(node).inputs); ++port)
    if (!graph.constant(graph.input(node, port))) return false;
  return is_f32(graph, graph.input(node, 0));
}

bool is_same(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return a.length() == b.length();
  return a.symbol != 0 && a.symbol == b.symbol;
}

bool is_same(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
  for (i64 i = 0; i < a.rank(); ++i)
    if (!is_same(a[i], b[i])) return false;
  return true;
}

std::optional<std::vector<i64>> constant_axes(const Graphlet& graph, ValueRef v, i64 rank) {
  const auto* t = graph.constant(v);
  if (!t || (t->type() != ElementType::i64 && t->type() != ElementType::i32)) return std::nullopt;
  std::vector<i64> axes;
  for (i64 i = 0; i < t->size(); ++i) {
    const i64 axis = t->type() == ElementType::i64 ? t->data<i64>()[i] : t->data<std::int32_t>()[i];
    axes.push_back(axis < 0 ? axis + rank : axis);
  }
  return axes;
}

void add_computed_inputs(const Graphlet& graph, int node, int first, Match& match) {
  const auto is_own = [&](int i) { return std::find(match.nodes.begin(), match.nodes.end(), i) != match.nodes.end(); };
  for (const auto& input : std::span(graph.node(node).inputs).subspan(first))
    if (input.node >= 0 && !graph.constant(input) && !is_own(input.node)) match.inputs.push_back(input);
}

const Tensor* per_channel(const Graphlet& graph, ValueRef v, i64 rank, i64 axis, i64 channels, i64 axes) {
  const auto* t = graph.constant(v);
  if (!t || t->type() != ElementType::f32 || t->rank() > rank || t->size() != channels) return nullptr;
  const auto at = axis - (rank - t->rank());
  if (at < 0) return nullptr;
  i64 count = 1;
  for (auto i = at; i < at + axes; ++i) count *= t->dim(i);
  return count == channels ? t : nullptr;
}

std::vector<float> by_channel(const Graphlet& graph, ValueRef v, i64 rank, i64 axis, i64 channels, i64 axes) {
  if (const auto one = number(graph, v); one && graph.constant(v)->rank() <= rank)
    return std::vector<float>(static_cast<std::size_t>(channels), *one);
  const auto* t = per_channel(graph, v, rank, axis, channels, axes);
  return t ? std::vector<float>(t->data<float>(), t->data<float>() + channels) : std::vector<float>();
}

Buffer take_by_channel(const Graphlet& graph, Match& match, std::string_view type, i64 rank, i64 channels,
                       float otherwise) {
  Buffer numbers(channels);
  std::fill_n(numbers.data(), channels, otherwise);
  const auto last = match.nodes.back(), next = graph.only_user({last, 0});
  if (graph.type(next) != type || !aligns_by_numpy(graph, next)) return numbers;
  const auto other = graph.input(next, graph.input(next, 0).node == last ? 1 : 0);
  const auto given = by_channel(graph, other, rank, 1, channels);
  if (given.empty()) return numbers;
  std::copy(given.begin(), given.end(), numbers.data());
  match.nodes.push_back(next);
  return numbers;
}

namespace {

/// Where the channels are behind a view; nothing where it cuts otherwise. Those of images stay axis 1, so that values
/// may be blocked.
std::optional<ChannelAxis> channels_behind(const Graphlet& graph, int view, const ChannelAxis& c) {
  const auto &from = graph.fact(graph.input(view, 0)).shape, &to = graph.fact({view, 0}).shape;
  if (!from.is_static() || !to.is_static()) return std::nullopt;
  if (c.axis + c.axes < c.rank)
    return same_blocks(from, to) ? std::optional(ChannelAxis{to.rank(), c.axis, c.count}) : std::nullopt;
  i64 count = 1, axes = 0;
  while (axes < to.rank() && count < c.count) count *= to.dim(-++axes).length();
  return axes > 0 && count == c.count ? std::optional(ChannelAxis{to.rank(), to.rank() - axes, count, axes})
                                      : std::nullopt;
}

/// Whether the only user adds what can be computed with the last node, a bias or a residual.
bool take_addition(const Graphlet& graph, Match& match, const ChannelAxis& c, bool activated, Ending& ending) {
  const auto last = match.nodes.back(), next = graph.only_user({last, 0});
  const auto& out = graph.fact({next, 0}).shape;
  if (graph.type(next) != "Add" || !aligns_by_numpy(graph, next) || !is_f32(graph, {next, 0}) || !out.has_rank() ||
      out.rank() != c.rank)
    return false;
  // A constant of as many numbers may repeat those of one axis along another.
  if (c.axes > 1 && !is_same(out, graph.fact({last, 0}).shape)) return false;
  const auto other = graph.input(next, graph.input(next, 0).node == last ? 1 : 0);
  const auto* bias = along_channels(graph, other, c);
  if (bias && !activated && ending.bias.size() == 0) {
    ending.bias = padded(*bias);
    ending.name += "+bias";
  } else if (ending.residual < 0 && is_residual(graph, {last, 0}, other)) {
    ending.residual = static_cast<int>(match.inputs.size());
    ending.residual_last = activated;
    match.inputs.push_back(other);
    ending.name += "+residual";
  } else {
    return false;
  }
  match.nodes.push_back(next);
  return true;
}

/// Of the nodes from `first` on: views behind which nothing is computed are left to others, the first other one says
/// what the kernel writes.
void settle_views(const Graphlet& graph, Match& match, std::size_t first) {
  auto& nodes = match.nodes;
  while (nodes.size() > first && is_view(graph, nodes.back())) nodes.pop_back();
  const auto view = std::find_if(nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end(),
                                 [&](int node) { return is_view(graph, node); });
  if (view != nodes.end()) match.written = graph.fact(graph.input(*view, 0)).shape.to_shape();
}

}  // namespace

Ending take_ending(const Graphlet& graph, Match& match, i64 rank, i64 axis, i64 channels, Ending ending) {
  ChannelAxis c{rank, axis, channels};
  bool activated = false;
  const auto first = match.nodes.size();
  for (;;) {
    const auto last = match.nodes.back(), next = graph.only_user({last, 0});
    auto activation = activated || ending.residual_last ? std::nullopt : activation_after(graph, last, c);
    if (activation) {
      ending.activation = activation->function;
      if (activation->slopes) ending.slopes = padded(*activation->slopes);
      activated = true;
      ending.name += activation->name;
      match.nodes.insert(match.nodes.end(), activation->nodes.begin(), activation->nodes.end());
    } else if (const auto behind = is_view(graph, next) ? channels_behind(graph, next, c) : std::nullopt) {
      c = *behind;
      match.nodes.push_back(next);
    } else if (!take_addition(graph, match, c, activated, ending)) {
      settle_views(graph, match, first);
      return ending;
    }
  }
}

}  // namespace ovir::fast
