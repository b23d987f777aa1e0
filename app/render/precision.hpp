// What --check-range and --simulate tell of narrower float types.
#pragma once
#include <string>
#include <vector>

#include "render/json.hpp"
#include "tools/ranges.hpp"
#include "tools/simulate.hpp"

namespace ovir::app {

/// A table for each type, a row a layer.
std::string ranges_text(const tools::RangeWatch& watch);
Json ranges_json(const tools::RangeWatch& watch);

/// The layers by the damage that rounding each alone does; `together`: that of all.
std::string damage_text(const std::vector<tools::LayerDamage>& ranked, const tools::Damage& together);
Json damage_json(const std::vector<tools::LayerDamage>& ranked, const tools::Damage& together);

}  // namespace ovir::app
