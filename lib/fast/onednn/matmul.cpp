// MatMul-1 by oneDNN.
#include "fast/dnnl.hpp"
#include "op/shared_attrs.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::onednn::matmul {
namespace {

/// The operand's dims and strides with its last two axes in the order of the product.
struct Operand {
  Dims dims, strides;
};

Dims row_major(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Operand operand(const Dims& shape, bool transposed, bool left) {
  Operand o{shape, row_major(shape)};
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

class MatMul final : public Kernel {
 public:
  explicit MatMul(const MatMulAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "onednn.matmul"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &left = sizes.in[0], &right = sizes.in[1], &out = sizes.out[0];
    if (left.size() == 0 || right.size() == 0 || out.size() == 0) return nullptr;
    use_threads(runtime);
    auto a = operand({left.dims.begin(), left.dims.end()}, attrs_.transpose_a, true),
         b = operand({right.dims.begin(), right.dims.end()}, attrs_.transpose_b, false);
    if (b.dims.size() == 2 && a.dims.size() > 2 && !attrs_.transpose_a) {  // the batch becomes rows
      const auto k = a.dims.back();
      a = {{left.size() / k, k}, {k, 1}};
    }
    const auto rank = std::max(a.dims.size(), b.dims.size());
    pad_rank(a, rank);
    pad_rank(b, rank);
    Dims c(rank);
    for (std::size_t i = 0; i + 2 < rank; ++i) c[i] = std::max(a.dims[i], b.dims[i]);
    c[rank - 2] = a.dims[rank - 2];
    c[rank - 1] = b.dims[rank - 1];
    try {
      const Desc da(a.dims, kF32, a.strides), db(b.dims, kF32, b.strides), dc(c, kF32, row_major(c));
      const auto pd = fast::matmul(da, db, dc);
      if (is_slow(pd.impl_info_str())) return nullptr;
      auto s = std::make_unique<Prepared>();
      s->primitive = dnnl::matmul(pd);
      s->args = {{DNNL_ARG_SRC, at(da, nullptr)}, {DNNL_ARG_WEIGHTS, at(db, nullptr)}, {DNNL_ARG_DST, at(dc, nullptr)}};
      s->args[DNNL_ARG_SCRATCHPAD] = s->make(pd.scratchpad_desc());
      return s;
    } catch (const dnnl::error&) {
      return nullptr;
    }
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    auto& s = static_cast<Prepared&>(state);
    use_threads(runtime);
    s.args[DNNL_ARG_SRC].set_data_handle(in[0].data);
    s.args[DNNL_ARG_WEIGHTS].set_data_handle(in[1].data);
    s.args[DNNL_ARG_DST].set_data_handle(out[0].data);
    s.execute();
    s.stream.wait();
  }

 private:
  MatMulAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  if (graph.stored(a) != ElementType::f32 || graph.stored(b) != ElementType::f32) return std::nullopt;
  return Match{{root}, {a, b}, std::make_unique<MatMul>(graph.attrs<MatMulAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "onednn.matmul", .roots = kRoots, .match = match, .priority = Priority::library, .steady_only = true};

}  // namespace ovir::fast::onednn::matmul
