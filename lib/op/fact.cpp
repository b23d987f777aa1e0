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

bool same_bounds(const Fact& a, const Fact& b) {
  if (!a.bounds || !b.bounds) return !a.bounds && !b.bounds;
  return a.bounds == b.bounds || std::equal(a.bounds->begin(), a.bounds->end(), b.bounds->begin(), b.bounds->end(),
                                            [](const Interval& x, const Interval& y) {
                                              return x.lo == y.lo && x.hi == y.hi && x.symbol == y.symbol;
                                            });
}

}  // namespace

Fact merge(const Fact& a, const Fact& b) {
  Fact both;
  both.type = a.type == b.type ? a.type : ElementType::dynamic;
  both.shape = hull(a.shape, b.shape);
  if (a.value && same_value(a.value, b.value)) both.value = a.value;
  if (a.bounds && same_bounds(a, b)) both.bounds = a.bounds;
  return both;
}

bool same(const Fact& a, const Fact& b) {
  const auto symbols = [](const Dim& x, const Dim& y) { return x == y && x.symbol == y.symbol; };
  return a.type == b.type && a.shape.has_rank() == b.shape.has_rank() &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(), symbols) &&
         same_value(a.value, b.value) && same_bounds(a, b);
}

}  // namespace ovir
