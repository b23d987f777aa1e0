// ScatterElementsUpdate: out[indices[i][j]][j] = updates[i][j] in a copy of data, here with axis 0; or a reduction of
// both. Spec: operation-sets/operation-specs/movement/scatter-elements-update-3, scatter-elements-update-12
#include "ops/movement/common.hpp"

namespace ovir::ops::scatter_elements_update {
namespace {

using movement::Reduction;

enum Input { data, indices, updates, axis };

using Attrs = ScatterElementsAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.reduction != Reduction::sub, "reduction", "must not be \"sub\", which is for ScatterNDUpdate");
  c.require_attr(a.reduction != Reduction::mean || c.type(data) != ElementType::boolean, "reduction",
                 "must not be \"mean\" where \"data\" is boolean");
  c.require_single(axis);
  const auto& from = c.shape(data);
  for (const int port : {indices, updates})
    c.require(
        !from.has_rank() || !c.shape(port).has_rank() || c.shape(port).rank() == from.rank(), port, Code::E0504,
        "inputs \"data\" and \"{}\" of ScatterElementsUpdate must have the same rank, but their shapes are {} and {}",
        c.port_name(port), to_string(from), to_string(c.shape(port)));
  const auto at = c.require_same_shape(indices, updates);
  if (from.has_rank()) {
    const auto known = c.scalar_int(axis);
    const auto along = known ? c.require_axis(*known, axis, from.rank()) : -1;
    for (i64 i = 0; known && at.has_rank() && i < from.rank(); ++i)
      c.require(i == along || at[i].min <= from[i].max, indices, Code::E0506,
                "input \"indices\" {0} of ScatterElementsUpdate must not be larger than \"data\" {1} along axis {2}",
                to_string(at), to_string(from), i);
    if (known) movement::require_indices(c, indices, from, along);
  }
  c.output(0, from);
}

/// For each update, the element of data that it goes to.
std::pmr::vector<i64> targets(EvalContext& c, i64 along) {
  const auto& from = c.in(data);
  const auto index = c.ints(indices);
  auto strides = strides_of(from.shape());
  const auto pitch = strides[along];
  strides[along] = 0;
  std::pmr::vector<i64> list(c.memory());
  list.reserve(index.size());
  for (IndexWalker at(c.in(updates).shape()); !at.done(); at.next())
    list.push_back(at.offset(strides) + movement::data_index(c, indices, index[list.size()], from, along) * pitch);
  return list;
}

template <class T>
void reduce(const Attrs& a, std::span<const i64> to, const T* updates, T* out, bool boolean) {
  const auto fresh = [&]() -> T {
    if (a.reduction == Reduction::prod) return 1;
    if (a.reduction == Reduction::min)
      return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    if (a.reduction == Reduction::max)
      return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::lowest();
    return 0;
  }();
  if (!a.use_init_val)
    for (const auto at : to) out[at] = fresh;
  for (std::size_t i = 0; i < to.size(); ++i)
    out[to[i]] = movement::reduce(a.reduction, out[to[i]], updates[i], boolean);
}

/// Sums and counts first: "for integer types the calculated mean is rounded down (towards negative infinity)".
template <class T>
void mean(EvalContext& c, std::span<const i64> to, const T* updates, T* out, i64 size) {
  const auto& a = c.attrs<Attrs>();
  using Sum = std::conditional_t<std::is_integral_v<T>, i64, T>;
  std::pmr::vector<Sum> sums(size, 0, c.memory());
  std::pmr::vector<i64> counts(size, 0, c.memory());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto at = to[i];
    if (counts[at] == 0 && a.use_init_val) {
      sums[at] = static_cast<Sum>(out[at]);  // NOLINT(bugprone-signed-char-misuse): the sign is to be kept
      counts[at] = 1;
    }
    sums[at] += static_cast<Sum>(updates[i]);
    ++counts[at];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] == 0) continue;
    if constexpr (std::is_integral_v<T>) out[i] = static_cast<T>(sums[i] / counts[i] - (sums[i] % counts[i] < 0));
    else out[i] = sums[i] / static_cast<T>(counts[i]);
  }
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto &from = c.in(data), &values = c.in(updates);
  const auto to = targets(c, movement::normalized(c.scalar_int(axis), from.rank()));
  auto& out = c.out(0);
  if (out.size() == 0) return;
  std::memcpy(out.mutable_bytes(), from.bytes(), from.byte_size());
  if (a.reduction == Reduction::none) {
    dispatch_width(byte_width(out.type()), [&]<class T>() {
      for (std::size_t i = 0; i < to.size(); ++i) out.mutable_data<T>()[to[i]] = values.data<T>()[i];
    });
    return;
  }
  dispatch(out.type(), movement::Scattered{}, [&]<class T>() {
    if (a.reduction == Reduction::mean)
      mean(c, std::span<const i64>(to), values.data<T>(), out.mutable_data<T>(), out.size());
    else
      reduce(a, std::span<const i64>(to), values.data<T>(), out.mutable_data<T>(), out.type() == ElementType::boolean);
  });
}

void bounds(InferContext& c) {
  if (c.attrs<Attrs>().reduction == Reduction::none) bounds_by_moving(c);
}

constexpr TypeVar T{"T", kAnyType}, TIndex{"T_IND", kInteger}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T},
    {.name = "indices",
     .type = TIndex,
     .indexes = {.along = Indexes::Along::input, .data = data, .at = axis, .from_end = true}},
    {"updates", T},
    {"axis", TAxis}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs>,
     .infer = infer,
     .reads = ports(axis),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds},
    {.since = 12,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"reduction", &Attrs::reduction>, Attr<"use_init_val", &Attrs::use_init_val>>,
     .infer = infer,
     .reads = ports(axis),
     .eval = eval,
     .bounds = bounds},
};

}  // namespace

extern constinit const OpDef def{
    .type = "ScatterElementsUpdate", .spec = "movement/scatter-elements-update", .versions = kVersions};

}  // namespace ovir::ops::scatter_elements_update
