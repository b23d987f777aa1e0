// Transposition: dims in another order.
#pragma once
#include <cstdint>
#include <span>

#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y's dim i is x's dim order[i]. At most 8 dims. Runs that stay together are copied, two axes that change places are
/// transposed in squares.
void permute(std::span<const i64> dims, std::span<const i64> order, const float* x, float* y, ThreadPool& pool);
/// The same of bytes where two to four of them, as the channels of pixels, come apart or together; false, and nothing
/// is written, otherwise.
bool permute_pixels(std::span<const i64> dims, std::span<const i64> order, const std::uint8_t* x, std::uint8_t* y,
                    ThreadPool& pool);

}  // namespace ovir::fast
