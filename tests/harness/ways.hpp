// The ways to run a model. Each must give the same values.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/int.hpp"
#include "ovir.hpp"

namespace ovir::testing {

struct Way {
  std::string_view name;
  Tier tier;
  i64 expected_runs;
};
inline constexpr Way kReference{"reference tier", Tier::reference, 1};
inline constexpr Way kOnce{"fast tier, one run", Tier::fast, 1};
inline constexpr Way kSteady{"fast tier, many runs", Tier::fast, 100};
inline constexpr Way kWays[] = {kReference, kOnce, kSteady};

inline Options options_of(const Way& way, bool computed = false) {
  Options options;
  options.tier = way.tier;
  options.expected_runs = way.expected_runs;
  options.runtime.threads = 2;
  if (computed) options.without = {"fold"};
  return options;
}

/// Other data of the same type and shape: those in the other direction, half of them 0. Strings stay.
inline Tensor other_data(const Tensor& t) {
  if (t.type() == ElementType::string || t.size() == 0) return t;
  auto other = t.copied();
  const i64 width = std::max<i64>(byte_width(t.type()), 1), count = static_cast<i64>(t.byte_size()) / width;
  std::fill_n(other.mutable_bytes(), count / 2 * width, std::byte{});
  for (auto i = count / 2; i < count; ++i)
    std::copy_n(t.bytes() + (count - 1 - i) * width, width, other.mutable_bytes() + i * width);
  return other;
}

/// Runs a session with other data, which it may refuse. What a session keeps from run to run must not depend on data.
inline void run_with_other_data(Session& session, std::span<const Tensor> inputs, Observer* observer = nullptr) {
  std::vector<Tensor> others;
  for (const auto& input : inputs) others.push_back(other_data(input));
  try {
    session.run(others, observer);
  } catch (const Failure&) {
    return;
  }
}

/// `computed`: layers whose values inference knows are computed all the same.
inline Session open(std::shared_ptr<const Model> model, const Facts& facts, const Way& way, bool computed = false) {
  return compile(std::move(model), facts, options_of(way, computed));
}

}  // namespace ovir::testing
