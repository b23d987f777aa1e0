// Values as they are stored between kernels, and as those want them who look on: row-major, in a type that holds what
// the model says.
#pragma once
#include <optional>

#include "base/thread_pool.hpp"
#include "plan/plan.hpp"
#include "tensor/copy.hpp"
#include "tensor/tensor.hpp"

namespace ovir {

/// Of a value that is stored blocked, or in fewer bits than f32: row-major f32. Any other tensor as it is. `shape` is
/// the value's, known where it is blocked.
Tensor as_declared(const Value& value, const Tensor& stored, const std::optional<Shape>& shape);
/// The type of what as_declared() gives.
ElementType type_as_declared(const Value& value);
/// The same of floats that are not stored as the value is: a Constant as its file has it, or what a kernel that widens
/// its operand itself takes from before the Convert.
Tensor widened_as_declared(const Value& value, const Tensor& tensor);
/// The other way; a number that the stored type does not have is rounded.
Tensor as_stored(const Value& value, const Tensor& declared);

/// convert_into(), by all threads where there is much to convert.
void convert_into(const Tensor& given, Tensor& out, ThreadPool& pool);

}  // namespace ovir
