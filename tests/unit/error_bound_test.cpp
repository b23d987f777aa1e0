// Error bounds: what is only rounding stays within them, and what is more does not.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "small_model.hpp"
#include "tools/error_bound.hpp"

using namespace ovir;
using tools::error_bounds;
using tools::Operand;

namespace {

const Node& node_called(const Checked& c, std::string_view name) {
  for (const auto& node : c.model->nodes)
    if (node.layer->name == name) return node;
  throw std::out_of_range(std::string(name));
}

Tensor random_floats(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (auto& v : values) v = normal(random);
  return floats(shape, values);
}

/// A model of one layer whose inputs are Parameters of these shapes.
Checked one_layer(std::string_view operation, const std::vector<Shape>& shapes,
                  const spec::AttributeTexts& attributes = {}) {
  SmallModel m;
  std::vector<int> inputs;
  for (const auto& shape : shapes)
    inputs.push_back(m.graph.parameter("in" + std::to_string(inputs.size()), ElementType::f32, shape));
  m.graph.result("out", m.graph.add("layer", operation, inputs, attributes));
  return m.check();
}

const spec::AttributeTexts kPlain{{"transpose_a", "false"}, {"transpose_b", "false"}};

/// a · b in f32, the products added in the order that `seed` shuffles.
std::vector<float> product(const Tensor& a, const Tensor& b, unsigned seed) {
  const auto rows = a.dim(0), depth = a.dim(1), columns = b.dim(1);
  std::vector<i64> order(static_cast<std::size_t>(depth));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<float> out(static_cast<std::size_t>(rows * columns), 0.0F);
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = 0; j < columns; ++j)
      for (const auto k : order)
        out[static_cast<std::size_t>(i * columns + j)] +=
            a.data<float>()[i * depth + k] * b.data<float>()[k * columns + j];
  return out;
}

/// The largest |a - b| / bound.
double worst_ratio(const std::vector<float>& a, const std::vector<float>& b, const tools::Bound& bound) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) / bound[i]);
  return worst;
}

}  // namespace

TEST_CASE("error bounds: sums in any order are within them, a changed term is not") {
  const auto model = one_layer("MatMul-1", {{5, 300}, {300, 7}}, kPlain);
  const auto& node = node_called(model, "layer");
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto a = random_floats({5, 300}, seed), b = random_floats({300, 7}, seed + 100);
    const auto bounded = error_bounds(node, std::vector<Operand>{{a}, {b}});
    REQUIRE(bounded);
    const auto one = product(a, b, 1), other = product(a, b, seed + 2);
    CHECK(worst_ratio(one, other, bounded->bounds[0]) < 1);
    auto changed = b.copied();
    changed.mutable_data<float>()[8] += 0.05F;  // one weight of 2100, by a twentieth of what is typical
    CHECK(worst_ratio(one, product(a, changed, 1), bounded->bounds[0]) > 1);
  }
}

TEST_CASE("error bounds: functions are within a few units of the last place times their condition") {
  for (const auto* operation : {"Exp-1", "Tanh-1", "Log-1", "Sin-1", "Sigmoid-1", "Sqrt-1"}) {
    const auto model = one_layer(operation, {{200}});
    auto x = random_floats({200}, 3).copied();
    for (auto& v : x.mutable_values<float>()) v = std::abs(v) + 0.01F;
    const auto bounded = error_bounds(node_called(model, "layer"), std::vector<Operand>{{x}});
    REQUIRE(bounded);
    const auto exact = to_f64(bounded->values[0]);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double rounded = static_cast<double>(static_cast<float>(exact[i]));
      CHECK(std::abs(rounded - exact[i]) <= bounded->bounds[0][i]);
      CHECK(bounded->bounds[0][i] < 1e-4 * std::max(1.0, std::abs(exact[i])));
    }
  }
}

TEST_CASE("error bounds: data movement has none, but moves how far its input is off") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 2});
  const auto order = m.graph.constant("order", Tensor::vector({1, 0}));
  m.graph.result("out", m.graph.add("layer", "Transpose-1", {x, order}));
  const auto model = m.check();
  const auto& node = node_called(model, "layer");
  const auto value = floats({2, 2}, {1, 2, 3, 4});
  const auto exact = error_bounds(node, std::vector<Operand>{{value}, {Tensor::vector({1, 0})}});
  CHECK(exact->bounds[0] == tools::Bound{0, 0, 0, 0});
  const auto off = error_bounds(node, std::vector<Operand>{{value, {0, 0.5, 0, 0}}, {Tensor::vector({1, 0})}});
  CHECK(off->bounds[0] == tools::Bound{0, 0, 0.5, 0});
}

TEST_CASE("error bounds: a decision may fall to either side only where it is near") {
  const auto model = one_layer("Greater-1", {{3}, {3}});
  const float next = std::nextafter(1.0F, 2.0F);
  const auto bounded = error_bounds(node_called(model, "layer"),
                                    std::vector<Operand>{{floats({3}, {next, 2, 0})}, {floats({3}, {1, 1, 1})}});
  REQUIRE(bounded);
  CHECK(bounded->bounds[0][0] >= 1);
  CHECK(bounded->bounds[0][1] == 0);
  CHECK(bounded->bounds[0][2] == 0);
}

TEST_CASE("error bounds: what the inputs are off widens the sum's bound by as much") {
  const auto model = one_layer("MatMul-1", {{1, 2}, {2, 1}}, kPlain);
  const auto bounded = error_bounds(
      node_called(model, "layer"), std::vector<Operand>{{floats({1, 2}, {3, -4}), {0.5, 0}}, {floats({2, 1}, {2, 1})}});
  REQUIRE(bounded);
  CHECK(std::abs(bounded->bounds[0][0] - 1) < 1e-4);  // 0.5 · 2
}
