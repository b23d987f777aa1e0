#include "pattern_examples.hpp"

namespace ovir::testing::patterns::gather_elements {
namespace {

/// Each third index from the front, or from the end.
int places(Net& n, const Shape& shape, i64 length) {
  Tensor t(ElementType::i64, shape);
  auto* to = t.mutable_data<i64>();
  for (i64 i = 0; i < t.size(); ++i) to[i] = i % 2 ? i * 3 % length : i * 3 % length - length;
  return n.constant(t);
}
int gather(Net& n, int x, int at, std::string_view axis) {
  return n.op("GatherElements-6", {x, at}, {{"axis", std::string(axis)}});
}

void last(Net& n) { n.result(gather(n, relu(n, n.input({3, 7, 20})), places(n, {3, 7, 11}, 20), "-1")); }
void middle(Net& n) { n.result(relu(n, gather(n, n.input({2, 5, 9}), places(n, {2, 13, 9}, 5), "1"))); }
void first(Net& n) { n.result(gather(n, n.input({6, 9}), places(n, {4, 9}, 6), "0")); }
void integers(Net& n) {
  const auto x = n.op("Convert-1", {n.input({4, 30})}, {{"destination_type", "i64"}});
  n.result(gather(n, x, places(n, {4, 2}, 30), "1"));
}
/// Indices that only the run tells.
void computed(Net& n, const Shape& shape, const Shape& at, i64 length, std::string_view axis) {
  const auto whole = n.op("Convert-1", {lengths(n)}, {{"destination_type", "i64"}});
  const auto none =
      n.op("ReduceSum-1", {n.op("Multiply-1", {whole, n.index(0)}), n.indices({0})}, {{"keep_dims", "false"}});
  n.result(gather(n, n.input(shape), n.op("Add-1", {places(n, at, length), none}), axis));
}
void computed_last(Net& n) { computed(n, {3, 7, 20}, {3, 7, 301}, 20, "2"); }
void computed_first(Net& n) { computed(n, {20, 3, 7}, {33, 3, 7}, 20, "-3"); }
void computed_middle(Net& n) { computed(n, {3, 20, 5}, {3, 33, 5}, 20, "1"); }

// clang-format off
constexpr Example kExamples[] = {
    {"gather_elements", last},
    {"gather_elements", last, kOnce},
    {"gather_elements", middle},
    {"gather_elements", first},
    {"gather_elements", integers, kOften, kFixed, kF32Only},
    {"gather_elements", computed_last},
    {"gather_elements", computed_first, kOnce},
    {"gather_elements", computed_middle},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"gather_elements", kExamples};

}  // namespace ovir::testing::patterns::gather_elements
