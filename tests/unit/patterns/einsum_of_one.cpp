#include "pattern_examples.hpp"

namespace ovir::testing::patterns::einsum_of_one {
namespace {

void of(Net& n, const char* equation, const PartialShape& shape) {
  n.result(n.op("Einsum-7", {n.input(shape)}, {{"equation", equation}}));
}
/// As diffusion transformers bring patches together to an image.
void patches(Net& n) { of(n, "nhwpqc->nchpwq", {2, 5, 6, 2, 3, 4}); }
void turned(Net& n) { of(n, "...ij->...ji", {2, 3, 9, 20}); }
void same(Net& n) { of(n, "ab->ab", {5, 7}); }
void sums_behind(Net& n) { of(n, "abcd->ab", {3, 4, 5, 6}); }
void sums_before(Net& n) { of(n, "abc->c", {3, 4, 33}); }
void sums_between(Net& n) { of(n, "abcd->ad", {3, 4, 5, 17}); }
void sums_apart(Net& n) { of(n, "abcd->bd", {3, 4, 5, 17}); }
void sums_turned(Net& n) { of(n, "abcd->da", {3, 4, 5, 17}); }
void sum_of_all(Net& n) { of(n, "ab->", {30, 40}); }

// clang-format off
constexpr Example kExamples[] = {
    {"einsum", patches},
    {"einsum", patches, kOnce},
    {"einsum", patches, kOften, kOpen},
    {"einsum", turned},
    {"einsum", same},
    {"einsum", sums_behind},
    {"einsum", sums_before},
    {"einsum", sums_between},
    {"einsum", sums_between, kOften, kOpen},
    {"einsum", sums_apart},
    {"einsum", sums_turned},
    {"einsum", sum_of_all},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"einsum_of_one", kExamples};

}  // namespace ovir::testing::patterns::einsum_of_one
