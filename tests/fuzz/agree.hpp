// Whether two ways to run gave the same.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "harness/ways.hpp"

namespace fuzz {

/// What a run came to: results, or the code of its Failure; neither where it took more than a target gives.
struct Outcome {
  std::vector<ovir::Tensor> results{};
  std::optional<ovir::Code> code{};
  std::string message{};
  bool cut = false;
};

/// Ends a run whose loops take too many steps.
class Steps : public ovir::Observer {
 public:
  bool wants(const ovir::Model& model, int) override { return !model.path.empty(); }
  ovir::Verdict after(ovir::Event&) override { return ++steps_ > 2000 ? ovir::Verdict::stop : ovir::Verdict::go_on; }

 private:
  int steps_ = 0;
};

/// `computed`: layers whose values inference knows are computed all the same.
inline Outcome outcome(const std::shared_ptr<const ovir::Model>& model, const ovir::Facts& facts,
                       const ovir::testing::Way& way, bool computed, std::span<const ovir::Tensor> inputs) {
  Outcome o;
  auto options = ovir::testing::options_of(way, computed);
  options.runtime = {.threads = 1, .memory = 256 << 20, .time = std::chrono::seconds(10)};
  try {
    Steps steps;
    auto session = ovir::compile(model, facts, options);
    if (way.tier == ovir::Tier::fast) {
      Steps before;
      ovir::testing::run_with_other_data(session, inputs, &before);
    }
    o.results = session.run(inputs, &steps);
    o.cut = session.stopped();
  } catch (const ovir::Failure& failure) {
    o.cut = failure.diagnostic.code == ovir::Code::E0003;
    o.code = failure.diagnostic.code;
    o.message = failure.diagnostic.message;
  }
  return o;
}

/// Empty where the values agree: types and shapes the same, integers equal, floats within 1e-4 of the largest of their
/// tensor, which is what lib/fast/README.md promises, or of `floor` where all of them are smaller. Terms of a sum that
/// are below the least normal number of f32 may be flushed to 0.
inline std::string difference(const ovir::Tensor& a, const ovir::Tensor& b, bool values, double floor = 0) {
  using namespace ovir;
  if (a.type() != b.type() || a.shape() != b.shape())
    return fmt::format("{}{} and {}{}", name(a.type()), to_string(a.shape()), name(b.type()), to_string(b.shape()));
  if (!values) return "";
  if (a.type() == ElementType::string)
    return std::ranges::equal(a.values<std::string_view>(), b.values<std::string_view>()) ? "" : "other strings";
  const auto x = to_f64(a), y = to_f64(b);
  const bool floats = is_float(a.type());
  double largest = byte_width(a.type()) <= 4 ? std::max(floor, 0x1p-110) : floor;
  for (const auto v : x) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
  // A float narrower than f32 may be rounded to its neighbor.
  const double allowed = byte_width(a.type()) >= 4 ? 1e-4 : byte_width(a.type()) == 2 ? 1e-2 : 0.3;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (!floats || !(std::abs(x[i] - y[i]) <= allowed * largest))
      return fmt::format("element {}: {} and {}", i, x[i], y[i]);
  }
  return "";
}

/// Empty where both ended alike: with the same results, or with faults. Which of several faults is met first depends on
/// how much inference knew.
inline std::string difference(const Outcome& a, const Outcome& b, bool values) {
  if (a.cut || b.cut) return "";
  const auto end = [](const Outcome& o) {
    return o.code ? fmt::format("{} ({})", to_string(*o.code), o.message) : std::string("results");
  };
  if (a.code.has_value() != b.code.has_value()) return fmt::format("{} and {}", end(a), end(b));
  if (a.results.size() != b.results.size()) return "other numbers of results";
  for (std::size_t k = 0; k < a.results.size(); ++k)
    if (auto wrong = difference(a.results[k], b.results[k], values); !wrong.empty())
      return fmt::format("output {}: {}", k, wrong);
  return "";
}

}  // namespace fuzz
