#include "op/eval_context.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/checked.hpp"

#include "op/compute.hpp"
#include "op/infer_context.hpp"
#include "op/ports.hpp"
#include "op/work.hpp"
#include "tensor/copy.hpp"

namespace ovir {

ElementType lifted_type(ElementType t) {
  using enum ElementType;
  switch (t) {
    case f16:
    case bf16:
    case f8e4m3:
    case f8e5m2:
    case f8e8m0:
    case f4e2m1:
    case nf4: return f32;
    case u1:
    case u2:
    case u3:
    case u4:
    case u6: return u8;
    case i4: return i8;
    default: return t;
  }
}

EvalContext::EvalContext(const Version& version, const void* attrs, std::span<const Tensor> inputs,
                         std::span<const Fact> outputs, std::span<const ElementType> stored)
    : version_(&version),
      attrs_(attrs),
      inputs_(inputs),
      outputs_(outputs),
      stored_(stored),
      lifted_(inputs.size()),
      results_(outputs.size()) {}

const Tensor& EvalContext::in(int port) {
  const auto& kept = inputs_[port];
  const auto wanted = version_->lift == Lift::compute ? lifted_type(kept.type()) : kept.type();
  if (!kept.packed() && wanted == kept.type()) return kept;
  auto& [value, current] = lifted_[port];
  if (!std::exchange(current, true)) {
    if (wanted == kept.type()) value = kept.unpacked();
    else convert_into(kept, renew(value, wanted, kept.shape()));
  }
  return value;
}

std::span<const i64> EvalContext::ints(int port) {
  const auto& t = in(port);
  if (t.type() == ElementType::i64) return t.values<i64>();
  ints_.resize(inputs_.size());
  to_i64(t, ints_[port]);
  return ints_[port];
}

i64 EvalContext::scalar_int(int port) {
  const auto values = ints(port);
  if (values.empty()) throw std::logic_error(fmt::format("input {} has no element when its kernel runs", port));
  return values[0];
}

std::pmr::vector<double> EvalContext::floats(int port) {
  const auto& t = in(port);
  auto wide = scratch(ElementType::f64, t.shape());
  convert_into(t, wide);
  const auto values = wide.values<double>();
  return {values.begin(), values.end(), memory()};
}

Tensor EvalContext::scratch(ElementType type, Shape shape) {
  const auto bytes = checked_mul(shape.count(), byte_width(type));
  if (!bytes) fail(Code::E0003, "a tensor {}{} is too large", name(type), to_string(shape));
  constexpr std::size_t kAlignment = 64;
  auto* at = static_cast<std::byte*>(memory_.allocate(std::max<i64>(*bytes, 1), kAlignment));
  // Nobody owns it, so owned() is a copy.
  return {type, std::move(shape), std::shared_ptr<const void>(std::shared_ptr<void>(), at), at};
}

i64 EvalContext::single_int(int port) {
  if (const auto& t = in(port); t.size() != 1)
    fail_at(*version_, port, Code::E0506,
            fmt::format("input \"{}\" of {} must hold one element, but its shape is {}", port_name(*version_, port),
                        type_, to_string(t.shape())));
  return scalar_int(port);
}

ElementType EvalContext::stored_out_type(int port) const {
  return port < std::ssize(stored_) && stored_[port] != ElementType::dynamic ? stored_[port] : outputs_[port].type;
}

ElementType EvalContext::out_type(int port) const {
  const auto t = stored_out_type(port);
  return version_->lift == Lift::compute ? lifted_type(t) : t;
}

Tensor& EvalContext::out(int port) {
  const auto& shape = out_shape(port);
  // Arithmetic of lengths stops at the greatest.
  if (std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.min >= Dim::kUnbounded - 1; }))
    fail(Code::E0003, "output {} would have 2^63 elements or more: {}", port, to_string(shape));
  // Lengths that follow from numbers are exact up to 2^53; see Interval::to_dim().
  if (std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.min >= i64{1} << 53 && !d.is_static(); }))
    fail(Code::E0003, "output {} would be longer than 2^53: {}", port, to_string(shape));
  if (!shape.is_static())
    throw std::logic_error(
        fmt::format("the shape of output {} is not known when its kernel runs: {}", port, to_string(shape)));
  return out(port, shape.to_shape());
}

Tensor& EvalContext::out(int port, Shape shape) {
  auto& result = results_.at(port);
  const auto type = out_type(port);
  if (port < std::ssize(targets_) && targets_[port] && targets_[port].type() == type && targets_[port].shape() == shape)
    return result = targets_[port];
  if (type != stored_out_type(port) && type != ElementType::string)
    return result = scratch(type, std::move(shape));  // until finish() narrows it
  result = host_ ? host_->allocate(type, std::move(shape)) : Tensor(type, std::move(shape));
  if (type == ElementType::string) {
    std::fill_n(result.mutable_data<std::string_view>(), result.size(), std::string_view());
    for (const auto& input : inputs_)
      if (input.type() == ElementType::string) result.keep_alive(input);
  }
  return result;
}

void EvalContext::restart() {
  for (auto& lifted : lifted_) lifted.current = false;
  for (auto& t : results_) t = Tensor();
  memory_.release();
}

std::vector<Tensor>& EvalContext::finish() {
  for (int o = 0; o < std::ssize(results_); ++o) {
    auto& result = results_[o];
    if (!result && !wanted(o)) continue;
    if (!result) throw std::logic_error(fmt::format("the kernel gave no output {}", o));
    const auto stored = stored_out_type(o);
    if (stored == ElementType::dynamic || result.type() == stored) continue;
    const bool has_place = o < std::ssize(targets_) && targets_[o] && targets_[o].type() == stored &&
                           targets_[o].shape() == result.shape();
    auto narrow = has_place ? targets_[o] : Tensor(stored, result.shape());
    convert_into(result, narrow);
    result = std::move(narrow);
  }
  return results_;
}

std::vector<Tensor> evaluate(const OpDef& op, const Version& version, const void* attrs, std::span<const Tensor> inputs,
                             int output_count) {
  std::vector<Fact> facts;
  for (const auto& t : inputs) facts.push_back({t.type(), t.shape(), t, nullptr});
  InferContext infer(op, version, attrs, facts, output_count);
  infer.check_signature();
  version.infer(infer);
  spend(steps_of(version, attrs, inputs, infer.outputs()));
  EvalContext c(version, attrs, inputs, infer.outputs());
  c.set_type(op.type);
  compute(c);
  return std::move(c.finish());
}

}  // namespace ovir
