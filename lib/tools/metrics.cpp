#include "tools/metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>

#include <fmt/core.h>

#include "base/half.hpp"
#include "tools/numbers.hpp"

namespace ovir::tools {
namespace {

/// Floats as whole numbers in the order of the floats, so that neighbors are 1 apart.
template <class Bits>
i64 ordered(Bits bits) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  return (bits & sign) != 0 ? -static_cast<i64>(bits & ~sign) : static_cast<i64>(bits);
}
i64 ordered_as(ElementType type, double x) {
  if (type == ElementType::f64) return ordered(std::bit_cast<std::uint64_t>(x));
  if (type == ElementType::f16) return ordered(f16(static_cast<float>(x)).bits);
  if (type == ElementType::bf16) return ordered(bf16(static_cast<float>(x)).bits);
  return ordered(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
}
/// Differences saturate: those of f64 with different signs may be any.
i64 apart(i64 a, i64 b) {
  i64 difference = 0;
  if (__builtin_sub_overflow(a, b, &difference) || difference == INT64_MIN) return INT64_MAX;
  return std::abs(difference);
}
ElementType narrower(ElementType a, ElementType b) { return bit_width(a) <= bit_width(b) ? a : b; }

void note(OneSided& to, bool in_value, i64 position) {
  ++(in_value ? to.value : to.reference);
  if (!to.first) to.first = position;
}

/// Sums of what is finite on both sides.
struct Sums {
  double squares = 0, values = 0, references = 0, products = 0;
  double lowest = 0, highest = 0;
  i64 count = 0;
  void add(double x, double r) {
    squares += (x - r) * (x - r);
    values += x * x;
    references += r * r;
    products += x * r;
    lowest = count == 0 ? r : std::min(lowest, r);
    highest = count == 0 ? r : std::max(highest, r);
    ++count;
  }
  void into(Difference& d) const {
    if (count == 0) return;
    d.rmse = std::sqrt(squares / static_cast<double>(count));
    if (values > 0 && references > 0)
      d.cosine = std::clamp(products / (std::sqrt(values) * std::sqrt(references)), -1.0, 1.0);
    if (const double range = highest > lowest ? highest - lowest : std::abs(highest); d.rmse > 0 && range > 0)
      d.psnr = 20 * std::log10(range / d.rmse);
  }
};

void compare_strings(const Tensor& value, const Tensor& reference, Difference& d) {
  const auto a = value.values<std::string_view>(), b = reference.values<std::string_view>();
  for (i64 i = 0; i < std::ssize(a); ++i)
    if (a[i] != b[i] && d.beyond++ == 0) d.worst = i;
  d.within = d.beyond == 0;
}

/// The axis that holds the classes: the last one longer than 1, as in [1,1000,1,1].
i64 class_length(const Shape& shape) {
  for (auto axis = shape.rank(); axis-- > 0;)
    if (shape[axis] > 1) return shape[axis];
  return 0;
}

}  // namespace

Difference measure(const Tensor& value, const Tensor& reference, const Tolerance& tolerance) {
  Difference d;
  d.count = value.size();
  const bool strings = value.type() == ElementType::string;
  if (strings != (reference.type() == ElementType::string))
    d.unlike = fmt::format("element type {}, but {} in the reference", name(value.type()), name(reference.type()));
  else if (value.shape() != reference.shape())
    d.unlike = fmt::format("shape {}, but {} in the reference", to_string(value.shape()), to_string(reference.shape()));
  if (!d.unlike.empty()) {
    d.within = false;
    return d;
  }
  if (strings) {
    compare_strings(value, reference, d);
    return d;
  }
  const bool floats = is_float(value.type()) || is_float(reference.type());
  double largest = 0;
  if (floats && !tolerance.atol)
    each_number(reference, [&](double r) {
      if (std::isfinite(r)) largest = std::max(largest, std::abs(r));
    });
  const double rtol = floats || tolerance.atol ? tolerance.rtol : 0;
  const double atol = tolerance.atol ? *tolerance.atol : floats ? kRelativeAtol * largest : 0;
  const auto type = is_float(value.type()) && is_float(reference.type()) ? narrower(value.type(), reference.type())
                                                                         : ElementType::f64;
  if (floats) d.ulp = 0;

  Sums sums;
  double furthest = -1, max = -1;
  i64 first_beyond = -1, at_max = 0;
  each_pair(value, reference, [&](i64 at, double x, double r) {
    if (std::isnan(x) || std::isnan(r)) {
      if (std::isnan(x) == std::isnan(r)) return;
      note(d.nan, std::isnan(x), at);
    } else if (std::isinf(x) || std::isinf(r)) {
      if (x == r) return;
      note(d.inf, std::isinf(x), at);
    } else {
      const double difference = std::abs(x - r);
      sums.add(x, r);
      if (difference > max) {
        max = difference;
        at_max = at;
      }
      if (r != 0) d.max_rel = std::max(d.max_rel, difference / std::abs(r));
      if (floats && difference > 0) d.ulp = std::max(*d.ulp, apart(ordered_as(type, x), ordered_as(type, r)));
      const double allowed = atol + rtol * std::abs(r);
      if (difference <= allowed) return;
      ++d.beyond;
      if (const double ratio = difference / std::max(allowed, 1e-300); ratio > furthest) {
        furthest = ratio;
        d.worst = at;
      }
      return;
    }
    ++d.beyond;
    if (first_beyond < 0) first_beyond = at;
  });
  d.max_abs = std::max(max, 0.0);
  if (first_beyond >= 0) d.worst = first_beyond;  // no number is further away than none
  else if (d.beyond == 0) d.worst = at_max;
  d.within = d.beyond == 0;
  sums.into(d);
  return d;
}

std::optional<double> top_agreement(const Tensor& value, const Tensor& reference, i64 k) {
  const auto length = class_length(value.shape());
  if (length == 0 || value.shape() != reference.shape() || value.type() == ElementType::string) return std::nullopt;
  const auto a = value.unpacked(), b = reference.unpacked();
  const auto rows = value.size() / length;
  const auto places = [&](const Tensor& t, i64 row) {
    const auto values = to_f64(part_of(t, row * length, length));
    std::vector<i64> order(length);
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + std::min(k, length);
    std::partial_sort(order.begin(), middle, order.end(), [&](i64 i, i64 j) {
      const double x = values[i], y = values[j];
      return x > y || (!(x < y) && i < j);
    });
    return std::set<i64>(order.begin(), middle);
  };
  i64 agree = 0;
  for (i64 row = 0; row < rows; ++row) agree += places(a, row) == places(b, row) ? 1 : 0;
  return static_cast<double>(agree) / static_cast<double>(rows);
}

std::vector<i64> index_of(i64 position, const Shape& shape) {
  std::vector<i64> index(shape.size());
  for (auto axis = shape.rank(); axis-- > 0;) {
    if (shape[axis] == 0) continue;
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

}  // namespace ovir::tools
