// What --dump-stats tells of tensors.
#pragma once
#include <string>
#include <vector>

#include "render/json.hpp"
#include "watch.hpp"

namespace ovir::app {

/// A table, a row a tensor.
std::string statistics_text(const std::vector<StatisticsWatch::Row>& rows);
Json statistics_json(const std::vector<StatisticsWatch::Row>& rows);
/// Of one tensor: a line for each number.
std::string statistics_text(const tools::Statistics& statistics, ElementType type);
Json statistics_json(const tools::Statistics& statistics, ElementType type);

}  // namespace ovir::app
