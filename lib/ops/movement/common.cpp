#include "ops/movement/common.hpp"

namespace ovir::ops::movement {
namespace {

constexpr auto kMin = std::numeric_limits<i64>::min(), kMax = std::numeric_limits<i64>::max();

i64 to_integer(double v) {
  // 2^63 is the first double that i64 does not hold.
  if (v >= 9223372036854775808.0) return kMax;
  if (v <= -9223372036854775808.0) return kMin;
  return static_cast<i64>(v);
}

/// Values at the ends of the parts of a range that lie on one side of zero: within a part an index means the same end.
std::vector<i64> corners(const IndexRange& r) {
  std::vector<i64> values{r.lo, r.hi};
  if (r.lo < 0 && r.hi >= 0) values.insert(values.end(), {-1, 0});
  return values;
}

/// True where `r` lies at or past the end of every axis that `dim` allows.
bool past_end(const IndexRange& r, const Dim& dim) {
  return r.lo >= dim.max || (dim.symbol != 0 && r.symbol == dim.symbol);
}
bool before_begin(const IndexRange& r, const Dim& dim) { return dim.is_bounded() ? r.hi <= -dim.max : r.hi == kMin; }

bool is_whole(const Dim& dim, const IndexRange& start, const IndexRange& stop, i64 step) {
  if (step == 1) return ((start.lo == 0 && start.hi == 0) || before_begin(start, dim)) && past_end(stop, dim);
  if (step != -1) return false;
  const bool from_last =
      (start.lo == -1 && start.hi == -1) || past_end(start, dim) || (dim.is_bounded() && start.lo >= dim.max - 1);
  return from_last && (dim.is_bounded() ? stop.hi <= -dim.max - 1 : stop.hi == kMin);
}

}  // namespace

std::optional<std::vector<IndexRange>> ranges(const InferContext& c, int port) {
  std::vector<IndexRange> result;
  if (const auto exact = c.ints(port)) {
    for (const auto v : *exact) result.push_back({v, v});
    return result;
  }
  const auto bounded = c.intervals(port);
  if (!bounded) return std::nullopt;
  for (const auto& i : *bounded)
    result.push_back({to_integer(std::ceil(i.lo)), to_integer(std::floor(i.hi)), i.symbol});
  return result;
}

Dim slice_dim(const Dim& dim, const IndexRange& start, const IndexRange& stop, i64 step) {
  if (is_whole(dim, start, stop, step)) return dim;
  // The first n elements, where there are n.
  if (step == 1 && start.lo == 0 && start.hi == 0 && stop.lo >= 0 && stop.hi <= dim.min)
    return Dim(stop.lo, stop.hi, stop.symbol);

  // For fixed start and stop the count is a piecewise linear function of the length, with corners only where start or
  // stop reaches an end of the axis; in start and stop it is monotone on either side of zero. So corners are enough.
  constexpr auto kFar = i64{1} << 61;
  const auto longest = std::min(dim.max, kFar);
  Dim result(kMax, 0);
  for (const auto b : corners(start)) {
    for (const auto e : corners(stop)) {
      std::vector<i64> lengths{dim.min, longest, 1};
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

Dim slice_dim(const Dim& dim, const IndexRange& start, const IndexRange& stop, const IndexRange& step) {
  if (step.is_known()) return slice_dim(dim, start, stop, step.lo);
  return Dim(0, dim.max);
}

PartialShape infer_slices(const InferContext& c, int start) {
  const int stop = start + 1, step = start + 2, axes = start + 3;
  const auto& from = c.shape(0);
  c.require_rank_at_least(0, 1);
  Dim count;
  for (int port = start; port < c.input_count(); ++port) {
    c.require_rank(port, 1);
    if (c.shape(port).has_rank())
      count = c.require_same_dim(count, c.shape(port)[0], port, "the number of elements of \"start\"",
                                 fmt::format("that of \"{}\"", c.port_name(port)));
  }
  if (from.has_rank())
    c.require(count.min <= from.rank(), start, Code::E0506,
              "input \"start\" of {0} must not have more elements than \"data\" {2} has axes ({3}), but has {1}",
              c.op().type, to_string(count), to_string(from), from.rank());

  const auto steps = ranges(c, step);
  if (steps)
    for (const auto& s : *steps)
      c.require(!s.is_known() || s.lo != 0, step, Code::E0508, "input \"step\" of {} must not hold 0", c.op().type);
  if (!from.has_rank()) return from;

  auto out = from;
  auto along = c.ints(axes);
  if (!c.has(axes) && count.is_static()) {
    along.emplace();
    for (i64 i = 0; i < count.length(); ++i) along->push_back(i);
  }
  if (!along || !count.is_static()) {  // any axis may be sliced
    for (auto& d : out.dims()) d = Dim(0, d.max);
    return out;
  }
  const auto n = count.length();
  const auto starts = ranges(c, start).value_or(std::vector<IndexRange>(n)),
             stops = ranges(c, stop).value_or(std::vector<IndexRange>(n));
  std::vector<bool> seen(from.rank(), false);
  for (i64 i = 0; i < n; ++i) {
    const auto axis = c.require_axis((*along)[i], axes, from.rank());
    c.require(!seen[axis], axes, Code::E0508, "input \"axes\" of {} must name each axis once, but names axis {} twice",
              c.op().type, axis);
    seen[axis] = true;
    out[axis] = slice_dim(from[axis], starts[i], stops[i], steps ? (*steps)[i] : IndexRange());
  }
  return out;
}

SlicedPart slices_of(EvalContext& c, int start, const Shape& from) {
  const auto starts = c.ints(start), stops = c.ints(start + 1), steps = c.ints(start + 2);
  const auto rank = std::ssize(from);
  Shape axes;
  if (c.has(start + 3)) axes = c.ints(start + 3);
  else
    for (i64 i = 0; i < std::ssize(starts); ++i) axes.push_back(i);

  SlicedPart part{0, from, strides_of(from)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = normalized(axes[i], rank);
    const auto taken = slice_axis(from[axis], starts[i], stops[i], steps[i]);
    part.first += taken.first * part.strides[axis];
    part.shape[axis] = taken.count;
    part.strides[axis] =
        taken.count > 1 ? part.strides[axis] * steps[i] : 0;  // a step past the axis is never taken, and may be huge
  }
  return part;
}

i64 data_index(const EvalContext& c, int port, i64 index, const Tensor& data, i64 axis, bool from_end) {
  const auto length = data.dim(axis);
  if (index < (from_end ? -length : 0) || index >= length) fail_index(c.version(), port, index, axis, length, from_end);
  return index < 0 ? index + length : index;
}

void require_indices(const InferContext& c, int port, const PartialShape& data, i64 axis, i64 tuple, bool from_end) {
  const auto known = c.peek_ints(port);
  for (i64 i = 0; known && i < std::ssize(*known); ++i) {
    const auto along = axis + i % tuple, index = (*known)[i];
    const auto& length = data[along];
    if (length.is_bounded() && (index < (from_end ? -length.max : 0) || index >= length.max))
      fail_index(c.version(), port, index, along, length, from_end);
  }
}

i64 block_volume(const InferContext& c, i64 block_size, i64 axes) {
  const auto volume = checked_product(Shape(axes, block_size));
  c.require_attr(block_size > 0 && volume.has_value(), "block_size",
                 "must be positive, and its power must fit in 64 bits, but it is {}", block_size);
  return *volume;
}

Dim require_block_inputs(const InferContext& c) {
  constexpr auto kMaxBlock = i64{1} << 40;  // sums and products of a few fit into 64 bits
  c.require_rank_at_least(0, 2);
  Dim count = c.shape(0).has_rank() ? Dim(c.shape(0).rank()) : Dim();
  for (int port = 1; port < 4; ++port) {
    c.require_rank(port, 1);
    count = c.require_same_dim(count, axis_count(c.shape(port)), port, "the rank of \"data\"",
                               fmt::format("the number of elements of \"{}\"", c.port_name(port)));
    const auto values = c.ints(port);
    for (std::size_t i = 0; values && i < values->size(); ++i) {
      const auto v = (*values)[i];
      c.require(v >= (port == 1), port, Code::E0508, "input \"{0}\" of {1} must hold {3} or more, but holds {2}",
                c.port_name(port), c.op().type, v, port == 1 ? 1 : 0);
      c.require(v <= kMaxBlock, port, Code::E0508, "input \"{0}\" of {1} must not hold more than {3}, but holds {2}",
                c.port_name(port), c.op().type, v, kMaxBlock);
      // "block_shape[0] is expected to be 1", and the batch is neither padded nor cropped
      c.require(i > 0 || v == (port == 1), port, Code::E0508,
                "element 0 of input \"{}\" of {} must be {} for the batch, but is {}", c.port_name(port), c.op().type,
                port == 1 ? 1 : 0, v);
    }
  }
  return count;
}

std::optional<Dim> divided(const Dim& dim, i64 n) {
  if (n == 1) return dim;
  const auto min = dim.min / n + (dim.min % n != 0), max = dim.is_bounded() ? dim.max / n : Dim::kUnbounded;
  if (min > max) return std::nullopt;
  return Dim(min, max);
}

}  // namespace ovir::ops::movement
