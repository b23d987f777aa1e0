#include "pattern_examples.hpp"

namespace ovir::testing::patterns::predicates {
namespace {

/// Numbers and both infinities.
int quotients(Net& n) {
  const auto x = n.input({3, 77});
  const auto zeros = n.op("Floor-1", {n.op("Multiply-1", {n.op("Multiply-1", {x, x}), n.numbers({2}, {})})});
  return n.op("Divide-1", {n.op("Add-1", {x, n.numbers({1.0F / 128}, {})}), zeros});
}
void of(Net& n, const char* type, const Texts& attributes) {
  n.result(
      n.op("Convert-1", {n.op(type, {quotients(n)}, attributes)}, {{"destination_type", std::string(name(n.type()))}}));
}
void finite(Net& n) { of(n, "IsFinite-10", {}); }
void infinite(Net& n) { of(n, "IsInf-10", {}); }
void above(Net& n) { of(n, "IsInf-10", {{"detect_negative", "false"}}); }
void nan(Net& n) { of(n, "IsNaN-10", {}); }
void negated(Net& n) {
  const auto finite = n.op("IsFinite-10", {quotients(n)});
  n.result(n.op("Convert-1", {n.op("LogicalNot-1", {finite})}, {{"destination_type", std::string(name(n.type()))}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"predicates.IsFinite", finite},
    {"predicates.IsInf", infinite, kOften, kOpen},
    {"predicates.IsInf", above},
    {"predicates.IsNaN", nan, kOnce},
    {"predicates.LogicalNot", negated, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"predicates", kExamples};

}  // namespace ovir::testing::patterns::predicates
