// ReadValue: the value of a variable; before the first Assign, the initial value.
// Spec: operation-sets/operation-specs/infrastructure/read-value-3, read-value-6
#include "op/op.hpp"
#include "op/shared_attrs.hpp"
#include "tensor/copy.hpp"

namespace ovir::ops::read_value {
namespace {

enum Input { init_value };

void require_id(const InferContext& c) {
  c.require_attr(!c.attrs<VariableAttrs>().variable_id.empty(), "variable_id", "must not be empty");
}

void infer_3(InferContext& c) {
  require_id(c);
  c.output(0, c.type(init_value), c.shape(init_value));
}

/// "variable_shape and variable_type extend (relax) the shape and type inferred from the 1st input": false where that
/// cannot be; a shape known in part is judged again when the value is there.
bool relaxes(const PartialShape& outer, const PartialShape& inner) {
  if (!outer.has_rank() || !inner.has_rank()) return true;
  if (outer.rank() != inner.rank()) return false;
  for (i64 i = 0; i < outer.rank(); ++i)
    if (!outer[i].compatible(inner[i])) return false;
  return true;
}

void infer_6(InferContext& c) {
  require_id(c);
  const auto& a = c.attrs<VariableAttrs>();
  auto type = a.variable_type;
  if (c.has(init_value)) {
    if (type == ElementType::dynamic) type = c.type(init_value);
    c.require(c.type(init_value) == ElementType::dynamic || c.type(init_value) == type, init_value, Code::E0503,
              "input \"init_value\" of ReadValue must be {2} as variable \"{1}\" is, but is {0}",
              name(c.type(init_value)), a.variable_id, name(type));
    c.require(relaxes(a.variable_shape, c.shape(init_value)), init_value, Code::E0505,
              "input \"init_value\" of ReadValue must fit shape {2} of variable \"{1}\", but its shape is {0}",
              to_string(c.shape(init_value)), a.variable_id, to_string(a.variable_shape));
  }
  c.output(0, type, a.variable_shape);
}

/// "tensor with the variable_shape and variable_type and zero values"; a length that isn't known is 0.
Tensor zeros(const VariableAttrs& a) {
  Shape shape;
  for (const auto& d : a.variable_shape) shape.push_back(d.is_static() ? d.length() : d.min);
  if (a.variable_type == ElementType::string) {
    const auto n = shape.count();
    return Tensor::strings(std::move(shape), std::vector<std::string>(n));
  }
  Tensor value(a.variable_type, std::move(shape));
  std::memset(value.mutable_bytes(), zero_byte(value.type()), value.byte_size());
  return value;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<VariableAttrs>();
  if (auto held = c.state(a.variable_id)) return c.set_out(0, std::move(held));
  if (c.has(init_value)) return c.set_out(0, c.in(init_value));
  if (a.variable_type == ElementType::dynamic || !a.variable_shape.has_rank())
    fail(Code::E0209, "variable \"{}\" needs an initial value, or a known element type and rank", a.variable_id);
  c.set_out(0, zeros(a));
}

constexpr TypeVar T{"T", kAnyType}, TVariable{"T_VARIABLE", kAnyType};
constexpr PortDef kInputs3[] = {{"init_value", T}};
constexpr PortDef kOutputs3[] = {{"output", T}};
constexpr PortDef kInputs6[] = {{"init_value", T, Arity::optional}};
constexpr PortDef kOutputs6[] = {{"output", TVariable}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs3,
     .outputs = kOutputs3,
     .attrs = kVariableAttrs<>,
     .infer = infer_3,
     .eval = eval,
     .lift = Lift::moves,
     .pure = false},
    {.since = 6,
     .inputs = kInputs6,
     .outputs = kOutputs6,
     .attrs = kVariableAttrs<Attr<"variable_type", &VariableAttrs::variable_type>,
                             Attr<"variable_shape", &VariableAttrs::variable_shape>>,
     .infer = infer_6,
     .eval = eval,
     .lift = Lift::moves,
     .pure = false},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ReadValue", .spec = "infrastructure/read-value", .versions = kVersions, .kind = Kind::read_value};

}  // namespace ovir::ops::read_value
