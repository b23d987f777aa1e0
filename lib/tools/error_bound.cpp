#include "tools/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/half.hpp"
#include "op/eval_context.hpp"

namespace ovir::tools {
namespace {

using Doubles = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A few units of the last place: what good implementations of exp, tanh, erf and so on keep to, the reference's among
// them, and what several such steps in one operation add up to.
constexpr double kUnits = 8;
constexpr double kTiny = 0x1p-126;  // below it a machine may flush to zero
constexpr int kSamples = 3;
constexpr double kSampleFactor = 8;  // a few samples see a part of what may happen

Tensor tensor_of(const Doubles& values, const Shape& shape, ElementType type) {
  return convert(Tensor::of<double>(ElementType::f64, shape, values), type);
}

/// A node and its inputs, widened for evaluation.
class Evaluation {
 public:
  Evaluation(const Node& node, std::span<const Operand> operands, ElementType wide)
      : node_(node), operands_(operands), wide_(wide) {
    bool all_f64 = true;
    for (const auto& operand : operands) {
      const bool real = is_float(operand.value.type());
      inputs_.push_back(real ? convert(operand.value, wide) : operand.value);
      values_.push_back(real ? to_f64(operand.value.unpacked()) : Doubles());
      all_f64 = all_f64 && (!real || operand.value.type() == ElementType::f64);
      floats_ += real ? 1 : 0;
    }
    // What came through a group of nodes is held in f64, but was computed in f32: only a declared f64 is f64.
    u_ = all_f64 && node.layer->outputs.size() > 0 && node.layer->outputs[0].declared_type == ElementType::f64
             ? unit_roundoff(ElementType::f64)
             : unit_roundoff(ElementType::f32);
    if (wide == ElementType::f32) u_ *= 2;  // the changes themselves are rounded
  }

  int floats() const { return floats_; }
  double u() const { return u_; }
  std::size_t inputs() const { return inputs_.size(); }
  bool is_real(std::size_t port) const { return is_float(inputs_[port].type()); }
  const Doubles& values(std::size_t port) const { return values_[port]; }
  /// How far element i of an input may be off.
  double off(std::size_t port, std::size_t i) const { return operands_[port].off.empty() ? 0 : operands_[port].off[i]; }
  bool any_off() const {
    return std::any_of(operands_.begin(), operands_.end(), [](const Operand& o) { return !o.off.empty(); });
  }
  /// What an input changes by where it is off and rounded.
  double change(std::size_t port, std::size_t i) const {
    const double x = std::abs(values_[port][i]);
    return off(port, i) + kUnits * u_ * (std::isfinite(x) ? x : 0) + kTiny;
  }

  std::vector<Tensor> run() const { return evaluate(inputs_); }
  /// With some inputs replaced: element i of input `port` by f(port, i).
  template <class F>
  std::vector<Tensor> run(F&& f, std::size_t first = 0, std::size_t last = ~std::size_t{0}) const {
    auto inputs = inputs_;
    for (std::size_t port = first; port < std::min(last, inputs.size()); ++port) {
      if (!is_real(port)) continue;
      Doubles changed(values_[port].size());
      for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = f(port, i);
      inputs[port] = tensor_of(changed, inputs[port].shape(), wide_);
    }
    return evaluate(inputs);
  }

 private:
  std::vector<Tensor> evaluate(const std::vector<Tensor>& inputs) const {
    return ovir::evaluate(*node_.op, *node_.version, node_.attrs.get(), inputs, node_.output_count);
  }

  const Node& node_;
  std::span<const Operand> operands_;
  ElementType wide_;
  std::vector<Tensor> inputs_;
  std::vector<Doubles> values_;
  int floats_ = 0;
  double u_ = 0;
};

/// Elements of outputs as numbers; nothing of strings.
std::vector<Doubles> numbers(const std::vector<Tensor>& outputs) {
  std::vector<Doubles> list;
  for (const auto& t : outputs) list.push_back(t && t.type() != ElementType::string ? to_f64(t.unpacked()) : Doubles());
  return list;
}

double distance(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : kInfinity;
  return a == b ? 0 : std::abs(a - b);
}

/// |a - b| by element; infinite all over where the numbers of elements differ.
Doubles distances(const Doubles& a, const Doubles& b) {
  Doubles d(a.size(), kInfinity);
  if (a.size() == b.size())
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = distance(a[i], b[i]);
  return d;
}

void raise(Doubles& to, const Doubles& by) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], by[i]);
}
void add(Doubles& to, const Doubles& by) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += by[i];
}

/// A few units of each value, and of the largest, as approximations of functions are made; where the output is narrower
/// than what was computed in, its rounding.
void add_rounding(Doubles& bound, const Doubles& values, ElementType type, double u, double units_of_largest) {
  if (!is_float(type)) return;
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  const double own = std::max(unit_roundoff(type), kUnits / 2 * u);
  for (std::size_t i = 0; i < bound.size(); ++i)
    bound[i] += (std::isfinite(values[i]) ? std::abs(values[i]) : 0) * own + units_of_largest * u * largest + kTiny;
}

std::vector<Bound> of_elementwise(const Evaluation& e, const std::vector<Tensor>& outputs) {
  const auto base = numbers(outputs);
  std::vector<Bound> bounds;
  for (const auto& b : base) bounds.emplace_back(b.size(), 0.0);
  for (std::size_t port = 0; port < e.inputs(); ++port) {
    if (!e.is_real(port)) continue;
    const auto moved = [&](double sign) {
      return numbers(
          e.run([&](std::size_t p, std::size_t i) { return e.values(p)[i] + sign * e.change(p, i); }, port, port + 1));
    };
    const auto up = moved(1), down = moved(-1);
    for (std::size_t o = 0; o < base.size(); ++o) {
      auto max = distances(base[o], up[o]);
      raise(max, distances(base[o], down[o]));
      add(bounds[o], max);
    }
  }
  for (std::size_t o = 0; o < base.size(); ++o) add_rounding(bounds[o], base[o], outputs[o].type(), e.u(), kUnits / 2);
  return bounds;
}

std::vector<Bound> of_sums(const Node& node, const Evaluation& e, const std::vector<Tensor>& outputs,
                           std::span<const Operand> operands) {
  std::vector<Shape> shapes;
  for (const auto& operand : operands) shapes.push_back(operand.value.shape());
  const auto out = std::max<i64>(outputs.at(0).size(), 1);
  const auto terms = node.version->terms ? node.version->terms(*node.version, node.attrs.get(), shapes)
                                         : (shapes.at(0).count() + out - 1) / out;
  // Two sums are compared, each off by as much; a few steps more than terms: scaling, and blocks that are added up.
  const double n = static_cast<double>(terms + 4) * e.u();
  const double gamma = 2 * n / (1 - std::min(n, 0.5));
  const auto magnitude = [&](bool off) {
    return numbers(
        e.run([&](std::size_t p, std::size_t i) { return std::abs(e.values(p)[i]) + (off ? e.off(p, i) : 0); }));
  };
  const auto sums = magnitude(false);
  std::vector<Bound> bounds;
  for (const auto& sum : sums) {
    auto& bound = bounds.emplace_back(sum);
    for (auto& b : bound) b = gamma * std::abs(b) + kTiny;
  }
  if (!e.any_off()) return bounds;
  const auto wider = magnitude(true);
  for (std::size_t o = 0; o < bounds.size(); ++o) add(bounds[o], distances(wider[o], sums[o]));
  return bounds;
}

/// Elements are moved, and with them how far they are off.
std::vector<Bound> of_movement(const Evaluation& e, const std::vector<Tensor>& outputs) {
  std::vector<Bound> bounds;
  if (!e.any_off()) {
    for (const auto& t : outputs) bounds.emplace_back(t.size(), 0.0);
    return bounds;
  }
  bounds = numbers(e.run([&](std::size_t p, std::size_t i) { return e.off(p, i); }));
  for (auto& bound : bounds)
    for (auto& b : bound) b = std::abs(b);
  return bounds;
}

std::vector<Bound> of_samples(const Evaluation& e, const std::vector<Tensor>& outputs) {
  const auto base = numbers(outputs);
  std::vector<Bound> bounds;
  for (const auto& b : base) bounds.emplace_back(b.size(), 0.0);
  const auto sample = [&](const auto& moved) {
    const auto outputs = numbers(e.run(moved));
    for (std::size_t o = 0; o < base.size(); ++o) raise(bounds[o], distances(base[o], outputs[o]));
  };
  std::mt19937 random(1);
  for (int i = 0; i < kSamples; ++i)
    sample([&](std::size_t p, std::size_t i) {
      return e.values(p)[i] + ((random() & 1U) != 0 ? 1 : -1) * e.change(p, i);
    });
  // Numbers that bf16 makes equal, of which another one is then the largest: no sample finds all of them.
  if (e.any_off())
    sample([&](std::size_t p, std::size_t i) {
      const auto value = e.values(p)[i], rounded = static_cast<double>(float(bf16(static_cast<float>(value))));
      return std::abs(rounded - value) <= e.off(p, i) ? rounded : value;
    });
  for (std::size_t o = 0; o < base.size(); ++o) {
    auto& bound = bounds[o];
    if (!is_float(outputs[o].type())) {  // what changed may be anything else
      for (auto& b : bound) b = b > 0 ? kInfinity : 0;
      continue;
    }
    double squares = 0;
    for (const double b : bound) squares += std::isfinite(b) ? b * b : 0;
    const double typical = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(bound.size(), 1)));
    for (auto& b : bound) b = kSampleFactor * std::max(b, typical);
    add_rounding(bound, base[o], outputs[o].type(), e.u(), kUnits / 2);
  }
  return bounds;
}

Bounded bounded(const Node& node, std::span<const Operand> operands, ElementType wide) {
  const Evaluation e(node, operands, wide);
  Bounded result{e.run(), {}};
  const auto kind = node.version->error;
  if (kind == ErrorBound::elementwise) result.bounds = of_elementwise(e, result.values);
  else if (kind == ErrorBound::sums) result.bounds = of_sums(node, e, result.values, operands);
  else if (kind == ErrorBound::by_kind && (node.version->lift == Lift::moves || e.floats() == 0))
    result.bounds = of_movement(e, result.values);
  else result.bounds = of_samples(e, result.values);
  return result;
}

}  // namespace

double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::f64: return 0x1p-53;
    case ElementType::f32: return 0x1p-24;
    case ElementType::f16: return 0x1p-11;
    case ElementType::bf16: return 0x1p-8;
    case ElementType::f8e4m3: return 0x1p-4;
    case ElementType::f8e5m2: return 0x1p-3;
    case ElementType::f8e8m0: return 0x1p-1;
    case ElementType::f4e2m1: return 0x1p-2;
    default: return 0;
  }
}

double rounding_error(ElementType type, double value) {
  if (!std::isfinite(value)) return 0;
  const double relative = unit_roundoff(type) * std::abs(value);
  switch (type) {
    case ElementType::f16: return std::max(relative, 0x1p-25);
    case ElementType::f8e4m3: return std::max(relative, 0x1p-10);
    case ElementType::f8e5m2: return std::max(relative, 0x1p-17);
    case ElementType::f4e2m1: return std::max(relative, 0x1p-2);
    default: return relative;
  }
}

std::optional<Bounded> error_bounds(const Node& node, std::span<const Operand> inputs) {
  if (!node.version || !node.version->eval || !node.version->pure || !node.bodies.empty() ||
      node.op->kind != Kind::compute)
    return std::nullopt;
  for (const auto wide : {ElementType::f64, ElementType::f32}) {
    try {
      return bounded(node, inputs, wide);
    } catch (const Failure&) {  // the kernel does not take the type: the next one
    }
  }
  return std::nullopt;
}

}  // namespace ovir::tools
