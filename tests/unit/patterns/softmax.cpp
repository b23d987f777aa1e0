#include "pattern_examples.hpp"

namespace ovir::testing::patterns::softmax {
namespace {

void softmax(Net& n) { n.result(n.op("Softmax-8", {n.input({3, 37})}, {{"axis", "-1"}})); }
void softmax_inner(Net& n) { n.result(n.op("Softmax-8", {n.input({3, 7, 5})}, {{"axis", "1"}})); }
void log_softmax_inner(Net& n) { n.result(n.op("LogSoftmax-5", {n.input({3, 45, 3})}, {{"axis", "1"}})); }
void log_softmax(Net& n) { n.result(n.op("LogSoftmax-5", {n.input({3, 4, 19})}, {{"axis", "2"}})); }
/// Reduced axes are kept, or given back by `back`.
void spelled_out(Net& n, const Shape& shape, i64 axis, const char* back) {
  const auto x = n.input(PartialShape(shape));
  const bool keeps = back == std::string_view("");
  auto kept = shape;
  kept[axis] = 1;
  std::vector<i64> others;
  for (i64 i = 0; i < shape.rank(); ++i)
    if (i != axis) others.push_back(i);
  const auto reduced = [&](const char* type, int of) {
    const auto y = n.op(type, {of, n.indices({axis})}, {{"keep_dims", keeps ? "true" : "false"}});
    if (back == std::string_view("Unsqueeze-1")) return n.op(back, {y, n.indices({axis})});
    const auto to = n.constant(Tensor::vector(std::vector<i64>(kept.begin(), kept.end())));
    if (back == std::string_view("Reshape-1")) return n.op(back, {y, to}, {{"special_zero", "false"}});
    if (back == std::string_view("Broadcast-3"))
      return n.op(back, {y, to, n.constant(Tensor::vector(others))}, {{"mode", "explicit"}});
    return y;
  };
  const auto powers = n.op("Exp-1", {n.op("Subtract-1", {x, reduced("ReduceMax-1", x)})});
  n.result(n.op("Divide-1", {powers, reduced("ReduceSum-1", powers)}));
}
void kept(Net& n) { spelled_out(n, {3, 37}, 1, ""); }
void unsqueezed(Net& n) { spelled_out(n, {3, 7, 5}, 1, "Unsqueeze-1"); }
void reshaped(Net& n) { spelled_out(n, {6, 5, 4}, 0, "Reshape-1"); }
void broadcast(Net& n) { spelled_out(n, {2, 5, 40}, 2, "Broadcast-3"); }

// clang-format off
constexpr Example kExamples[] = {
    {"softmax", softmax},
    {"softmax", softmax_inner, kOnce, kOpen},
    {"log_softmax", log_softmax},
    {"log_softmax", log_softmax_inner},
    {"softmax", kept},
    {"softmax", unsqueezed, kOnce},
    {"softmax", reshaped},
    {"softmax", broadcast},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"softmax", kExamples};

}  // namespace ovir::testing::patterns::softmax
