#include "tensor/dispatch.hpp"

#include "diag/diagnostic.hpp"

namespace ovir {

void no_kernel(ElementType type) { fail(Code::E0604, "elements of type {} cannot be computed with", name(type)); }

}  // namespace ovir
