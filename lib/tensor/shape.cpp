#include "tensor/shape.hpp"

#include "base/checked.hpp"
#include "diag/diagnostic.hpp"

namespace ovir {

i64 Shape::count() const {
  if (rank() > kMaxRank)
    fail(Code::E0003, "a tensor has {} axes, more than the {} that are supported", rank(), kMaxRank);
  const auto n = checked_product(*this);
  if (!n) fail(Code::E0003, "the number of elements of shape {} is not a 64-bit number", to_string(*this));
  return *n;
}

void Shape::push_back(i64 value) {
  if (many_.empty() && few_size_ < kInline) {
    few_[few_size_++] = value;
    return;
  }
  if (many_.empty()) {
    many_.assign(few_.begin(), few_.end());
    few_size_ = 0;
  }
  many_.push_back(value);
}

void Shape::resize(i64 rank, i64 value) {
  if (many_.empty() && rank <= kInline) {
    for (; few_size_ < rank; ++few_size_) few_[few_size_] = value;
    few_size_ = static_cast<int>(rank);
    return;
  }
  if (many_.empty()) {
    many_.assign(begin(), end());
    few_size_ = 0;
  }
  many_.resize(rank, value);
}

i64* Shape::erase(const i64* first, const i64* last) {
  const auto position = first - begin();
  const auto removed = last - first;
  std::copy(last, static_cast<const i64*>(end()), begin() + position);
  resize(rank() - removed);
  return begin() + position;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.rank(), 1);
  // A product that overflows belongs to a shape without elements: nobody follows such a stride.
  for (i64 i = shape.rank() - 1; i > 0; --i) strides[i - 1] = checked_mul(strides[i], shape[i]).value_or(0);
  return strides;
}

}  // namespace ovir
