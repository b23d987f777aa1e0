#include "render/outputs.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "cli.hpp"
#include "io/files.hpp"
#include "render/array.hpp"

namespace ovir::app {
namespace {

constexpr i64 kPrinted = 64;
constexpr i64 kRows = 16;  // of --top: an output may have thousands

struct Ranked {
  i64 row, index;
  double value;
  std::optional<i64> whole;  ///< where the element type is one of integers
};

/// "nan", "inf" or "-inf"; empty for a finite number.
std::string unusual(double value) {
  if (std::isnan(value)) return "nan";  // its sign says nothing
  return std::isinf(value) ? fmt::format("{}", value) : "";
}

bool can_rank(const Tensor& t) { return t.type() != ElementType::string && t.size() > 0 && t.rank() > 0; }

/// The axis that holds the classes: the last one longer than 1, as in [1,1000,1,1].
i64 class_axis(const Tensor& t) {
  auto axis = t.rank() - 1;
  while (axis > 0 && t.dim(axis) == 1) --axis;
  return t.dim(axis) == 1 ? t.rank() - 1 : axis;
}

/// The largest values of each row of that axis; the axes behind it have length 1, so that a row is contiguous.
std::vector<Ranked> rank_rows(const Tensor& t, i64 top) {
  const auto values = to_f64(t);
  const auto integers = contains(kInteger, t.type()) ? to_i64(t) : std::vector<i64>();
  const auto length = t.dim(class_axis(t));
  std::vector<Ranked> list;
  for (i64 row = 0; row < std::min(kRows, t.size() / length); ++row)
    for (const auto i : largest(values, row, length, top)) {
      const auto at = row * length + i;
      list.push_back({row, i, values[at], integers.empty() ? std::nullopt : std::optional(integers[at])});
    }
  return list;
}

std::string label(const std::vector<std::string>& labels, i64 index) {
  return index < std::ssize(labels) ? labels[index] : "";
}

std::string top_text(const Tensor& t, i64 top, const std::vector<std::string>& labels) {
  std::string out;
  const auto rows = t.size() / t.dim(class_axis(t));
  i64 row = -1;
  for (const auto& r : rank_rows(t, top)) {
    if (rows > 1 && r.row != row) out += fmt::format("  row {}\n", row = r.row);
    auto value = r.whole ? std::to_string(*r.whole) : unusual(r.value);
    if (value.empty()) value = fmt::format("{:.6g}", r.value);
    out += fmt::format("{:>7}  {:<12}{}", r.index, value, printable(label(labels, r.index)));
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  if (rows > kRows) out += fmt::format("  ... and {} more rows\n", rows - kRows);
  return out;
}

}  // namespace

std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  const auto file = io::open_file(path);
  for (const auto line : split(file.text(), '\n')) labels.emplace_back(trim(line));
  if (labels.back().empty()) labels.pop_back();  // behind the last line's end
  return labels;
}

std::string count_of_labels(const std::vector<Produced>& outputs, const std::vector<std::string>& labels) {
  if (labels.empty()) return {};
  std::string text;
  for (const auto& o : outputs) {
    if (!can_rank(o.value)) continue;
    const auto classes = o.value.dim(class_axis(o.value));
    if (classes == std::ssize(labels)) return {};
    if (text.empty())
      text = fmt::format("--labels: the file has {}, but \"{}\" has {}", counted(labels.size(), "label"),
                         printable(o.key), counted(classes, "element"));
  }
  return text;
}

std::string outputs_text(const std::vector<Produced>& outputs, i64 top, const std::vector<std::string>& labels,
                         const Style& style) {
  std::string out;
  for (const auto& o : outputs) {
    out += fmt::format("{} {}{}\n", style(Paint::bold, printable(o.key) + ":"), name(o.value.type()),
                       to_string(o.value.shape()));
    if (top > 0 && can_rank(o.value)) out += top_text(o.value, top, labels);
    else if (o.value.size() <= kPrinted) out += array_text(o.value) + "\n";
    else if (o.value.type() == ElementType::string) out += counted(o.value.size(), "string") + "\n";
    else out += summary_text(summarise(o.value)) + "\n";
  }
  return out;
}

Json outputs_json(const std::vector<Produced>& outputs, i64 top, const std::vector<std::string>& labels) {
  Json list = Json::array();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& o = outputs[k];
    Json entry{{"index", k}, {"key", o.key}};
    entry.update(describe(o, {}));
    if (top > 0 && can_rank(o.value)) {
      Json ranked = Json::array();
      for (const auto& r : rank_rows(o.value, top)) {
        const auto odd = unusual(r.value);
        auto value = odd.empty() ? Json(r.value) : Json(odd);
        if (r.whole) value = *r.whole;
        ranked.push_back({{"row", r.row}, {"index", r.index}, {"value", value}});
        if (!labels.empty()) ranked.back()["label"] = label(labels, r.index);
      }
      entry["top"] = std::move(ranked);
    } else if (o.value.size() <= kPrinted) {
      entry["values"] = values_json(o.value);
    } else if (o.value.type() != ElementType::string) {
      const auto s = summarise(o.value);
      const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(); };
      entry["summary"] = {{"min", number(s.min)},
                          {"max", number(s.max)},
                          {"mean", number(s.mean)},
                          {"nan", s.nan},
                          {"infinite", s.infinite}};
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace ovir::app
