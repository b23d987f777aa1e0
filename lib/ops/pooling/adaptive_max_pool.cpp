// AdaptiveMaxPool: the largest element of windows that are laid so that the output has the size asked for, and where it
// was. Spec: operation-sets/operation-specs/pooling/adaptive-max-pool-8
#include "ops/pooling/common.hpp"

namespace ovir::ops::adaptive_max_pool {
namespace {

enum Input { data, output_shape };
enum Output { values, indices };

struct Attrs {
  ElementType index_element_type = ElementType::i64;
};

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().index_element_type;
  c.require_index_type(type, "index_element_type");
  auto shape = pooling::infer_adaptive(c);
  c.output(values, shape);
  if (c.output_count() > indices) c.output(indices, type, std::move(shape));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  auto& out = c.out(values);
  std::vector<i64> where;  // in the plane of the spatial axes
  if (out.size() != 0) {
    const auto p = pooling::adaptive_problem(from.shape(), out.shape(), c.memory());
    dispatch(out.type(), Floats{}, [&]<class T>() {
      const auto* x = from.data<T>();
      auto* to = out.mutable_data<T>();
      for (i64 plane = 0; plane < p.planes; ++plane, x += p.in[0] * p.in[1] * p.in[2]) {
        i64 best = -1;
        const auto tap = [&](i64 i) {
          if (best < 0 || x[i] > x[best]) best = i;
        };
        pooling::each_window(
            p, [&] { best = -1; }, tap,
            [&](const auto&...) {
              *to++ = x[best];
              where.push_back(best);
            });
      }
    });
  }
  if (c.output_count() <= indices) return;
  auto& at = c.out(indices);
  dispatch(at.type(), Indices{}, [&]<class T>() {
    std::transform(where.begin(), where.end(), at.mutable_data<T>(), [](i64 i) { return static_cast<T>(i); });
  });
}

constexpr TypeVar T{"T", kFloat}, TShape{"T_SHAPE", kIndex}, TIndex{"T_IND", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"output_shape", TShape}};
constexpr PortDef kOutputs[] = {{"output", T}, {"indices", TIndex}};
constexpr auto kAttrs = attributes<Attrs, Attr<"index_element_type", &Attrs::index_element_type>>;
constexpr Version kVersions[] = {{.since = 8,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .reads = ports(output_shape),
                                  .eval = eval,
                                  .steps = pooling::adaptive_steps}};

}  // namespace

extern constinit const OpDef def{.type = "AdaptiveMaxPool", .spec = "pooling/adaptive-max-pool", .versions = kVersions};

}  // namespace ovir::ops::adaptive_max_pool
