// SparseFillEmptyRows: gives every row of a sparse matrix that has no entry one with a default value, in column 0.
// Spec: operation-sets/operation-specs/sparse/fill-empty-rows-16
#include <numeric>

#include "op/op.hpp"
#include "op/ports.hpp"

namespace ovir::ops::sparse_fill_empty_rows {
namespace {

enum Input { values, dense_shape, indices, default_value };
enum Output { output_indices, output_values, empty_row_indicator };

std::vector<std::uint8_t> empty_rows(const Version& version, std::span<const i64> entries, i64 rows) {
  std::vector<std::uint8_t> empty(rows, 1);
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    if (entries[i] < 0 || entries[i] >= rows)
      fail_at(version, indices, Code::E0507,
              fmt::format("input \"indices\" of SparseFillEmptyRows must name one of {} rows, but holds {}", rows,
                          entries[i]));
    empty[entries[i]] = 0;
  }
  return empty;
}

void infer(InferContext& c) {
  c.require_rank(values, 1);
  c.require_rank(dense_shape, 1);
  c.require_rank(indices, 2);
  c.require_rank(default_value, 0);
  Dim entries = axis_count(c.shape(values)), rows;
  if (const auto& shape = c.shape(indices); shape.has_rank()) {
    c.require(shape[1].contains(2), indices, Code::E0506,
              "input \"indices\" of SparseFillEmptyRows must have 2 columns, but its shape is {}", to_string(shape));
    entries =
        c.require_same_dim(entries, shape[0], indices, "the number of entries of \"values\"", "that of \"indices\"");
  }
  if (const auto& shape = c.shape(dense_shape); shape.has_rank())
    c.require(shape[0].contains(2), dense_shape, Code::E0506,
              "input \"dense_shape\" of SparseFillEmptyRows must hold 2 lengths, but its shape is {}",
              to_string(shape));
  if (const auto lengths = c.require_at_least(dense_shape, 0); lengths && lengths->size() == 2)
    rows = (*lengths)[0].to_dim();
  auto all = Dim(std::max(entries.min, rows.min), (entries + rows).max);  // a row has an entry, or it gets one
  if (const auto known = c.peek_ints(indices); known && rows.is_static() && rows.length() <= kMaxPropagated) {
    const auto empty = empty_rows(c.version(), *known, rows.length());
    all = Dim(std::ssize(*known) / 2 + std::count(empty.begin(), empty.end(), 1));
  }
  c.output(output_indices, PartialShape{all, Dim(2)});
  c.output(output_values, PartialShape{all});
  c.output(empty_row_indicator, PartialShape{rows});
}

void eval(EvalContext& c) {
  const auto at = c.ints(indices);
  const auto rows = c.scalar_int(dense_shape), entries = std::ssize(at) / 2;
  auto& indicator = c.out(empty_row_indicator, {rows});
  const auto empty = empty_rows(c.version(), at, rows);
  std::copy(empty.begin(), empty.end(), indicator.mutable_data<std::uint8_t>());

  std::vector<i64> order(entries);
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](i64 i) { return std::pair(at[2 * i], at[2 * i + 1]); };
  std::stable_sort(order.begin(), order.end(), [&](i64 i, i64 j) { return place(i) < place(j); });

  const auto count = entries + std::count(empty.begin(), empty.end(), 1);
  auto& to_indices = c.out(output_indices, {count, 2});
  auto& to_values = c.out(output_values, {count});
  std::vector<i64> source, places;  // source -1: the default value
  auto next = order.begin();
  for (i64 r = 0; r < rows; ++r) {
    if (empty[r]) source.push_back(-1), places.insert(places.end(), {r, 0});
    for (; next != order.end() && place(*next).first == r; ++next)
      source.push_back(*next), places.insert(places.end(), {r, place(*next).second});
  }
  dispatch(to_indices.type(), Indices{}, [&]<class I>() {
    std::transform(places.begin(), places.end(), to_indices.mutable_data<I>(), [](i64 v) { return static_cast<I>(v); });
  });
  dispatch_width(byte_width(to_values.type()), [&]<class E>() {
    for (std::size_t i = 0; i < source.size(); ++i)
      to_values.mutable_data<E>()[i] =
          source[i] < 0 ? *c.in(default_value).data<E>() : c.in(values).data<E>()[source[i]];
  });
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IDX", kIndex}, TBoolean{"T_BOOL", kBoolean};
constexpr PortDef kInputs[] = {{"values", T}, {"dense_shape", TIndex}, {"indices", TIndex}, {"default_value", T}};
constexpr PortDef kOutputs[] = {{"output_indices", TIndex}, {"output_values", T}, {"empty_row_indicator", TBoolean}};
constexpr Version kVersions[] = {
    {.since = 16,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(dense_shape),
     .sized_by_data = true,
     .eval = eval,
     .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{
    .type = "SparseFillEmptyRows", .spec = "sparse/fill-empty-rows", .versions = kVersions};

}  // namespace ovir::ops::sparse_fill_empty_rows
