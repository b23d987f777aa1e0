#include "pattern_examples.hpp"

namespace ovir::testing::patterns::einsum {
namespace {

void product(Net& n, const char* equation, const PartialShape& a, const PartialShape& b) {
  n.result(n.op("Einsum-7", {n.input(a), n.input(b)}, {{"equation", equation}}));
}
void in_place(Net& n) { product(n, "bhlt,bhtv->bhlv", {2, 3, 9, 20}, {2, 3, 20, 35}); }
void transposed(Net& n) { product(n, "bhlk,bhtk->bhlt", {2, 3, 9, 20}, {2, 3, 33, 20}); }
void transposed_left(Net& n) { product(n, "bkl,bkt->btl", {2, 20, 9}, {2, 20, 33}); }
void permuted(Net& n) { product(n, "byhwc,hkc->byhwk", {2, 3, 4, 5, 33}, {4, 7, 33}); }
void several_sums_taken(Net& n) { product(n, "acbd,dcbe->ea", {3, 4, 5, 6}, {6, 4, 5, 7}); }
void ellipsis(Net& n) { product(n, "...ij,...jk->...ik", {2, 3, 9, 8}, {2, 3, 8, 12}); }
void outer(Net& n) { product(n, "a,b->ba", {17}, {19}); }
void dots(Net& n) { product(n, "ab,ab->a", {5, 40}, {5, 40}); }
/// Of several operands, of which two are multiplied first, whatever their order.
void several(Net& n, const char* equation, const std::vector<PartialShape>& operands) {
  std::vector<int> inputs;
  for (const auto& shape : operands) inputs.push_back(n.input(shape));
  n.result(n.op("Einsum-7", inputs, {{"equation", equation}}));
}
void biaffine(Net& n) { several(n, "bxi,oij,byj->boxy", {{2, 7, 9}, {5, 9, 11}, {2, 6, 11}}); }
void chain(Net& n) { several(n, "ab,bc,cd,de->ea", {{30, 4}, {4, 25}, {25, 3}, {3, 20}}); }
void last_first(Net& n) { several(n, "...a,...b,b->...a", {{3, 40}, {3, 50}, {50}}); }
/// By a constant, on either side: packed where more than a few rows come.
void constant(Net& n, const char* equation, const PartialShape& a, const Shape& b, bool left = false) {
  const auto x = n.input(a), w = n.weights(b);
  n.result(n.op("Einsum-7", left ? std::vector<int>{w, x} : std::vector<int>{x, w}, {{"equation", equation}}));
}
void constant_in_place(Net& n) { constant(n, "abc,cde->abde", {2, 9, 20}, {20, 3, 17}); }
void constant_left(Net& n) { constant(n, "cde,abc->abde", {2, 9, 20}, {20, 3, 17}, true); }
void constant_turned(Net& n) { constant(n, "abde,cde->abc", {2, 9, 3, 17}, {20, 3, 17}); }
/// Columns that the output has before the rows.
void constant_experts(Net& n) { constant(n, "td,edf->etf", {19, 20}, {4, 20, 35}); }
void constant_of_each(Net& n) { constant(n, "etf,efd->etd", {4, 19, 35}, {4, 35, 20}); }
void constant_experts_turned(Net& n) { constant(n, "btd,fged->bgetf", {2, 19, 20}, {33, 3, 4, 20}); }
/// Heads that are mixed: the constant had better be the left operand.
void constant_of_heads(Net& n) { constant(n, "bhij,hg->bgij", {2, 3, 9, 20}, {3, 3}); }
void constant_of_few_rows(Net& n) { constant(n, "td,edf->etf", {3, 20}, {4, 20, 35}); }
/// What repeats a label, or a length of 1, is for the reference kernel.
void others(Net& n) {
  product(n, "ab,ab->b", {5, 40}, {5, 40});
  product(n, "aab,bc->ac", {5, 5, 4}, {4, 3});
  product(n, "ab,bc->ac", {5, 1}, {4, 3});
  several(n, "ab,bc,cd->ac", {{3, 4}, {4, 5}, {5, 6}});
}

// clang-format off
constexpr Example kExamples[] = {
    {"einsum", in_place, kOnce},
    {"einsum", in_place, kOften, kOpen},
    {"einsum", transposed},
    {"einsum", transposed_left},
    {"einsum", permuted},
    {"einsum", several_sums_taken, kOnce},
    {"einsum", ellipsis, kOnce, kOpen},
    {"einsum", outer},
    {"einsum", dots},
    {"einsum", biaffine},
    {"einsum", biaffine, kOnce, kOpen},
    {"einsum", chain},
    {"einsum", last_first},
    {"einsum", constant_in_place},
    {"einsum", constant_in_place, kOften, kOpen},
    {"einsum", constant_left},
    {"einsum", constant_turned, kOften, kOpen},
    {"einsum", constant_experts, kOnce},
    {"einsum", constant_experts},
    {"einsum", constant_experts, kOften, kOpen},
    {"einsum", constant_of_each},
    {"einsum", constant_experts_turned},
    {"einsum", constant_of_heads},
    {"einsum", constant_of_heads, kOnce, kOpen},
    {"einsum", constant_of_few_rows},
    {"einsum", others},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"einsum", kExamples};

}  // namespace ovir::testing::patterns::einsum
