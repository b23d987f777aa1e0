// VariadicSplit: parts of given lengths along an axis.
// Spec: operation-sets/operation-specs/movement/variadic-split-1
#include "ops/movement/common.hpp"

namespace ovir::ops::variadic_split {
namespace {

enum Input { data, axis, split_lengths };

/// The lengths of the parts, where they can be told; "-1 means all remaining elements", for one part at most.
std::vector<Dim> parts_of(const InferContext& c, const std::vector<Interval>& lengths, const Dim& whole) {
  std::vector<Dim> parts;
  Dim given = 0;
  int rest = -1;
  for (int i = 0; i < std::ssize(lengths); ++i) {
    const auto& v = lengths[i];
    const bool is_rest = v.is_known() && v.lo == -1;
    c.require(!is_rest || rest < 0, split_lengths, Code::E0508,
              "input \"split_lengths\" of VariadicSplit must hold one -1 at most");
    if (is_rest) rest = i;
    // A length that may turn out to be -1 can be anything.
    parts.push_back(is_rest || v.lo < 0 ? Dim(0, whole.max) : v.to_dim());
    if (!is_rest) given = given + (v.lo < 0 ? Dim() : v.to_dim());
  }
  if (rest >= 0) {
    c.require(given.min <= whole.max, split_lengths, Code::E0506,
              "input \"split_lengths\" of VariadicSplit must add up to {1}, the length of the axis, but adds up to {0}",
              to_string(given), to_string(whole));
    parts[rest] = whole - given;
  } else {
    c.require(given.compatible(whole), split_lengths, Code::E0506,
              "input \"split_lengths\" of VariadicSplit must add up to {1}, the length of the axis, but adds up to {0}",
              to_string(given), to_string(whole));
  }
  return parts;
}

void infer(InferContext& c) {
  c.require_single(axis);
  c.require_rank(split_lengths, 1);
  const auto& from = c.shape(data);
  const auto known_axis = c.scalar_int(axis);
  std::optional<i64> along;
  if (known_axis && from.has_rank()) along = c.require_axis(*known_axis, axis, from.rank());
  const auto count = axis_count(c.shape(split_lengths));
  c.require(count.max >= c.output_count(), split_lengths, Code::E0501,
            "input \"split_lengths\" of VariadicSplit must have an element for each of {1} outputs, but has {0}",
            to_string(count), c.output_count());

  const auto lengths = c.require_at_least(split_lengths, -1);
  std::vector<Dim> parts;
  if (lengths) parts = parts_of(c, *lengths, along ? from[*along] : Dim());
  for (int port = 0; port < c.output_count(); ++port) {
    auto part = from;
    if (along) part[*along] = lengths ? parts[port] : Dim(0, from[*along].max);
    else
      for (auto& d : part.dims()) d = Dim(0, d.max);
    c.output(port, c.type(data), std::move(part));
  }
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto along = movement::normalized(c.scalar_int(axis), from.rank());
  const auto strides = strides_of(from.shape());
  i64 first = 0;
  for (int port = 0; port < c.output_count(); ++port) {
    auto& part = c.out(port);
    gather_strided(from, first * strides[along], strides, part.shape(), part);
    first += part.shape()[along];
  }
}

constexpr TypeVar T{"T", kAnyType}, TAxis{"T_AXIS", kInteger}, TLengths{"T_LENGTHS", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"axis", TAxis}, {"split_lengths", TLengths}};
constexpr PortDef kOutputs[] = {{"output", T, Arity::variadic}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(axis, split_lengths),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "VariadicSplit", .spec = "movement/variadic-split", .versions = kVersions};

}  // namespace ovir::ops::variadic_split
