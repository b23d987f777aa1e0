#include "op/fact.hpp"

#include <algorithm>
#include <cstring>

namespace ovir {
namespace {

bool same_value(const Tensor& a, const Tensor& b) {
  if (!a || !b) return !a && !b;
  if (a.type() != b.type() || a.shape() != b.shape() || a.packed() != b.packed()) return false;
  return a.bytes() == b.bytes() ||
         (a.type() != ElementType::string && std::memcmp(a.bytes(), b.bytes(), a.byte_size()) == 0);
}

}  // namespace

Fact merge(const Fact& a, const Fact& b) {
  Fact both;
  both.type = a.type == b.type ? a.type : ElementType::dynamic;
  both.shape = hull(a.shape, b.shape);
  if (a.value && same_value(a.value, b.value)) both.value = a.value;
  if (a.bounds && a.bounds == b.bounds) both.bounds = a.bounds;
  return both;
}

bool same(const Fact& a, const Fact& b) {
  const auto symbols = [](const Dim& x, const Dim& y) { return x == y && x.symbol == y.symbol; };
  return a.type == b.type && a.shape.has_rank() == b.shape.has_rank() &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(), symbols) &&
         same_value(a.value, b.value) && a.bounds == b.bounds;
}

}  // namespace ovir
