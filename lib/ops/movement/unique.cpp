// Unique: the different elements (or slices along an axis) of data, where each is first, which each input element
// became, and how often each occurs.
// Spec: operation-sets/operation-specs/movement/unique-10
#include <cmath>
#include <numeric>
#include <type_traits>

#include "op/work.hpp"
#include "ops/movement/common.hpp"

namespace ovir::ops::unique {
namespace {

enum Input { data, axis };
enum Output { elements, first_indices, reverse_indices, counts };

using Attrs = UniqueAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_index_type(a.index_element_type, "index_element_type");
  c.require_index_type(a.count_element_type, "count_element_type");
  c.require_single(axis);
  const auto& from = c.shape(data);
  const auto known = c.scalar_int(axis);
  auto whole = from.element_count();
  auto out = PartialShape{Dim()};
  i64 along = 0;
  if (c.has(axis)) {
    out = from;
    if (known && from.has_rank()) along = c.require_axis(*known, axis, from.rank());
    else
      for (auto& d : out.dims()) d = Dim(0, d.max);
    whole = known ? from.dim(along) : Dim();
  }
  // A non-empty input has at least one unique element.
  const Dim found(whole.min > 0 ? 1 : 0, whole.max);
  if (out.has_rank() && (!c.has(axis) || known)) out[along] = found;
  const PartialShape each{found}, all{whole};
  const std::pair<ElementType, PartialShape> facts[] = {
      {c.type(data), out}, {a.index_element_type, each}, {a.index_element_type, all}, {a.count_element_type, each}};
  for (int port = 0; port < c.output_count() && port < 4; ++port) c.output(port, facts[port].first, facts[port].second);
}

/// NaN, of which the specification says nothing, is larger than every number, and one element.
template <class T>
bool is_less(const T& x, const T& y) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
  return x < y;
}

struct Found {
  std::vector<i64> first, reverse, counts;
};

/// `less(i, j)` orders the elements. Sorted, or in the order of first occurrence.
template <class Less>
Found find(i64 n, bool sorted, Less less) {
  std::vector<i64> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  Found f;
  f.reverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || less(order[i - 1], order[i])) {
      f.first.push_back(order[i]);
      f.counts.push_back(0);
    }
    ++f.counts.back();
    f.reverse[order[i]] = std::ssize(f.first) - 1;
  }
  if (sorted) return f;

  std::vector<std::size_t> by_place(f.first.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(), [&](std::size_t a, std::size_t b) { return f.first[a] < f.first[b]; });
  Found g;
  std::vector<i64> place(by_place.size());
  for (const auto k : by_place) {
    place[k] = std::ssize(g.first);
    g.first.push_back(f.first[k]);
    g.counts.push_back(f.counts[k]);
  }
  for (const auto k : f.reverse) g.reverse.push_back(place[k]);
  return g;
}

void put(EvalContext& c, int port, const std::vector<i64>& values) {
  if (port < c.output_count()) c.set_out(port, convert(Tensor::vector(values), c.declared_out_type(port)));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  // Without an axis the flattened data, else slices.
  const auto from = c.has(axis) ? c.in(data) : c.in(data).reshaped({c.in(data).size()});
  const auto along = c.has(axis) ? movement::normalized(c.scalar_int(axis), from.rank()) : 0;
  const AxisView view(from.shape(), along);

  Found f;
  const auto run = [&]<class T>() {
    const auto* values = from.data<T>();
    f = find(view.length, a.sorted, [&](i64 i, i64 j) {
      for (i64 o = 0; o < view.outer; ++o) {
        const auto *x = values + view.offset(o, i, 0), *y = values + view.offset(o, j, 0);
        for (i64 k = 0; k < view.inner; ++k)
          if (is_less(x[k], y[k]) || is_less(y[k], x[k])) return is_less(x[k], y[k]);
      }
      return false;
    });
  };
  if (from.type() == ElementType::string) run.template operator()<std::string_view>();
  else dispatch(from.type(), Numbers{} + Boolean{}, run);

  auto shape = from.shape();
  shape[along] = std::ssize(f.first);
  auto& to = c.out(elements, std::move(shape));
  const i64 width = byte_width(from.type()), bytes = view.inner * width;
  auto* target = to.mutable_bytes();
  for (i64 o = 0; o < view.outer && bytes > 0; ++o)
    for (const auto i : f.first) {
      std::memcpy(target, from.bytes() + view.offset(o, i, 0) * width, bytes);
      target += bytes;
    }
  put(c, first_indices, f.first);
  put(c, reverse_indices, f.reverse);
  put(c, counts, f.counts);
}

/// A comparison may look at a whole slice; there are as many as sorting takes.
i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  constexpr i64 kSorting = 64;
  return saturating_mul(saturating_count(in[data]), kSorting);
}

constexpr TypeVar T{"T", kAnyType}, TAxis{"T_AXIS", kIndex}, TIndex{"T_IND", kIndex}, TCount{"T_COUNT", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"axis", TAxis, Arity::optional}};
constexpr PortDef kOutputs[] = {
    {"elements", T}, {"first_indices", TIndex}, {"reverse_indices", TIndex}, {"counts", TCount}};
constexpr Version kVersions[] = {
    {.since = 10,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"sorted", &Attrs::sorted>, Attr<"index_element_type", &Attrs::index_element_type>,
                         Attr<"count_element_type", &Attrs::count_element_type>>,
     .infer = infer,
     .reads = ports(axis),
     .sized_by_data = true,
     .eval = eval,
     .steps = steps},
};

}  // namespace

extern constinit const OpDef def{.type = "Unique", .spec = "movement/unique", .versions = kVersions};

}  // namespace ovir::ops::unique
