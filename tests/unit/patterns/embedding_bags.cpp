#include <vector>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::embedding_bags {
namespace {

template <class T>
int whole(Net& n, ElementType type, const Shape& shape, const std::vector<T>& values) {
  Tensor t(type, shape);
  std::copy(values.begin(), values.end(), t.mutable_data<T>());
  return n.constant(t);
}
int wide(Net& n, const Shape& shape, const std::vector<i64>& values) {
  return whole(n, ElementType::i64, shape, values);
}
int narrow(Net& n, const Shape& shape, const std::vector<std::int32_t>& values) {
  return whole(n, ElementType::i32, shape, values);
}

int table(Net& n) { return passing(n, n.input({9, 21})); }

void packed(Net& n) {
  n.result(n.op("EmbeddingBagPackedSum-3", {table(n), wide(n, {3, 4}, {0, 8, 2, 2, 5, 1, 0, 3, 7, 7, 7, 6})}));
}
void weighted(Net& n) {
  n.result(n.op("EmbeddingBagPackedSum-3", {table(n), narrow(n, {3, 2}, {0, 8, 2, 5, 1, 3}), n.input({3, 2})}));
}
void means_of_rows(Net& n) {
  n.result(n.op("EmbeddingBagPacked-15", {n.input({5, 3, 7}), wide(n, {2, 3}, {4, 0, 2, 1, 1, 3})},
                {{"reduction", "mean"}}));
}
/// More than 64 rows in one of them, and none in another.
void offsets(Net& n) {
  std::vector<i64> rows;
  for (i64 i = 0; i < 90; ++i) rows.push_back(i * 5 % 9);
  n.result(n.op("EmbeddingBagOffsetsSum-3", {table(n), wide(n, {90}, rows), wide(n, {4}, {0, 5, 5, 90})}));
}
void default_of_empty(Net& n) {
  n.result(n.op("EmbeddingBagOffsetsSum-3",
                {table(n), narrow(n, {4}, {3, 1, 8, 8}), narrow(n, {3}, {0, 2, 2}), narrow(n, {}, {6}), n.input({4})}));
}
void means_of_offsets(Net& n) {
  n.result(n.op("EmbeddingBagOffsets-15", {table(n), wide(n, {5}, {3, 1, 8, 8, 0}), wide(n, {3}, {0, 3, 5})},
                {{"reduction", "mean"}}));
}
/// Nothing is in the second and in the last one.
void segments(Net& n) {
  n.result(n.op("EmbeddingSegmentsSum-3", {table(n), wide(n, {5}, {3, 1, 8, 8, 0}), wide(n, {5}, {0, 0, 2, 2, 2}),
                                           wide(n, {}, {4}), wide(n, {}, {7}), n.input({5})}));
}
void segments_without_default(Net& n) {
  n.result(n.op("EmbeddingSegmentsSum-3",
                {table(n), narrow(n, {3}, {3, 1, 8}), narrow(n, {3}, {0, 2, 2}), narrow(n, {}, {4})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"embedding_bags", packed},
    {"embedding_bags", packed, kOnce},
    {"embedding_bags", weighted},
    {"embedding_bags", means_of_rows},
    {"embedding_bags", offsets},
    {"embedding_bags", default_of_empty},
    {"embedding_bags", means_of_offsets},
    {"embedding_bags", segments},
    {"embedding_bags", segments_without_default},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"embedding_bags", kExamples};

}  // namespace ovir::testing::patterns::embedding_bags
