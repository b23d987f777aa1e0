#include "tensor/tensor.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/checked.hpp"
#include "diag/diagnostic.hpp"

namespace ovir {

namespace {

/// What a tensor may take at most: where memory is over-committed the system refuses nothing and ends the process
/// later.
std::int64_t most_bytes() {
  static const std::int64_t most = [] {
    const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page > 0 ? checked_mul(pages, page).value_or(INT64_MAX) : INT64_MAX;
  }();
  return most;
}

std::int64_t size_in_bytes(ElementType type, std::int64_t count, const Shape& shape, bool packed) {
  const auto size = packed ? packed_size(type, count) : checked_mul(count, byte_width(type));
  if (!size) fail(Code::E0003, "a tensor {}{} is too large", name(type), to_string(shape));
  return *size;
}

}  // namespace

std::int64_t element_count(const Shape& shape) {
  if (static_cast<std::int64_t>(shape.size()) > kMaxRank)
    fail(Code::E0003, "a tensor has {} axes, more than the {} that are supported", shape.size(), kMaxRank);
  const auto n = checked_product(shape);
  if (!n) fail(Code::E0003, "the number of elements of shape {} is not a 64-bit number", to_string(shape));
  return *n;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  // A product that overflows belongs to a shape without elements: nobody follows such a stride.
  for (auto i = shape.size(); i-- > 1;) strides[i - 1] = checked_mul(strides[i], shape[i]).value_or(0);
  return strides;
}

Tensor::Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)), size_(element_count(shape_)) {
  const auto bytes = size_in_bytes(type_, size_, shape_, false);
  byte_size_ = static_cast<std::size_t>(bytes);
  try {
    if (bytes > most_bytes()) throw std::bad_alloc();
    auto storage = allocate(byte_size_);
    data_ = storage.get();
    owner_ = std::move(storage);
  } catch (const std::bad_alloc&) {
    fail(Code::E0003, "no memory for a tensor {}{} of {} bytes", name(type_), to_string(shape_), bytes);
  }
  if (type_ == ElementType::string) std::uninitialized_default_construct_n(mutable_data<std::string_view>(), size_);
}

Tensor::Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data, bool packed)
    : type_(type),
      packed_(packed && bit_width(type) < 8),
      shape_(std::move(shape)),
      size_(element_count(shape_)),
      byte_size_(static_cast<std::size_t>(size_in_bytes(type_, size_, shape_, packed_))),
      owner_(std::move(owner)),
      data_(data) {}

Tensor Tensor::i64(std::int64_t value) { return of<std::int64_t>(ElementType::i64, {}, {&value, 1}); }

Tensor Tensor::i64(const std::vector<std::int64_t>& values) {
  return of<std::int64_t>(ElementType::i64, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor Tensor::strings(Shape shape, const std::vector<std::string>& values) {
  Tensor t(ElementType::string, std::move(shape));
  auto kept = std::make_shared<const std::vector<std::string>>(values);
  std::copy_n(kept->begin(), std::min(kept->size(), static_cast<std::size_t>(t.size_)),
              t.mutable_data<std::string_view>());
  t.owner_ = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(std::move(t.owner_),
                                                                                                   std::move(kept));
  return t;
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != size_)
    fail(Code::E0512, "{} elements of {} do not fit shape {}", size_, to_string(shape_), to_string(shape));
  Tensor same = *this;
  same.shape_ = std::move(shape);
  return same;
}

void Tensor::keep_alive(const Tensor& other) {
  if (other.owner_ == nullptr || other.owner_ == owner_) return;
  owner_ = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(owner_, other.owner_);
}

}  // namespace ovir
