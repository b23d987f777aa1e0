#include "fast/kit/decompression.hpp"

#include <algorithm>

#include "base/half.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// Kernels' loops take so many codes at a time, some of them groups of less.
constexpr i64 kStep = 32, kLeastGroup = 16;

std::optional<CodeKind> kind_of(ElementType codes) {
  switch (codes) {
    case ElementType::u2:
    case ElementType::u3:
    case ElementType::u4:
    case ElementType::u8: return CodeKind::whole;
    case ElementType::i4:
    case ElementType::i8: return CodeKind::signed_whole;
    case ElementType::nf4: return CodeKind::level;
    case ElementType::f4e2m1: return CodeKind::f4e2m1;
    case ElementType::f8e4m3: return CodeKind::f8e4m3;
    case ElementType::f8e5m2: return CodeKind::f8e5m2;
    default: return std::nullopt;
  }
}

using Levels = std::array<float, 16>;

/// What becomes of levels that a node gives as `type`.
Levels rounded(Levels levels, ElementType type) {
  const auto tensor = Tensor::of<float>(ElementType::f32, {std::ssize(levels)}, levels);
  std::ranges::copy(convert(convert(tensor, type), ElementType::f32).values<float>(), levels.begin());
  return levels;
}

/// The number that each code of four bits is.
template <class Float>
Levels levels_of() {
  Levels levels{};
  for (std::size_t code = 0; code < levels.size(); ++code) {
    Float x;
    x.bits = static_cast<std::uint8_t>(code);
    levels[code] = static_cast<float>(x);
  }
  return levels;
}

/// A constant of 16 floats, or what Convert makes of one.
std::optional<Levels> codebook(const Graphlet& graph, ValueRef v) {
  const auto* constant = graph.constant(v);
  if (!constant && v.node >= 0 && graph.any_type(v.node) == "Convert") constant = graph.given(graph.input(v.node, 0));
  Levels levels{};
  if (!constant || constant->size() != std::ssize(levels)) return std::nullopt;
  std::ranges::copy(convert(*constant, ElementType::f32).values<float>(), levels.begin());
  return rounded(levels, graph.fact(v).type);
}

/// Whether `v` is f32 and one for each group of codes [..., groups, group], or one for all; which of them is `one`.
bool is_of_groups(const Graphlet& graph, ValueRef v, const Shape& codes, bool& one) {
  const auto& shape = graph.fact(v).shape;
  if (graph.stored(v) != ElementType::f32 || !shape.is_static()) return false;
  const auto own = shape.to_shape();
  one = own.count() == 1;
  return one ||
         (own.rank() == codes.rank() && own.back() == 1 && std::equal(own.begin(), own.end() - 1, codes.begin()));
}

/// The operand of a node that a kernel reads by its codes; -1: none.
int port_of_codes(const Graphlet& graph, int node) {
  const auto x = graph.input(node, 0);
  const auto type = graph.any_type(node);
  if (type == "MatMul") {
    const auto& attrs = graph.attrs<MatMulAttrs>(node);
    const auto& shape = graph.fact(x).shape;
    const bool fits = !attrs.transpose_a && attrs.transpose_b && graph.stored(x) == ElementType::f32 &&
                      shape.has_rank() && shape.rank() >= 2;
    return fits ? 1 : -1;
  }
  if (type != "Gather" || graph.node(node).version->since != 8) return -1;
  const auto& table = graph.fact(x).shape;
  const auto* axis = graph.constant(graph.input(node, 2));
  const auto index = graph.stored(graph.input(node, 1));
  // Along the first axis there are no batch dims.
  const bool fits = table.has_rank() && table.rank() == 2 && axis && axis->size() == 1 && to_i64(*axis)[0] == 0 &&
                    graph.fact(graph.input(node, 1)).shape.has_rank() &&
                    (index == ElementType::i32 || index == ElementType::i64);
  return fits ? 0 : -1;
}

/// Whether that is how a node reads `weights`; -1: a Result.
bool reads_codes(const Graphlet& graph, int node, ValueRef weights) {
  if (node < 0) return false;
  const auto port = port_of_codes(graph, node);
  return port >= 0 && graph.input(node, port).node == weights.node && graph.input(node, 1 - port).node != weights.node;
}

}  // namespace

Tensor Decompression::codes_to_read() const {
  if (bit_width(codes->type()) >= 4) return *codes;
  const auto bytes = codes->unpacked();
  return pack(Tensor(ElementType::u4, bytes.shape(), bytes.owner(), bytes.bytes()));
}

bool WayBack::is(std::string_view type, ElementType stored) const {
  return at_.node >= 0 && at_.port == 0 && graph_.type(at_.node) == type && graph_.stored(at_) == stored &&
         (graph_.only_user(at_) == user_ || (shared_ && nodes_.empty()));
}

int WayBack::take(int input) {
  user_ = at_.node;
  nodes_.push_back(user_);
  at_ = graph_.input(user_, input);
  return user_;
}

ValueRef WayBack::take_scale() {
  if (!is("Multiply")) return {};
  const auto multiply = at_.node;
  const auto leads_back = [&](ValueRef v) {
    const auto type = graph_.type(v.node);
    return (type == "Subtract" || type == "Convert" || type == "Gather") && graph_.only_user(v) == multiply;
  };
  const int side = leads_back(graph_.input(multiply, 0)) ? 0 : 1;
  take(side);
  return graph_.input(multiply, 1 - side);
}

std::optional<Decompression> compressed_weights(const Graphlet& graph, int node) {
  const auto port = graph.type(node).empty() ? -1 : port_of_codes(graph, node);
  if (port < 0) return std::nullopt;
  const auto weights = graph.input(node, port);
  const auto& whole = graph.fact(weights).shape;
  if (!whole.is_static() || whole.rank() < 2) return std::nullopt;
  Decompression d;
  d.shared = graph.reads(weights) > 1;
  if (d.shared &&
      !std::ranges::all_of(graph.users(weights), [&](int user) { return reads_codes(graph, user, weights); }))
    return std::nullopt;
  WayBack back(graph, weights, node, d.shared);
  if (back.is("Convert")) back.take(0);
  if (back.is("Reshape")) back.take(0);
  if (back.is("Convert")) back.take(0);
  d.scale = back.take_scale();
  if (d.scale.node < 0) return std::nullopt;
  std::optional<Levels> picked;
  ElementType converted{};
  if (back.is("Gather")) {
    const auto gather = back.take(1);
    const auto* axis = graph.constant(graph.input(gather, 2));
    picked = codebook(graph, graph.input(gather, 0));
    if (!picked || !axis || axis->size() != 1 || to_i64(*axis)[0] != 0) return std::nullopt;
    for (const auto type : {ElementType::u8, ElementType::i32, ElementType::i64})
      if (back.is("Convert", type)) back.take(0);
  } else {
    if (back.is("Subtract")) d.zero = graph.input(back.take(0), 1);
    if (!back.is("Convert")) return std::nullopt;
    converted = graph.fact(back.at()).type;
    back.take(0);
  }
  d.codes = graph.given(back.at());
  d.nodes = back.nodes();
  if (!d.codes) return std::nullopt;
  const auto type = d.codes->type();
  const auto kind = kind_of(type);
  if (!kind || (picked && type != ElementType::u4)) return std::nullopt;
  d.kind = picked ? CodeKind::level : *kind;
  if (picked) d.levels = *picked;
  else if (type == ElementType::nf4) d.levels = rounded(levels_of<nf4>(), converted);
  else if (type == ElementType::f4e2m1) d.levels = levels_of<f4e2m1>();
  const auto& shape = d.codes->shape();
  d.dims = whole.to_shape();
  const auto grouped = shape.rank() - d.dims.rank();  // whether groups have an axis of their own
  if (grouped < 0 || grouped > 1 || d.codes->size() != d.dims.count() ||
      !std::equal(d.dims.begin(), d.dims.end() - 1, shape.begin()))
    return std::nullopt;
  d.group = shape.back();
  if (d.group == 0 || d.group % kLeastGroup != 0 || d.columns() % kStep != 0 ||
      (bit_width(type) < 8 && !d.codes->packed()) || !is_of_groups(graph, d.scale, shape, d.one_scale) ||
      (d.zero.node >= 0 && !is_of_groups(graph, d.zero, shape, d.one_zero)))
    return std::nullopt;
  return d;
}

}  // namespace ovir::fast
