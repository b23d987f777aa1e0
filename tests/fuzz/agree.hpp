// Whether two ways to run gave the same.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "harness/ways.hpp"

namespace fuzz {

/// Thrown by an observer: the run takes more than the target gives.
struct TooMuch {};

/// What a run came to: results, or the code of its Failure; neither where it took too much.
struct Outcome {
  std::vector<ovir::Tensor> results;
  std::optional<ovir::Code> code;
  std::string message;
  bool cut = false;
};

/// Runs `work(session, observer)`, which ends when steps or bytes are too many.
template <class Work>
Outcome outcome(ovir::Session session, std::size_t most_steps, std::size_t most_bytes, Work&& work) {
  Outcome o;
  std::size_t steps = 0, bytes = 0;
  const auto watch = [&](const ovir::Observation& seen) {
    bytes += seen.value.byte_size();
    if (++steps > most_steps || bytes > most_bytes) throw TooMuch();
  };
  try {
    o.results = work(session, watch);
  } catch (const ovir::Failure& failure) {
    o.code = failure.diagnostic.code;
    o.message = failure.diagnostic.message;
  } catch (const TooMuch&) {
    o.cut = true;
  }
  return o;
}

/// Empty where the values agree: types and shapes the same, integers equal, floats within 1e-4 of the largest of their
/// tensor, which is what lib/fast/README.md promises.
inline std::string difference(const ovir::Tensor& a, const ovir::Tensor& b, bool values) {
  using namespace ovir;
  if (a.type() != b.type() || a.shape() != b.shape())
    return fmt::format("{}{} and {}{}", name(a.type()), to_string(a.shape()), name(b.type()), to_string(b.shape()));
  if (!values) return "";
  if (a.type() == ElementType::string)
    return std::ranges::equal(a.values<std::string_view>(), b.values<std::string_view>()) ? "" : "other strings";
  const auto x = to_f64(a), y = to_f64(b);
  const bool real = contains(kFloat, a.type());
  double largest = 0;
  for (const auto v : x) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
  const double allowed = a.type() == ElementType::f16 || a.type() == ElementType::bf16 ? 1e-2 : 1e-4;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (!real || !(std::abs(x[i] - y[i]) <= allowed * largest))
      return fmt::format("element {}: {} and {}", i, x[i], y[i]);
  }
  return "";
}

/// Empty where both ended alike.
inline std::string difference(const Outcome& a, const Outcome& b, bool values) {
  if (a.cut || b.cut) return "";
  if (a.code != b.code)
    return fmt::format("{} and {}", a.code ? fmt::format("{} ({})", to_string(*a.code), a.message) : "results",
                       b.code ? fmt::format("{} ({})", to_string(*b.code), b.message) : "results");
  for (std::size_t k = 0; k < a.results.size(); ++k)
    if (auto wrong = difference(a.results[k], b.results[k], values); !wrong.empty())
      return fmt::format("output {}: {}", k, wrong);
  return "";
}

}  // namespace fuzz
