#include "tools/macs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/checked.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::tools {
namespace {

/// What a formula sees. Every shape is static.
struct Shapes {
  const Node& node;
  std::vector<Shape> in, out;

  const Shape& input(std::size_t k) const { return in.at(k); }
};

using Count = std::optional<i64>;

Count product(Count a, Count b) { return a && b ? checked_mul(*a, *b) : std::nullopt; }
Count sum(Count a, Count b) { return a && b ? checked_add(*a, *b) : std::nullopt; }
/// The product of the lengths from axis `first`.
Count elements(const Shape& s, i64 first = 0) {
  Count n = 1;
  for (auto axis = first; axis < s.rank(); ++axis) n = product(n, s[axis]);
  return n;
}

/// Every output element takes a filter: [out channels, in channels, kernel...], with groups an axis more before.
template <int Filter, int Axes>
Count by_output(const Shapes& s) {
  return product(elements(s.out[0]), elements(s.input(Filter), Axes));
}

/// Every input element goes through a filter: [in channels, out channels, kernel...], with groups an axis more before.
template <int Axes>
Count by_input(const Shapes& s) {
  return product(elements(s.input(0)), elements(s.input(1), Axes));
}

Count matmul(const Shapes& s) {
  const auto& a = s.input(0);
  const auto& attrs = s.node.as<MatMulAttrs>();
  return product(elements(s.out[0]), a[a.rank() - (attrs.transpose_a && a.rank() > 1 ? 2 : 1)]);
}

Count grouped_matmul(const Shapes& s) { return product(elements(s.out[0]), s.input(0).back()); }

/// Each label once; an ellipsis stands for the axes that are left.
Count einsum(const Shapes& s) {
  std::string equation;
  for (const auto& def : s.node.version->attrs.defs)
    if (def.name == "equation") equation = def.print(s.node.attrs.get()).value_or("");
  std::map<char, i64> lengths;
  Shape rest;
  std::size_t operand = 0;
  const auto inputs = equation.substr(0, equation.find("->"));
  std::string labels;
  const auto close = [&] {
    const auto& shape = s.input(operand++);
    const auto named = std::count_if(labels.begin(), labels.end(), [](char c) { return c != '.'; });
    i64 axis = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != '.') {
        auto& length = lengths[labels[i]];
        length = std::max(length, shape[axis++]);
        continue;
      }
      const auto count = shape.rank() - named;
      if (rest.rank() < count) rest = Shape(shape.begin() + axis, shape.begin() + axis + count);
      axis += count;
      i += 2;  // the other dots
    }
    labels.clear();
  };
  for (const char c : inputs) {
    if (c == ',') close();
    else if (c != ' ') labels += c;
  }
  close();
  auto n = elements(rest);
  for (const auto& [label, length] : lengths) n = product(n, length);
  return n;
}

/// X is [batch, input size]; every row takes all of W and R.
template <int Weights>
Count cell(const Shapes& s) {
  return product(s.input(0)[0], sum(elements(s.input(Weights)), elements(s.input(Weights + 1))));
}

/// X is [batch, steps, input size]; W and R hold all directions.
template <int Weights>
Count sequence(const Shapes& s) {
  return product(product(s.input(0)[0], s.input(0)[1]),
                 sum(elements(s.input(Weights)), elements(s.input(Weights + 1))));
}

/// Query [..., L, E], key [..., S, E], value [..., S, V]: every row of the query takes S·E and S·V.
Count attention(const Shapes& s) {
  const auto &query = s.input(0), &value = s.input(2);
  const Shape rows(s.out[0].begin(), s.out[0].end() - 1);
  return product(product(elements(rows), value[value.rank() - 2]), sum(query.back(), value.back()));
}

struct Formula {
  std::string_view type;
  Count (*macs)(const Shapes&);
};

constexpr std::array kFormulas{
    Formula{"Convolution", by_output<1, 1>},
    Formula{"GroupConvolution", by_output<1, 2>},
    Formula{"BinaryConvolution", by_output<1, 1>},
    Formula{"DeformableConvolution", by_output<2, 1>},
    Formula{"ConvolutionBackpropData", by_input<1>},
    Formula{"GroupConvolutionBackpropData", by_input<2>},
    Formula{"MatMul", matmul},
    Formula{"GroupedMatMul", grouped_matmul},
    Formula{"Einsum", einsum},
    Formula{"LSTMCell", cell<3>},
    Formula{"GRUCell", cell<2>},
    Formula{"RNNCell", cell<2>},
    Formula{"LSTMSequence", sequence<4>},
    Formula{"GRUSequence", sequence<3>},
    Formula{"RNNSequence", sequence<3>},
    Formula{"ScaledDotProductAttention", attention},
};

}  // namespace

std::optional<i64> macs_of(const Node& node, std::span<const Fact> inputs, std::span<const Fact> outputs) {
  const auto formula = std::find_if(kFormulas.begin(), kFormulas.end(),
                                    [&](const Formula& f) { return node.op && f.type == node.op->type; });
  if (formula == kFormulas.end()) return 0;
  Shapes shapes{node, {}, {}};
  const auto add = [](std::span<const Fact> facts, std::vector<Shape>& to) {
    for (const auto& f : facts) {
      if (!f.shape.is_static()) return false;
      to.push_back(f.shape.to_shape());
    }
    return true;
  };
  return add(inputs, shapes.in) && add(outputs, shapes.out) ? formula->macs(shapes) : std::nullopt;
}

}  // namespace ovir::tools
