// For any machine.
#include "fast/isa/lines.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kVectorBytes = 16;
using Ranks = std::int32_t __attribute__((vector_size(32)));
inline void lesser(const Ranks& a, const Ranks& b, Ranks& to) { to = a < b ? a : b; }
inline void larger(const Ranks& a, const Ranks& b, Ranks& to) { to = a > b ? a : b; }
using Fours = double __attribute__((vector_size(32)));
using FourWords = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
inline void widen(FourFloats x, Fours& to) { to = __builtin_convertvector(x, Fours); }

using Pairs = std::uint64_t __attribute__((vector_size(kVectorBytes)));
inline Pairs low_products(Pairs a, Pairs b) { return (a & 0xffffffff) * (b & 0xffffffff); }

#include "fast/isa/lines.inl"

}  // namespace

extern const LineTable kLinesBaseTable = line_table();

}  // namespace ovir::fast
