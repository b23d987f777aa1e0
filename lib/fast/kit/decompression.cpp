#include "fast/kit/decompression.hpp"

#include <algorithm>

#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// What the kernels' loops take at a time.
constexpr i64 kStep = 32;

bool holds_codes(ElementType t) {
  return t == ElementType::u4 || t == ElementType::i4 || t == ElementType::u8 || t == ElementType::i8;
}

/// Whether `v` is f32 and one for each group of codes [rows, groups, group], or one for all; which of them is `one`.
bool is_of_groups(const Graphlet& graph, ValueRef v, const Shape& codes, bool& one) {
  const auto& shape = graph.fact(v).shape;
  if (graph.stored(v) != ElementType::f32 || !shape.is_static()) return false;
  const auto own = shape.to_shape();
  one = own.count() == 1;
  return one ||
         (own.rank() == codes.rank() && own.back() == 1 && std::equal(own.begin(), own.end() - 1, codes.begin()));
}

}  // namespace

bool Chain::is(std::string_view type) const {
  return at_.node >= 0 && at_.port == 0 && graph_.type(at_.node) == type && graph_.only_user(at_) == user_ &&
         graph_.stored(at_) == ElementType::f32;
}

int Chain::take(int input) {
  user_ = at_.node;
  nodes_.push_back(user_);
  at_ = graph_.input(user_, input);
  return user_;
}

ValueRef Chain::take_scale() {
  if (!is("Multiply")) return {};
  const auto multiply = at_.node;
  const auto leads_back = [&](ValueRef v) {
    return v.node >= 0 && (graph_.type(v.node) == "Subtract" || graph_.type(v.node) == "Convert") &&
           graph_.only_user(v) == multiply;
  };
  const int side = leads_back(graph_.input(multiply, 0)) ? 0 : 1;
  take(side);
  return graph_.input(multiply, 1 - side);
}

std::optional<Decompression> decompression_of(const Graphlet& graph, int node, int port) {
  const auto weights = graph.input(node, port);
  const auto& whole = graph.fact(weights).shape;
  if (!whole.is_static() || whole.rank() != 2) return std::nullopt;
  Decompression d;
  Chain chain(graph, weights, node);
  if (chain.is("Convert")) chain.take(0);
  if (chain.is("Reshape")) chain.take(0);
  if (chain.is("Convert")) chain.take(0);
  d.scale = chain.take_scale();
  if (d.scale.node < 0) return std::nullopt;
  if (chain.is("Subtract")) d.zero = graph.input(chain.take(0), 1);
  if (!chain.is("Convert")) return std::nullopt;
  chain.take(0);
  d.codes = graph.constant(chain.at());
  d.nodes = chain.nodes();
  if (!d.codes || !holds_codes(d.codes->type()) || d.codes->rank() < 2 || d.codes->rank() > 3) return std::nullopt;
  const auto& shape = d.codes->shape();
  d.rows = whole[0].length();
  d.columns = whole[1].length();
  d.group = shape.back();
  const bool wide = d.codes->type() == ElementType::u8 || d.codes->type() == ElementType::i8;
  if (shape[0] != d.rows || d.codes->size() != d.rows * d.columns || d.group % kStep != 0 || d.group == 0 ||
      (!wide && !d.codes->packed()) || !is_of_groups(graph, d.scale, shape, d.one_scale) ||
      (d.zero.node >= 0 && !is_of_groups(graph, d.zero, shape, d.one_zero)))
    return std::nullopt;
  return d;
}

std::optional<Decompression> compressed_weights(const Graphlet& graph, int node) {
  const auto x = graph.input(node, 0);
  if (graph.type(node) == "MatMul") {
    const auto& attrs = graph.attrs<MatMulAttrs>(node);
    const auto& shape = graph.fact(x).shape;
    if (attrs.transpose_a || !attrs.transpose_b || graph.stored(x) != ElementType::f32 || !shape.has_rank() ||
        shape.rank() < 2)
      return std::nullopt;
    return decompression_of(graph, node, 1);
  }
  if (graph.type(node) != "Gather" || graph.node(node).version->since != 8) return std::nullopt;
  const auto* axis = graph.constant(graph.input(node, 2));
  const auto type = graph.stored(graph.input(node, 1));
  const auto& indices = graph.fact(graph.input(node, 1)).shape;
  // Along the first axis there are no batch dims.
  if (!axis || axis->size() != 1 || to_i64(*axis)[0] != 0 || !indices.has_rank() ||
      (type != ElementType::i32 && type != ElementType::i64))
    return std::nullopt;
  return decompression_of(graph, node, 0);
}

}  // namespace ovir::fast
