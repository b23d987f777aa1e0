// TopK: the k largest or smallest elements along an axis and where they were.
// Spec: operation-sets/operation-specs/sort/top-k-11
#include <numeric>

#include "op/kit/line_attrs.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::top_k {
namespace {

using Mode = TopKMode;
using Sort = TopKSort;
using Attrs = TopKAttrs;

enum Input { data, K };
enum Output { values, indices };

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_index_type(a.index_element_type, "index_element_type");
  c.require_single(K);
  auto shape = c.shape(data);
  if (shape.has_rank()) {
    auto& along = shape[c.require_axis(a.axis, -1, shape.rank())];
    if (const auto k = c.scalar_int(K)) {
      c.require(*k >= 0, K, Code::E0508, "input \"K\" of TopK must be 0 or more, but is {}", *k);
      c.require(*k <= along.max, K, Code::E0508, "TopK cannot select {} elements from an axis of length {}", *k,
                to_string(along));
      along = Dim(*k);
    } else {
      const auto bounds = c.dims(K);
      const auto count = bounds && bounds->size() == 1 ? bounds->front() : Dim();
      // never more than there are
      along = Dim(count.min, std::max(count.min, std::min(count.max, along.max)),
                  count.max <= along.min ? count.symbol : 0);
    }
  }
  c.output(values, shape);
  if (c.output_count() > indices) c.output(indices, a.index_element_type, std::move(shape));
}

/// A NaN counts as larger than every number.
template <class T>
bool larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a > b || (std::isnan(a) && !std::isnan(b));
  else return a > b;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto axis = a.axis < 0 ? a.axis + from.rank() : a.axis;
  const AxisView view(from.shape(), axis);
  const auto k = std::clamp<i64>(c.scalar_int(K), 0, view.length);
  auto shape = from.shape();
  shape[axis] = k;
  auto& to = c.out(values, shape);
  const bool indexed = c.output_count() > indices;
  std::pmr::vector<i64> where(to.size(), c.memory());
  const AxisView selected(shape, axis);
  const auto inner = view.inner;

  if (to.size() != 0)
    dispatch(to.type(), Numbers{}, [&]<class T>() {
      std::pmr::vector<i64> order(view.length, c.memory());
      const auto end = order.begin() + k;
      for (i64 line = 0; line < view.lines(); ++line) {
        const auto* in = from.data<T>() + view.line(line);
        auto at = selected.line(line);
        std::iota(order.begin(), order.end(), 0);
        // Equal elements keep their order whatever `stable` says: unstable orders are allowed, not asked for.
        std::partial_sort(order.begin(), end, order.end(), [&](i64 i, i64 j) {
          const T x = in[i * inner], y = in[j * inner];
          return a.mode == Mode::max ? larger(x, y) || (!larger(y, x) && i < j)
                                     : larger(y, x) || (!larger(x, y) && i < j);
        });
        if (a.sort == Sort::index) std::sort(order.begin(), end);
        for (auto i = order.begin(); i != end; ++i, at += inner) {
          to.mutable_data<T>()[at] = in[*i * inner];
          where[at] = *i;
        }
      }
    });
  if (!indexed) return;
  auto& out = c.out(indices, shape);
  dispatch(out.type(), Indices{}, [&]<class T>() {
    std::transform(where.begin(), where.end(), out.mutable_data<T>(), [](i64 i) { return static_cast<T>(i); });
  });
}

i64 steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  constexpr i64 kSorting = 16;
  return saturating_mul(saturating_count(in[data]), kSorting);
}

constexpr TypeVar T{"T", kNumeric}, TK{"T_K", kInteger}, TIndex{"T_IND", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"K", TK}};
constexpr PortDef kOutputs[] = {{"values", T}, {"indices", TIndex}};
// Version 1's indices are i32; the serializer writes the attribute there too.
template <class... More>
constexpr auto kAttrs =
    attributes<Attrs, Attr<"axis", &Attrs::axis, kRequired>, Attr<"mode", &Attrs::mode, kRequired>,
               Attr<"sort", &Attrs::sort, kRequired>, Attr<"index_element_type", &Attrs::index_element_type>, More...>;
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .reads = ports(K),
          .eval = eval,
          .steps = steps};
}
constexpr Version kVersions[] = {
    version(1, kAttrs<>),
    version(3, kAttrs<>),
    version(11, kAttrs<Attr<"stable", &Attrs::stable>>),
};

}  // namespace

extern constinit const OpDef def{.type = "TopK", .spec = "sort/top-k", .versions = kVersions};

}  // namespace ovir::ops::top_k
