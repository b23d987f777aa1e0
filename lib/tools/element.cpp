#include "tools/element.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "diag/diagnostic.hpp"
#include "op/eval_context.hpp"
#include "tensor/dispatch.hpp"
#include "tools/input_ports.hpp"

namespace ovir::tools {
namespace {

/// Elements as f32 or f64.
Tensor readable(const Tensor& t) {
  return t.type() == ElementType::f32 || t.type() == ElementType::f64 ? t : convert(t, ElementType::f32);
}

Tensor one(const Tensor& t, i64 at) { return {t.type(), Shape{}, t.owner(), t.bytes() + at * byte_width(t.type())}; }

/// The element of an operand that meets element `index` of the output under numpy's broadcasting; nothing where the
/// shapes do not broadcast.
std::optional<i64> broadcast_element(const Shape& operand, const Shape& index) {
  if (operand.rank() > index.rank()) return std::nullopt;
  const auto strides = strides_of(operand);
  const auto lead = index.rank() - operand.rank();
  i64 at = 0;
  for (i64 axis = 0; axis < operand.rank(); ++axis) {
    if (operand[axis] != 1 && index[axis + lead] >= operand[axis]) return std::nullopt;
    if (operand[axis] != 1) at += index[axis + lead] * strides[axis];
  }
  return at;
}

bool broadcasts(const Version& version) { return version.attrs.find("auto_broadcast") != nullptr; }

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Whether the elements of an input come out of output `port` as they are.
bool carries(const Version& version, std::size_t input, int port) {
  const auto output = std::min<i64>(port, std::ssize(version.outputs) - 1);
  return input_def(version, input).type.name == version.outputs[output].type.name;
}

}  // namespace

Shape index_of(const Shape& shape, i64 at) {
  Shape index(shape.rank());
  for (auto axis = shape.rank(); axis-- > 0;) {
    if (shape[axis] == 0) continue;
    index[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return index;
}

i64 offset_of(const Shape& shape, const Shape& index) {
  const auto strides = strides_of(shape);
  i64 at = 0;
  for (i64 axis = 0; axis < shape.rank(); ++axis) at += index[axis] * strides[axis];
  return at;
}

double element(const Tensor& t, i64 at) { return to_f64(one(t.unpacked(), at))[0]; }

std::string element_text(const Tensor& t, i64 at) {
  const auto single = one(t.unpacked(), at);
  if (t.type() == ElementType::boolean) return to_i64(single)[0] != 0 ? "true" : "false";
  if (t.type() == ElementType::u64) return fmt::format("{}", single.data<std::uint64_t>()[0]);
  if (!is_float(t.type())) return fmt::format("{}", to_i64(single)[0]);
  const auto value = to_f64(single)[0];
  if (std::isnan(value)) return "nan";
  return t.type() == ElementType::f64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

Unusual find_unusual(const Tensor& given) {
  Unusual found;
  if (!given || !is_float(given.type())) return found;
  const auto t = readable(given);
  dispatch(t.type(), Floats{}, [&]<class T>() {
    const T* x = t.data<T>();
    for (i64 i = 0; i < t.size(); ++i) {
      const auto magnitude = std::abs(x[i]);
      if (magnitude < static_cast<T>(kBeyondF16)) continue;
      if (std::isnan(magnitude)) {
        if (found.nan < 0) found.nan = i;
      } else if (std::isinf(magnitude)) {
        if (found.infinite < 0) found.infinite = i;
      } else {
        if (found.beyond_f16 < 0) found.beyond_f16 = i;
        if (found.beyond_bf16 < 0 && static_cast<double>(magnitude) >= kBeyondBf16) found.beyond_bf16 = i;
      }
    }
  });
  return found;
}

std::vector<i64> not_finite(const Tensor& given) {
  std::vector<i64> list;
  if (!given || !is_float(given.type())) return list;
  const auto t = readable(given);
  dispatch(t.type(), Floats{}, [&]<class T>() {
    const T* x = t.data<T>();
    for (i64 i = 0; i < t.size(); ++i)
      if (!std::isfinite(x[i])) list.push_back(i);
  });
  return list;
}

std::vector<Tensor> outputs_for(const Call& call, std::span<const Tensor> in) {
  const auto& node = *call.node;
  if (!node.version || !node.version->eval || !node.version->pure || !node.bodies.empty()) return {};
  try {
    return evaluate(*node.op, *node.version, node.attrs.get(), in, node.output_count);
  } catch (const Failure&) {
    return {};
  }
}

bool is_cast(const Node& node) { return node.op->type == "Convert" || node.op->type == "ConvertLike"; }

std::optional<std::vector<OperandElement>> elementwise_operands(const Call& call, const Tensor& out, i64 at) {
  if (is_cast(*call.node)) return std::vector{OperandElement{0, at}};  // of the other operand only the type counts
  if (call.in.empty() || call.node->output_count != 1 || !call.node->bodies.empty()) return std::nullopt;
  const auto index = index_of(out.shape(), at);
  const bool broadcast = broadcasts(*call.node->version);
  if (!broadcast && call.in[0].shape() != out.shape()) return std::nullopt;
  std::vector<OperandElement> list;
  std::vector<Tensor> single;
  const Shape ones(out.rank(), 1);
  for (int p = 0; p < std::ssize(call.in); ++p) {
    const auto place = broadcast_element(call.in[p].shape(), index);
    if (!place || call.in[p].size() == 0 || call.in[p].type() == ElementType::string) return std::nullopt;
    list.push_back({p, *place});
    const auto unpacked = call.in[p].unpacked();
    auto piece = one(unpacked, *place);
    if (call.in[p].rank() > 0) piece = piece.reshaped(Shape(call.in[p].rank(), 1));
    single.push_back(std::move(piece));
  }
  if (broadcast) return list;
  // Any other layer is element-wise here if it gives the same for the one element alone.
  const auto alone = outputs_for(call, single);
  if (alone.size() != 1 || alone[0].size() != 1) return std::nullopt;
  const auto wanted = element(out, at), got = element(alone[0], 0);
  const bool close = same(wanted, got) || (std::isfinite(wanted) && std::abs(wanted - got) <= 1e-5 * std::abs(wanted));
  return close ? std::optional(std::move(list)) : std::nullopt;
}

std::optional<OperandElement> moved_from(const Call& call, int port, const Shape& out, i64 at) {
  const auto& version = *call.node->version;
  if (version.lift != Lift::moves || version.outputs.empty() || call.in.empty() || !call.node->bodies.empty())
    return std::nullopt;
  const bool cast = call.in[0].shape() == out && !carries(version, 0, port);
  if (cast) return OperandElement{0, at};
  // The same movement of the elements' numbers, from 1: what is 0 in the end was not moved.
  std::vector<Tensor> numbers(call.in.begin(), call.in.end());
  std::vector<i64> first(call.in.size(), 0);
  i64 next = 1;
  for (std::size_t p = 0; p < call.in.size(); ++p) {
    if (!carries(version, p, port)) continue;
    first[p] = next;
    numbers[p] = Tensor(ElementType::i64, call.in[p].shape());
    for (auto& n : numbers[p].mutable_values<i64>()) n = next++;
  }
  const auto moved = outputs_for(call, numbers);
  if (port >= std::ssize(moved) || !moved[port] || moved[port].shape() != out || moved[port].type() != ElementType::i64)
    return std::nullopt;
  const auto number = moved[port].data<i64>()[at];
  for (auto p = static_cast<int>(call.in.size()); p-- > 0;)
    if (first[p] > 0 && number >= first[p]) return OperandElement{p, number - first[p]};
  return std::nullopt;
}

}  // namespace ovir::tools
