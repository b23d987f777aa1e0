// Slices: `ovir tensor FILE[...]`, on tensors whose elements are their own places.
#include <numeric>
#include <stdexcept>
#include <vector>

#include "fuzz.hpp"
#include "tensor/tensor.hpp"
#include "tools/slice.hpp"

using namespace ovir;

namespace {

Tensor places(const Shape& shape) {
  std::vector<i64> values(static_cast<std::size_t>(shape.count()));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::of<i64>(ElementType::i64, shape, values);
}

}  // namespace

void fuzz_one(std::string_view input) {
  static const std::vector<Tensor> tensors{places({}), places({7}), places({2, 3, 5}), places({4, 0, 3}),
                                           places(Shape(9, 2))};
  for (const auto& whole : tensors) {
    try {
      const auto part = tools::slice(whole, input);
      promise(part.type() == whole.type() && part.rank() <= whole.rank(), "a slice has no more axes than the whole");
      std::vector<bool> seen(static_cast<std::size_t>(whole.size()), false);
      for (const auto place : part.values<i64>()) {
        promise(0 <= place && place < whole.size(), "an element of a slice is one of the whole");
        promise(!seen[static_cast<std::size_t>(place)], "no element comes twice");
        seen[static_cast<std::size_t>(place)] = true;
      }
    } catch (const std::invalid_argument& error) {
      promise(*error.what() != '\0', "a refusal has a message");
    }
  }
}
