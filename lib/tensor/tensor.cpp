#include "tensor/tensor.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/quantity.hpp"
#include "diag/diagnostic.hpp"
#include "diag/over_memory.hpp"

namespace ovir {

namespace {

/// Where memory is over-committed the system refuses nothing and ends the process later.
i64 largest_tensor() {
  static const i64 limit = default_memory_limit();
  return limit;
}

i64 size_in_bytes(ElementType type, i64 count, const Shape& shape, bool packed) {
  const auto size = packed ? packed_size(type, count) : checked_mul(count, byte_width(type));
  if (!size) fail(Code::E0003, "a tensor {}{} is too large", name(type), to_string(shape));
  return *size;
}

}  // namespace

void wrong_access(ElementType type, bool packed, const std::type_info& cpp_type) {
  if (packed)
    throw std::logic_error(
        fmt::format("elements of type {} are packed: unpack the tensor before reading them", name(type)));
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(cpp_type.name(), nullptr, nullptr, nullptr), &std::free);
  throw std::logic_error(fmt::format("elements of type {} cannot be accessed as the C++ type \"{}\"", name(type),
                                     readable ? readable.get() : cpp_type.name()));
}

void Tensor::wrong_count(i64 given, const Shape& shape) {
  throw std::logic_error(
      fmt::format("a tensor of shape {} takes {} values, but {} are given", to_string(shape), shape.count(), given));
}

Tensor::Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)), size_(shape_.count()) {
  const auto bytes = size_in_bytes(type_, size_, shape_, false);
  byte_size_ = bytes;
  try {
    if (bytes > largest_tensor()) throw std::bad_alloc();
    auto storage = allocate(byte_size_);
    data_ = storage.get();
    owner_ = std::move(storage);
    allocated_ = true;
  } catch (const OverBudget& over) {
    throw over_memory(fmt::format("no memory for a tensor {}{} ({}): all tensors together may take {}", name(type_),
                                  to_string(shape_), size_text(bytes), size_text(over.limit)));
  } catch (const std::bad_alloc&) {
    fail(Code::E0003, "no memory for a tensor {}{} ({})", name(type_), to_string(shape_), size_text(bytes));
  }
  if (type_ == ElementType::string) std::uninitialized_default_construct_n(mutable_data<std::string_view>(), size_);
}

Tensor::Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data, bool packed)
    : type_(type),
      packed_(packed && bit_width(type) < 8),
      shape_(std::move(shape)),
      size_(shape_.count()),
      byte_size_(size_in_bytes(type_, size_, shape_, packed_)),
      owner_(std::move(owner)),
      data_(data) {}

/// What tensors share whose bytes are made when somebody asks for them.
struct Tensor::Deferred {
  Deferred(std::shared_ptr<const void> o, Tensor t, std::function<Tensor()> m = {})
      : owner(std::move(o)), from(std::move(t)), make(std::move(m)) {}

  std::shared_ptr<const void> owner;  ///< of misaligned bytes
  Tensor from;                        ///< what is converted; empty: they are made, or the bytes are copied
  std::function<Tensor()> make;
  mutable std::once_flag once;
  mutable Tensor made;
};

Tensor Tensor::anywhere(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data) {
  const bool packed = bit_width(type) < 8;
  const auto alignment = packed ? 1u : static_cast<unsigned>(std::max(1, byte_width(type)));
  const bool misaligned = reinterpret_cast<std::uintptr_t>(data) % alignment != 0;
  if (misaligned) owner = std::make_shared<const Deferred>(std::move(owner), Tensor());
  Tensor t(type, std::move(shape), std::move(owner), data, packed);
  t.deferred_ = misaligned;
  return t;
}

Tensor Tensor::deferred(ElementType type, Shape shape, std::function<Tensor()> make) {
  Tensor t(type, std::move(shape), std::make_shared<const Deferred>(nullptr, Tensor(), std::move(make)), nullptr);
  t.deferred_ = true;
  return t;
}

Tensor Tensor::widened(const Tensor& from) {
  Tensor t(ElementType::f32, from.shape_, std::make_shared<const Deferred>(nullptr, from), nullptr);
  t.deferred_ = true;
  return t;
}

const std::byte* Tensor::made_bytes() const {
  const auto& shared = *static_cast<const Deferred*>(owner_.get());
  std::call_once(shared.once, [&] {
    const auto& from = shared.from;
    if (shared.make) shared.made = shared.make();
    else shared.made = from ? convert(from.deferred_ ? from.copied() : from, type_) : copied();
  });
  return shared.made.bytes();
}

FilePart Tensor::file_part() const {
  if (!data_) return {};
  return {deferred_ ? static_cast<const Deferred*>(owner_.get())->owner : owner_, data_};
}

Tensor Tensor::apart() const {
  auto same = *this;
  if (!deferred_) return same;
  const auto& shared = *static_cast<const Deferred*>(owner_.get());
  same.owner_ = std::make_shared<const Deferred>(shared.owner, shared.from.apart(), shared.make);
  return same;
}

void Tensor::leave_pages() const {
  if (data_) file_part().leave_pages(byte_size_);
  else if (deferred_) static_cast<const Deferred*>(owner_.get())->from.leave_pages();
}

Tensor Tensor::scalar(i64 value) { return of<i64>(ElementType::i64, {}, {&value, 1}); }

Tensor Tensor::vector(std::span<const i64> values) { return of(ElementType::i64, {std::ssize(values)}, values); }

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
  if (shape.count() != size_)
    fail(Code::E0512, "{} elements of {} do not fit shape {}", size_, to_string(shape_), to_string(shape));
  Tensor same = *this;
  same.shape_ = std::move(shape);
  return same;
}

Tensor Tensor::adopt(ElementType type, Shape shape, std::shared_ptr<const void> owner, const std::byte* data) {
  Tensor t(type, std::move(shape), std::move(owner), data);
  t.allocated_ = true;
  return t;
}

Tensor Tensor::borrowed() const {
  Tensor same = *this;
  same.allocated_ = false;
  return same;
}

Tensor Tensor::copied() const {
  if (!owner_) return {};
  if (packed_) return unpacked();
  Tensor copy(type_, shape_);
  if (type_ == ElementType::string) {
    std::copy_n(data<std::string_view>(), size_, copy.mutable_data<std::string_view>());
    copy.keep_alive(*this);
  } else if (byte_size_ > 0) {
    std::memcpy(copy.mutable_bytes(), source(), byte_size_);
  }
  return copy;
}

void Tensor::keep_alive(const Tensor& other) {
  if (other.owner_ == nullptr || other.owner_ == owner_) return;
  if (deferred_) throw std::logic_error("a tensor whose bytes are still to be made keeps nothing alive");
  allocated_ = exclusive();
  owner_ = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(owner_, other.owner_);
}

}  // namespace ovir
