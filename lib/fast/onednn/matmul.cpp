// MatMul-1 by oneDNN.
#include "op/shared_attrs.hpp"

#include "fast/dnnl.hpp"
#include "fast/onednn/kernels.hpp"

namespace ovir::fast::onednn {
namespace {

struct Prepared {
  dnnl::matmul primitive;
  Desc a, b, c;
  bool usable = false;
};

/// The operand's dims and strides with its last two axes in the order of the product.
struct Operand {
  Shape dims, strides;
};

Operand operand(const Shape& shape, bool transposed, bool left) {
  Operand o{shape, strides_of(shape)};
  if (shape.size() == 1) {  // a vector is a row on the left, a column on the right
    const auto length = shape[0];
    return left ? Operand{{1, length}, {length, 1}} : Operand{{length, 1}, {1, 1}};
  }
  const auto n = shape.size();
  if (transposed) {
    std::swap(o.dims[n - 1], o.dims[n - 2]);
    std::swap(o.strides[n - 1], o.strides[n - 2]);
  }
  return o;
}

void pad_rank(Operand& o, std::size_t rank) {
  const auto missing = rank - o.dims.size();
  o.strides.insert(o.strides.begin(), missing, o.dims.empty() ? 1 : o.dims[0] * o.strides[0]);
  o.dims.insert(o.dims.begin(), missing, 1);
}

struct MatMul {
  const MatMulAttrs attrs;
  Recent<Prepared> prepared{};

  void operator()(EvalContext& c) {
    const auto &a = c.in(0), &b = c.in(1);
    auto& out = c.out(0);
    if (out.size() == 0) return;
    if (a.size() == 0) return c.version().eval(c);
    auto key = a.shape();
    key.push_back(-1);
    key.insert(key.end(), b.shape().begin(), b.shape().end());
    auto& p = prepared.get(key, [&] { return make(a.shape(), b.shape()); });
    if (!p.usable) return c.version().eval(c);
    auto& stream = device().stream;
    p.primitive.execute(
        stream, {{DNNL_ARG_SRC, view(p.a, a)}, {DNNL_ARG_WEIGHTS, view(p.b, b)}, {DNNL_ARG_DST, view(p.c, out)}});
    stream.wait();
  }

  Prepared make(const Shape& sa, const Shape& sb) const {
    auto a = operand(sa, attrs.transpose_a, true), b = operand(sb, attrs.transpose_b, false);
    if (b.dims.size() == 2 && a.dims.size() > 2 && !attrs.transpose_a) {  // the batch becomes rows
      const auto k = a.dims.back();
      const auto rows = k == 0 ? 0 : element_count(sa) / k;
      a = {{rows, k}, {k, 1}};
    }
    const auto rank = std::max(a.dims.size(), b.dims.size());
    pad_rank(a, rank);
    pad_rank(b, rank);
    Shape c(rank);
    for (std::size_t i = 0; i + 2 < rank; ++i) c[i] = std::max(a.dims[i], b.dims[i]);
    c[rank - 2] = a.dims[rank - 2];
    c[rank - 1] = b.dims[rank - 1];
    try {
      const Desc da(a.dims, kF32, a.strides), db(b.dims, kF32, b.strides), dc(c, kF32, strides_of(c));
      const auto pd = matmul(device().engine, da, db, dc);
      if (is_slow(pd.impl_info_str())) return {};
      return {dnnl::matmul(pd), da, db, dc, true};
    } catch (const dnnl::error&) {
      return {};
    }
  }
};

}  // namespace

Kernel prepare_matmul(const NodeView& node) {
  if (lifted_type(node.inputs[0].type) != ElementType::f32) return {};
  return [state = std::make_shared<MatMul>(MatMul{node.as<MatMulAttrs>()})](EvalContext& c) { (*state)(c); };
}

}  // namespace ovir::fast::onednn
