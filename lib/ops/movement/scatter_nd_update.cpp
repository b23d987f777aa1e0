// ScatterNDUpdate: a copy of data in which the elements or slices that indices name are replaced by, or reduced with,
// updates. Spec: operation-sets/operation-specs/movement/scatter-nd-update-3, scatter-nd-update-15
#include "ops/movement/common.hpp"

namespace ovir::ops::scatter_nd_update {
namespace {

using movement::Reduction;

enum Input { data, indices, updates };

struct Attrs {
  Reduction reduction = Reduction::none;
};

void infer(InferContext& c) {
  c.require_attr(c.attrs<Attrs>().reduction != Reduction::mean, "reduction",
                 "must not be \"mean\", which is for ScatterElementsUpdate");
  c.require_rank_at_least(indices, 1);
  const auto &from = c.shape(data), &at = c.shape(indices), &values = c.shape(updates);
  if (from.has_rank() && at.has_rank()) {
    const auto& tuple = at[at.rank() - 1];
    c.require(tuple.min <= from.rank(), indices, Code::E0506,
              "input \"indices\" of ScatterNDUpdate names {} axes, but \"data\" has shape {}", to_string(tuple),
              to_string(from));
    if (tuple.is_static() && values.has_rank()) {
      // "updates: indices.shape[:-1] + data.shape[indices.shape[-1]:]"
      PartialShape wanted(std::vector<Dim>(at.begin(), at.end() - 1));
      for (auto i = tuple.length(); i < from.rank(); ++i) wanted.push_back(from[i]);
      const bool single =
          wanted.rank() == 0 && values.element_count().contains(1);  // "it can be a tensor with single element"
      c.require(single || wanted.compatible(values), updates, Code::E0505,
                "input \"updates\" of ScatterNDUpdate must have shape {}, but its shape is {}", to_string(wanted),
                to_string(values));
    }
    if (tuple.is_static() && tuple.length() > 0) movement::require_indices(c, indices, from, 0, tuple.length());
  }
  c.output(0, from);
}

void eval(EvalContext& c) {
  const auto reduction = c.attrs<Attrs>().reduction;
  const auto &from = c.in(data), &at = c.in(indices), &values = c.in(updates);
  const auto index = c.ints(indices);
  auto& to = c.out(0);
  if (to.size() == 0 && index.empty()) return;
  if (from.byte_size() > 0) std::memcpy(to.mutable_bytes(), from.bytes(), from.byte_size());

  const auto tuple = at.dim(at.rank() - 1);
  const auto count = Shape(at.shape().begin(), at.shape().end() - 1).count();
  const auto run = Shape(from.shape().begin() + tuple, from.shape().end()).count();
  const auto strides = strides_of(from.shape());
  const auto each = [&](auto update) {
    for (i64 i = 0; i < count; ++i) {
      i64 first = 0;
      for (i64 k = 0; k < tuple; ++k)
        first += movement::data_index(c, indices, index[i * tuple + k], from, k) * strides[k];
      update(first, i * run);
    }
  };
  if (reduction == Reduction::none) {
    const auto width = byte_width(to.type());
    each([&](i64 target, i64 source) {
      std::memcpy(to.mutable_bytes() + target * width, values.bytes() + source * width, run * width);
    });
    return;
  }
  dispatch(to.type(), movement::Scattered{}, [&]<class T>() {
    T* all = to.mutable_data<T>();
    const T* given = values.data<T>();
    const bool boolean = to.type() == ElementType::boolean;
    each([&](i64 target, i64 source) {
      for (i64 k = 0; k < run; ++k)
        all[target + k] = movement::reduce(reduction, all[target + k], given[source + k], boolean);
    });
  });
}

void bounds(InferContext& c) {
  if (c.attrs<Attrs>().reduction == Reduction::none) bounds_by_moving(c);
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IND", kIndex};
constexpr PortDef kInputs[] = {
    {"data", T},
    {.name = "indices", .type = TIndex, .indexes = {.along = Indexes::Along::leading, .data = data, .from_end = true}},
    {"updates", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 4,
     .spec = "movement/scatter-nd-update-3",
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs>,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds},
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"reduction", &Attrs::reduction>>,
     .infer = infer,
     .eval = eval,
     .bounds = bounds},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ScatterNDUpdate", .spec = "movement/scatter-nd-update", .versions = kVersions};

}  // namespace ovir::ops::scatter_nd_update
