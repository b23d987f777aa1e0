// MaxPool: the largest element under each window; from version 8 also where it was found.
// Spec: operation-sets/operation-specs/pooling/max-pool-14
#include "ops/pooling/common.hpp"

namespace ovir::ops::max_pool {
namespace {

enum Output { values, indices };

void infer(InferContext& c) { c.output(values, pooling::infer_windows(c)); }

void infer_indexed(InferContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  auto shape = pooling::infer_windows(c);
  c.require_index_type(a.index_element_type, "index_element_type");
  if (shape.has_rank()) c.require_axis(a.axis, -1, shape.rank());
  if (c.output_count() > 1) c.output(indices, a.index_element_type, shape);
  c.output(values, std::move(shape));
}

template <class T>
void pool_planes(const pooling::Problem& p, const T* from, T* to, i64* where) {
  const auto in_plane = p.in[0] * p.in[1] * p.in[2];
  for (i64 plane = 0; plane < p.planes; ++plane, from += in_plane) {
    T best{};
    i64 at = 0;
    bool empty = true;
    const auto start = [&] {
      best = std::numeric_limits<T>::lowest();  // what a window wholly in the padding gives: see NOTES.md
      at = 0;
      empty = true;
    };
    const auto tap = [&](i64 i) {
      if (!empty && !(from[i] > best)) return;
      best = from[i];
      at = i;
      empty = false;
    };
    pooling::each_window(p, start, tap, [&](const auto&...) {
      *to++ = best;
      if (where) *where++ = plane * in_plane + at;
    });
  }
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  const auto& data = c.in(0);
  auto& to = c.out(values);
  const bool indexed = c.output_count() > 1;
  std::pmr::vector<i64> where(indexed ? to.size() : 0, c.memory());
  if (to.size() != 0) {
    const pooling::Problem p(a, data.shape(), to.shape(), c.memory());
    dispatch(to.type(), Numbers{}, [&]<class T>() {
      pool_planes(p, data.data<T>(), to.mutable_data<T>(), indexed ? where.data() : nullptr);
    });
  }
  if (!indexed) return;
  // "The upper bound is the product of dimensions starting from the one pointed by the 'axis' attribute."
  const auto axis = a.axis < 0 ? a.axis + data.rank() : a.axis;
  i64 bound = 1;
  if (data.size() > 0)  // windows over nothing point at 0
    for (auto i = axis; i < data.rank(); ++i) bound *= data.dim(i);
  auto& out = c.out(indices);
  dispatch(out.type(), Indices{}, [&]<class T>() {
    for (std::size_t i = 0; i < where.size(); ++i) out.mutable_data<T>()[i] = static_cast<T>(where[i] % bound);
  });
}

using A = PoolAttrs;
constexpr TypeVar TIndex{"T_IND", kIndex};
constexpr PortDef kOutput[] = {{"output", pooling::T}}, kOutputs[] = {{"output", pooling::T}, {"indices", TIndex}};
template <class RoundingType, class... More>
constexpr auto kAttrs =
    attributes<A, Attr<"strides", &A::strides, kRequired>, Attr<"pads_begin", &A::pads_begin, kRequired>,
               Attr<"pads_end", &A::pads_end, kRequired>, Attr<"kernel", &A::kernel, kRequired>, RoundingType,
               Attr<"auto_pad", &A::auto_pad>, More...>;
template <class RoundingType>
constexpr auto kIndexedAttrs = kAttrs<RoundingType, Attr<"dilations", &A::dilations>,
                                      Attr<"index_element_type", &A::index_element_type>, Attr<"axis", &A::axis>>;

consteval Version indexed(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = pooling::kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer_indexed,
          .eval = eval,
          .steps = pooling::window_steps};
}
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = pooling::kInputs,
     .outputs = kOutput,
     .attrs = kAttrs<pooling::RoundingType1>,
     .infer = infer,
     .eval = eval,
     .steps = pooling::window_steps},
    indexed(8, kIndexedAttrs<pooling::RoundingType1>),
    indexed(14, kIndexedAttrs<pooling::RoundingType14>),
};

}  // namespace

extern constinit const OpDef def{.type = "MaxPool", .spec = "pooling/max-pool", .versions = kVersions};

}  // namespace ovir::ops::max_pool
