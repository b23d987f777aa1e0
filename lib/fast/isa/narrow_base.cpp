// For any machine: vectors of four by the compiler's own types.
#include "fast/isa/narrow.hpp"

namespace ovir::fast {
namespace {
#include "fast/isa/vector_base.inl"
// These use the vectors.
#include "fast/isa/narrow_plain.inl"
// These use narrow_plain.inl.
#include "fast/isa/narrow.inl"
}  // namespace
extern const NarrowTable kNarrowBaseTable = narrow_table("baseline");
}  // namespace ovir::fast
