#include "pattern_examples.hpp"

namespace ovir::testing::patterns::softmax {
namespace {

void softmax(Net& n) { n.result(n.op("Softmax-8", {n.input({3, 37})}, {{"axis", "-1"}})); }
void softmax_inner(Net& n) { n.result(n.op("Softmax-8", {n.input({3, 7, 5})}, {{"axis", "1"}})); }
void log_softmax(Net& n) { n.result(n.op("LogSoftmax-5", {n.input({3, 4, 19})}, {{"axis", "2"}})); }

// clang-format off
constexpr Example kExamples[] = {
    {"softmax", softmax},
    {"softmax", softmax_inner, kOnce, kOpen},
    {"log_softmax", log_softmax},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"softmax", kExamples};

}  // namespace ovir::testing::patterns::softmax
