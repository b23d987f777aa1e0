// Attributes that converters have written although the operation has none of that name. They have no effect.
#pragma once
#include <string_view>

namespace ovir {

/// Whether a converter is known to write `attribute` for layers of `type`.
bool is_leftover(std::string_view type, std::string_view attribute);

}  // namespace ovir
