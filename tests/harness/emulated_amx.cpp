// The loops for AMX with tiles that are emulated, in place of the library's: so every machine with AVX-512's BF16 and
// VNNI tests them.
#include "harness/emulated_amx.hpp"

#include "fast/isa/narrow_avx512.cpp"

namespace ovir::fast {
bool has_tiles() { return true; }
}  // namespace ovir::fast
