#include "render/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "render/columns.hpp"

namespace ovir::app {
namespace {

using Row = StatisticsWatch::Row;

/// "loop/body/relu.1@it=2".
std::string place(const Row& row) {
  auto text = printable(row.what.model->path + row.what.producer->layer->name);
  if (row.what.producer->output_count > 1) text += fmt::format(".{}", row.what.port);
  for (std::size_t i = 0; i < row.what.iterations.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "@it=" : ".", row.what.iterations[i]);
  return text;
}

/// The histogram in block elements; a bin that holds anything shows it.
std::string bars(const tools::Statistics& s) {
  constexpr std::array<std::string_view, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto max = *std::max_element(s.histogram.begin(), s.histogram.end());
  std::string text;
  for (const auto n : s.histogram)
    text += blocks[n == 0 ? 0 : 1 + static_cast<std::size_t>(7.0 * static_cast<double>(n) / static_cast<double>(max))];
  return text;
}

bool has_numbers(const tools::Statistics& s, ElementType type) { return type != ElementType::string && s.finite() > 0; }

std::string number(double v) { return fmt::format("{:.6g}", v); }

}  // namespace

std::string statistics_text(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> table{
      {"layer", "type", "min", "max", "mean", "std", "nan", "inf", "crc32", "histogram"}};
  for (const auto& row : rows) {
    const auto& s = row.statistics;
    std::vector<std::string> line{place(row), fmt::format("{}{}", name(row.stored), to_string(row.shape))};
    const bool numbers = has_numbers(s, row.stored);
    for (const double v : {s.min, s.max, s.mean, s.deviation}) line.push_back(numbers ? number(v) : "-");
    line.push_back(std::to_string(s.nan));
    line.push_back(std::to_string(s.positive_infinite + s.negative_infinite));
    line.push_back(fmt::format("{:08x}", s.digest));
    line.push_back(numbers ? bars(s) : "");
    table.push_back(std::move(line));
  }
  return columns_text(table, "llrrrrrrll");
}

Json statistics_json(const tools::Statistics& s, ElementType type) {
  Json json{{"count", s.count}};
  if (has_numbers(s, type)) {
    json["min"] = s.min;
    json["max"] = s.max;
    json["mean"] = s.mean;
    json["std"] = s.deviation;
    json["zeros"] = s.zero;
    json["histogram"] = s.histogram;
  }
  json["nan"] = s.nan;
  json["inf"] = {s.negative_infinite, s.positive_infinite};
  json["crc32"] = fmt::format("{:08x}", s.digest);
  return json;
}

std::string statistics_text(const tools::Statistics& s, ElementType type) {
  std::vector<std::vector<std::string>> rows{{"count", std::to_string(s.count)}};
  if (has_numbers(s, type)) {
    rows.push_back({"min", number(s.min)});
    rows.push_back({"max", number(s.max)});
    rows.push_back({"mean", number(s.mean)});
    rows.push_back({"std", number(s.deviation)});
    rows.push_back({"zeros", std::to_string(s.zero)});
  }
  if (s.nan > 0) rows.push_back({"nan", std::to_string(s.nan)});
  if (s.positive_infinite > 0) rows.push_back({"inf", std::to_string(s.positive_infinite)});
  if (s.negative_infinite > 0) rows.push_back({"-inf", std::to_string(s.negative_infinite)});
  rows.push_back({"crc32", fmt::format("{:08x}", s.digest)});
  if (has_numbers(s, type)) rows.push_back({"histogram", bars(s)});
  return columns_text(rows, "ll");
}

Json statistics_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    const auto& layer = *row.what.producer->layer;
    Json entry{{"layer_id", id_json(layer.id_text)},
               {"layer", row.what.model->path + layer.name},
               {"type", layer.type},
               {"port", row.what.port}};
    if (!row.what.iterations.empty()) entry["iterations"] = row.what.iterations;
    entry["element_type"] = name(row.what.declared == ElementType::dynamic ? row.stored : row.what.declared);
    entry["computed_in"] = name(row.stored);
    entry["shape"] = row.shape;
    entry.update(statistics_json(row.statistics, row.stored));
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace ovir::app
