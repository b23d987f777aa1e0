// SearchSorted: where in a sorted row each value belongs.
// Spec: operation-sets/operation-specs/sort/search-sorted-15
#include "op/op.hpp"

namespace ovir::ops::search_sorted {
namespace {

enum Input { sorted_sequence, values };

struct Attrs {
  bool right_mode = false;
  ElementType output_type = ElementType::i64;
};

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().output_type;
  c.require_index_type(type, "output_type");
  c.require_rank_at_least(sorted_sequence, 1);
  const auto& rows = c.shape(sorted_sequence);
  auto out = c.shape(values);
  // One row serves all values, else each row of values has its own.
  if (rows.has_rank() && rows.rank() > 1) {
    if (!out.has_rank()) out = PartialShape::of_rank(rows.rank());
    c.require(out.rank() == rows.rank(), values, Code::E0504,
              "inputs \"sorted_sequence\" and \"values\" of SearchSorted must have the same rank, but their shapes are "
              "{} and {}",
              to_string(rows), to_string(out));
    for (i64 i = 0; i + 1 < out.rank(); ++i)
      out[i] = c.require_same_dim(rows[i], out[i], values, fmt::format("dim {} of \"sorted_sequence\"", i),
                                  "that of \"values\"");
  }
  c.output(0, type, std::move(out));
}

void eval(EvalContext& c) {
  const auto &rows = c.in(sorted_sequence), &wanted = c.in(values);
  const bool right = c.attrs<Attrs>().right_mode;
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto length = rows.dim(rows.rank() - 1);
  const auto per_row = rows.rank() == 1 ? wanted.size() : wanted.dim(wanted.rank() - 1);
  std::vector<i64> found;
  dispatch(rows.type(), Numbers{}, [&]<class T>() {
    for (i64 i = 0; i < wanted.size(); ++i) {
      const auto *first = rows.data<T>() + i / per_row * length, *last = first + length;
      const auto value = wanted.data<T>()[i];
      found.push_back((right ? std::upper_bound(first, last, value) : std::lower_bound(first, last, value)) - first);
    }
  });
  dispatch(to.type(), Indices{}, [&]<class T>() {
    std::transform(found.begin(), found.end(), to.mutable_data<T>(), [](i64 i) { return static_cast<T>(i); });
  });
}

constexpr TypeVar T{"T", kFloat | kInteger};
constexpr PortDef kInputs[] = {{"sorted_sequence", T}, {"values", T}};
constexpr PortDef kOutputs[] = {{"output", {"T_OUT", kIndex}}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"right_mode", &Attrs::right_mode>, Attr<"output_type", &Attrs::output_type>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "SearchSorted", .spec = "sort/search-sorted", .versions = kVersions};

}  // namespace ovir::ops::search_sorted
