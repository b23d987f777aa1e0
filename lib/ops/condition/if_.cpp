// If: runs one of two bodies.
// Spec: operation-sets/operation-specs/condition/if-8
#include "op/op.hpp"

namespace ovir::ops::if_ {
namespace {

enum Input { cond };

int body_of(std::span<const BodyMap> bodies, bool condition) {
  const auto role = condition ? "then_body" : "else_body";
  for (int k = 0; k < std::ssize(bodies); ++k)
    if (bodies[k].role == role) return k;
  fail(Code::E0208, "If needs a <{}>", role);
}

std::vector<Fact> infer_branch(const InferContext& c, int body) {
  const auto& map = c.bodies()[body];
  std::vector<Fact> parameters(map.parameter_count);
  for (const auto& link : map.inputs) parameters[link.inner] = c.in(link.port);
  const auto results = c.infer_body(body, parameters);
  std::vector<Fact> outputs(c.output_count());
  std::vector<bool> given(outputs.size(), false);
  for (const auto& link : map.outputs) {
    outputs[link.port] = results[link.inner];
    given[link.port] = true;
  }
  for (std::size_t o = 0; o < given.size(); ++o)
    if (!given[o]) fail(Code::E0208, "the {} of If must give output {}", map.role, o);
  return outputs;
}

void infer(InferContext& c) {
  c.require_single(cond);
  const auto then_outputs = infer_branch(c, body_of(c.bodies(), true)),
             else_outputs = infer_branch(c, body_of(c.bodies(), false));
  const auto known = c.scalar_int(cond);
  for (std::size_t o = 0; o < then_outputs.size(); ++o) {
    const auto &a = then_outputs[o], &b = else_outputs[o];
    if (a.type != b.type && a.type != ElementType::dynamic && b.type != ElementType::dynamic && !known)
      fail(Code::E0503,
           "output {} of If must have one element type, but is {} in the then_body and {} in the else_body", o,
           name(a.type), name(b.type));
    if (known) c.outputs()[o] = *known != 0 ? a : b;
    else c.outputs()[o] = merge(a, b);
  }
}

void eval(EvalContext& c) {
  const auto body = body_of(c.bodies(), c.single_int(cond) != 0);
  const auto& map = c.bodies()[body];
  std::pmr::vector<Tensor> parameters(map.parameter_count, c.memory()), results(map.result_count, c.memory());
  for (const auto& link : map.inputs) parameters[link.inner] = c.in(link.port);
  c.run_body(body, parameters, results);
  for (const auto& link : map.outputs) c.set_out(link.port, results[link.inner]);
}

constexpr PortDef kInputs[] = {{"cond", {"B", kBoolean}}, {"inputs", {"T", kAnyType}, Arity::mixed}};
constexpr PortDef kOutputs[] = {{"outputs", {"T_OUT", kAnyType}, Arity::mixed}};
constexpr Version kVersions[] = {
    {.since = 8,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = kAllPorts,
     .sized_by_data = true,
     .eval = eval,
     .lift = Lift::moves,
     .pure = false},
};

constexpr BodyDef kBodies[] = {{.role = "then_body"}, {.role = "else_body"}};

}  // namespace

extern constinit const OpDef def{.type = "If", .spec = "condition/if", .versions = kVersions, .bodies = kBodies};

}  // namespace ovir::ops::if_
