#include "tensor/dispatch.hpp"

#include "diag/diagnostic.hpp"

namespace ovir {

void no_kernel(ElementType type) { fail(Code::E0604, "there is no kernel for elements of type {}", name(type)); }

}  // namespace ovir
