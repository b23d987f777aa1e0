#include <algorithm>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::gather_nd {
namespace {

int tuples(Net& n, const Shape& shape, i64 length) {
  Tensor t(ElementType::i32, shape);
  auto* to = t.mutable_data<std::int32_t>();
  for (i64 i = 0; i < t.size(); ++i) to[i] = static_cast<std::int32_t>(i % 3 == 0 ? -1 - i % length : i * 7 % length);
  return n.constant(t);
}
int gather(Net& n, int x, int at, std::string_view batch_dims = "0") {
  return n.op("GatherND-8", {x, at}, {{"batch_dims", std::string(batch_dims)}});
}
void rows(Net& n) { n.result(gather(n, relu(n, n.input({9, 8, 20})), tuples(n, {300, 2}, 8))); }
void elements(Net& n) { n.result(relu(n, gather(n, n.input({9, 8, 7}), tuples(n, {3, 5, 3}, 7)))); }
void by_batch(Net& n) { n.result(gather(n, n.input({2, 3, 8, 5}), tuples(n, {2, 3, 6, 1}, 8), "2")); }
void fused_batch(Net& n) {
  n.result(n.op("GatherND-5", {n.input({2, 3, 8, 5}), tuples(n, {2, 3, 6, 1}, 8)}, {{"batch_dims", "2"}}));
}
void integers(Net& n) {
  const auto x = n.op("Convert-1", {n.input({9, 8, 3})}, {{"destination_type", "i64"}});
  n.result(gather(n, x, tuples(n, {7, 1}, 9)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"gather_nd", rows},
    {"gather_nd", elements, kOnce},
    {"gather_nd", by_batch},
    {"gather_nd", fused_batch},
    {"gather_nd", integers, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"gather_nd", kExamples};

}  // namespace ovir::testing::patterns::gather_nd
