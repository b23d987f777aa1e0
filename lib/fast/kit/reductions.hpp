// Which operations reduce f32 values.
#pragma once
#include <optional>
#include <string_view>

#include "fast/kernels/reduction/reduce.hpp"

namespace ovir::fast {

std::optional<Reduction> reduction_of(std::string_view type);

}  // namespace ovir::fast
