#include "render/profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "base/text.hpp"

namespace ovir::app {
namespace {

/// A row of the table: a step, or the sum of several.
struct Row {
  std::string name, what;
  i64 calls = 0;
  double ms = 0, flops = 0, bytes = 0;
};

/// Names are parted at '/' and, as PyTorch's are, at '.'.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts{""};
  for (const char c : name) {
    if (c == '/' || c == '.') parts.emplace_back();
    else parts.back() += c;
  }
  std::erase(parts, "");
  return parts.empty() ? std::vector{name} : parts;
}

std::string prefix_of(const std::string& name, int depth) {
  std::string prefix;
  const auto parts = parts_of(name);
  for (i64 i = 0; i < std::ssize(parts) && i < depth; ++i) prefix += (i ? "/" : "") + parts[i];
  return prefix;
}

std::vector<Row> rows_of(const ProfileReport& report, ProfileBy by, int depth) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> known;
  for (const auto& s : report.steps) {
    if (by == ProfileBy::layer) {
      const auto more = s.layers.size() > 1 ? fmt::format(" +{}", s.layers.size() - 1) : "";
      rows.push_back({s.name + more, s.kernel, s.calls / std::max<i64>(report.rounds, 1), s.ms, s.flops, s.bytes});
      continue;
    }
    const auto key = by == ProfileBy::type ? s.type : prefix_of(s.name, depth);
    const auto [at, is_new] = known.emplace(key, rows.size());
    if (is_new) rows.push_back({key, "", 0, 0, 0, 0});
    auto& row = rows[at->second];
    row.calls += s.calls / std::max<i64>(report.rounds, 1);
    row.ms += s.ms;
    row.flops += s.flops;
    row.bytes += s.bytes;
  }
  return rows;
}

double total_of(const ProfileReport& report) {
  double total = 0;
  for (const auto& s : report.steps) total += s.ms;
  return total;
}

double per_second(double amount, double ms) { return ms > 0 ? amount / ms * 1000 : 0; }

Json rows_json(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back({{"name", row.name}, {"calls", row.calls}, {"ms", row.ms}});
  return list;
}

std::string cell(double value, double scale, const char* unit) {
  return value > 0 ? fmt::format("{:.1f} {}", value / scale, unit) : "";
}

}  // namespace

std::string profile_text(const ProfileReport& report, ProfileBy by, int depth, std::string_view sort, i64 top,
                         const Style& style) {
  auto rows = rows_of(report, by, depth);
  if (sort == "time") std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.ms > b.ms; });
  if (sort == "name") std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.name < b.name; });
  const auto total = total_of(report);
  const auto unit = time_unit(total);
  auto text = fmt::format(
      "{} in {}, {} at best, {} in the median; peak {:.0f} GFLOP/s, {:.1f} GB/s\n"
      "{:>8}      %        GFLOP/s  peak         GB/s  peak  calls\n",
      counted(report.rounds, "round"), counted(report.threads, "thread"), duration_text(report.min_ms),
      duration_text(report.median_ms), report.peak_flops / 1e9, report.peak_bytes / 1e9, unit.name);
  i64 shown = 0;
  for (const auto& row : rows) {
    if (top > 0 && shown++ >= top) break;
    const auto flops = per_second(row.flops, row.ms), bytes = per_second(row.bytes, row.ms);
    const auto share = [](double value, double max) {
      return value > 0 ? fmt::format("{:.0f}%", value / max * 100) : "";
    };
    // More arithmetic than the machine does in that time, and not by the errors of measuring: the kernel has less to do
    // than the layer's formula. More bytes than memory gives: they lay in a cache.
    const auto of_flops =
        flops > report.peak_flops * 1.25 ? "fewer" : share(std::min(flops, report.peak_flops), report.peak_flops);
    const auto of_bytes = bytes > report.peak_bytes ? "cache" : share(bytes, report.peak_bytes);
    text += fmt::format("{:8.3f}  {:4.1f}%  {:>13} {:>5}  {:>11} {:>5}  {:5}  {}", row.ms * unit.per_ms,
                        total > 0 ? row.ms / total * 100 : 0, cell(flops, 1e9, ""), of_flops, cell(bytes, 1e9, ""),
                        of_bytes, row.calls, printable(row.name));
    if (!row.what.empty()) text += "  " + style(Paint::dim, row.what);
    text += '\n';
  }
  if (shown < std::ssize(rows) && top > 0) text += fmt::format("{} more\n", std::ssize(rows) - top);
  return text;
}

Json profile_json(const ProfileReport& report, int depth) {
  Json steps = Json::array();
  for (const auto& s : report.steps)
    steps.push_back({{"name", s.name},
                     {"type", s.type},
                     {"kernel", s.kernel},
                     {"layers", s.layers},
                     {"calls", s.calls / std::max<i64>(report.rounds, 1)},
                     {"ms", s.ms},
                     {"gflops", per_second(s.flops, s.ms) / 1e9},
                     {"gbytes_per_second", per_second(s.bytes, s.ms) / 1e9}});
  return {{"schema", 1},
          {"threads", report.threads},
          {"rounds", report.rounds},
          {"min_ms", report.min_ms},
          {"median_ms", report.median_ms},
          {"peak_gflops", report.peak_flops / 1e9},
          {"peak_gbytes_per_second", report.peak_bytes / 1e9},
          {"layers", std::move(steps)},
          {"by_type", rows_json(rows_of(report, ProfileBy::type, depth))},
          {"by_prefix", rows_json(rows_of(report, ProfileBy::prefix, depth))}};
}

std::string profile_trace(const ProfileReport& report) {
  Json events = Json::array();
  for (const auto& t : report.trace) {
    const auto& s = report.steps[t.step];
    events.push_back({{"name", s.name},
                      {"cat", s.type},
                      {"ph", "X"},
                      {"ts", t.begin},
                      {"dur", t.took},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"kernel", s.kernel}, {"layers", s.layers}}}});
  }
  return json_text({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}, 2);
}

std::string profile_folded(const ProfileReport& report) {
  std::string text;
  for (const auto& s : report.steps) {
    std::string stack;
    for (const auto& part : parts_of(printable(s.name))) stack += (stack.empty() ? "" : ";") + part;
    std::replace(stack.begin(), stack.end(), ' ', '_');
    text += fmt::format("{} {}\n", stack, std::max<i64>(std::llround(s.ms * 1000), 1));
  }
  return text;
}

std::vector<Slower> slower_than(const ProfileReport& report, const Json& baseline, double percent) {
  std::vector<Slower> list;
  const auto slower = [&](double before, double now) { return now > before * (1 + percent / 100); };
  const auto before = baseline.at("min_ms").get<double>();
  std::map<std::string, double> known;
  for (const auto& layer : baseline.at("layers"))
    known[layer.at("name").get<std::string>()] += layer.at("ms").get<double>();
  if (!slower(before, report.min_ms)) return {};
  for (const auto& s : report.steps)
    if (const auto at = known.find(s.name); at != known.end() && slower(at->second, s.ms))
      list.push_back({s.name, at->second, s.ms});
  std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.now - a.before > b.now - b.before; });
  list.insert(list.begin(), {"the inference", before, report.min_ms});
  return list;
}

}  // namespace ovir::app
