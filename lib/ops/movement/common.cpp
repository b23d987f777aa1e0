#include "ops/movement/common.hpp"

namespace ovir::ops::movement {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t to_integer(double v) {
  // 2^63 is the first double that i64 does not hold.
  if (v >= 9223372036854775808.0) return kMost;
  if (v <= -9223372036854775808.0) return kLeast;
  return static_cast<std::int64_t>(v);
}

/// Values at the ends of the parts of a range that lie on one side of zero: within a part an index means the same end.
std::vector<std::int64_t> corners(const Range& r) {
  std::vector<std::int64_t> values{r.lo, r.hi};
  if (r.lo < 0 && r.hi >= 0) values.insert(values.end(), {-1, 0});
  return values;
}

/// True where `r` lies at or past the end of every axis that `dim` allows.
bool past_end(const Range& r, const Dim& dim) { return r.lo >= dim.max || (dim.symbol != 0 && r.symbol == dim.symbol); }
bool before_begin(const Range& r, const Dim& dim) { return dim.is_bounded() ? r.hi <= -dim.max : r.hi == kLeast; }

bool is_whole(const Dim& dim, const Range& start, const Range& stop, std::int64_t step) {
  if (step == 1) return ((start.lo == 0 && start.hi == 0) || before_begin(start, dim)) && past_end(stop, dim);
  if (step != -1) return false;
  const bool from_last = (start.lo == -1 && start.hi == -1) || past_end(start, dim) || (dim.is_bounded() && start.lo >= dim.max - 1);
  return from_last && (dim.is_bounded() ? stop.hi <= -dim.max - 1 : stop.hi == kLeast);
}

}  // namespace

std::optional<std::vector<Range>> ranges(const InferContext& c, int port) {
  std::vector<Range> result;
  if (const auto exact = c.ints(port)) {
    for (const auto v : *exact) result.push_back({v, v});
    return result;
  }
  const auto bounded = c.intervals(port);
  if (!bounded) return std::nullopt;
  for (const auto& i : *bounded) result.push_back({to_integer(std::ceil(i.lo)), to_integer(std::floor(i.hi)), i.symbol});
  return result;
}

AxisSlice slice_axis(std::int64_t length, std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (length == 0) return {};
  if (start < 0) start += length;
  if (stop < 0) stop += length;
  AxisSlice s;
  // Unsigned, for -step where step is the least i64.
  const auto stride = step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  if (step > 0) {
    s.first = std::clamp<std::int64_t>(start, 0, length);
    stop = std::clamp<std::int64_t>(stop, 0, length);
  } else {
    s.first = std::clamp<std::int64_t>(start, 0, length - 1);
    stop = std::clamp<std::int64_t>(stop, -1, length);
  }
  const auto distance = step > 0 ? stop - s.first : s.first - stop;
  if (distance > 0) s.count = static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / stride + 1);
  return s;
}

Dim slice_dim(const Dim& dim, const Range& start, const Range& stop, std::int64_t step) {
  if (is_whole(dim, start, stop, step)) return dim;
  // The first n elements, where there are n.
  if (step == 1 && start.lo == 0 && start.hi == 0 && stop.lo >= 0 && stop.hi <= dim.min) return Dim(stop.lo, stop.hi, stop.symbol);

  // For fixed start and stop the count is a piecewise linear function of the length, with corners only where start or
  // stop reaches an end of the axis; in start and stop it is monotone on either side of zero. So corners are enough.
  constexpr auto kFar = std::int64_t{1} << 61;
  const auto longest = std::min(dim.max, kFar);
  Dim result(kMost, 0);
  for (const auto b : corners(start)) {
    for (const auto e : corners(stop)) {
      std::vector<std::int64_t> lengths{dim.min, longest, 1};
      for (const auto v : {b, e})
        for (const auto near : {-1, 0, 1})
          if (v > -kFar && v < kFar) lengths.insert(lengths.end(), {v + near, -v + near});
      for (const auto length : lengths) {
        const auto n = slice_axis(std::clamp(length, dim.min, longest), b, e, step).count;
        result.min = std::min(result.min, n);
        result.max = std::max(result.max, n);
      }
      // Does the count grow without end?
      if (!dim.is_bounded() && slice_axis(kFar, b, e, step > 0 ? 1 : -1).count > kFar / 2) result.max = Dim::kUnbounded;
    }
  }
  return result;
}

Dim slice_dim(const Dim& dim, const Range& start, const Range& stop, const Range& step) {
  if (step.is_known()) return slice_dim(dim, start, stop, step.lo);
  return Dim(0, dim.max);
}

std::int64_t checked_index(std::int64_t index, std::int64_t length, std::string_view op) {
  if (index < -length || index >= length) fail(Code::E0507, "index {} of {} is out of range: the axis has length {}", index, op, length);
  return index < 0 ? index + length : index;
}

}  // namespace ovir::ops::movement
