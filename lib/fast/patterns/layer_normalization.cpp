// MVN-6 over the last axes in f32, with the factors and offsets that a LayerNorm multiplies and adds, or all of it as
// TensorFlow or JAX spells it out (kit/moments), over the last axis.
#include <algorithm>

#include "fast/kernels/normalization/rows.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/moments.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::layer_normalization {
namespace {

class LayerNormalization final : public Kernel {
 public:
  LayerNormalization(const RowNormalization& what, i64 axes, Buffer weight, Buffer bias, std::string name)
      : what_(what), axes_(axes), weight_(std::move(weight)), bias_(std::move(bias)), name_(std::move(name)) {
    what_.weight = weight_.data();
    what_.bias = bias_.data();
  }

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto n = row(sizes.in[0]);
    if ((weight_.size() && weight_.size() != n) || (bias_.size() && bias_.size() != n)) return nullptr;
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto* x = in[0].as<const float>();
    if (out[0].type == ElementType::f32) return normalize_rows(what(in[0]), x, out[0].as<float>(), runtime.pool());
    normalize_rows(what(in[0]), x, reinterpret_cast<std::uint16_t*>(out[0].data), runtime.pool());
  }

  i64 rows(const Sizes& sizes) const override { return what(sizes.in[0]).rows; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const auto* x = in[0].as<const float>();
    if (out[0].type == ElementType::f32) return normalize_rows(what(in[0]), x, out[0].as<float>(), begin, end);
    normalize_rows(what(in[0]), x, reinterpret_cast<std::uint16_t*>(out[0].data), begin, end);
  }

  bool writes_over(int) const override { return true; }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::plain;
  }

 private:
  RowNormalization what(const View& v) const {
    auto what = what_;
    what.n = row(v);
    what.rows = what.n ? v.size() / what.n : 0;
    return what;
  }

  i64 row(const View& v) const {
    i64 n = 1;
    for (i64 i = v.rank() - axes_; i < v.rank(); ++i) n *= v.dim(i);
    return n;
  }

  RowNormalization what_;
  i64 axes_;
  Buffer weight_, bias_;
  std::string name_;
};

/// The last how many axes MVN goes over; 0 where they are others.
i64 trailing_axes(std::vector<i64> axes, i64 rank) {
  std::sort(axes.begin(), axes.end());
  for (i64 i = 0; i < std::ssize(axes); ++i)
    if (axes[i] != rank - (std::ssize(axes) - i)) return 0;
  return std::ssize(axes);
}

/// A factor or an offset of one number an element of the last axis.
const Tensor* of_row(const Graphlet& graph, int node, ValueRef v) {
  const auto& shape = graph.fact({node, 0}).shape;
  if (!shape.has_rank() || !aligns_by_numpy(graph, node)) return nullptr;
  const auto rank = shape.rank();
  const auto& last = shape[rank - 1];
  return last.is_static() ? per_channel(graph, v, rank, rank - 1, last.length()) : nullptr;
}

Buffer copied(const Tensor& t) {
  Buffer to(t.size());
  std::copy_n(t.data<float>(), t.size(), to.data());
  return to;
}

/// All of it in single nodes, from the mean on.
std::optional<Match> spelled_out(const Graphlet& graph, int root) {
  auto found = graph.type(root) == "ReduceMean" ? normalization_by_moments(graph, root) : std::nullopt;
  if (!found) found = normalization_by_squares(graph, root);
  if (!found || found->axes != std::vector<i64>{graph.fact(found->x).shape.rank() - 1}) return std::nullopt;
  const auto result = found->nodes.back();
  const auto *weight = of_row(graph, result, found->factor), *bias = of_row(graph, result, found->offset);
  if ((found->factor.node >= 0 && !weight) || (found->offset.node >= 0 && !bias)) return std::nullopt;
  const RowNormalization what{.rows = 0, .n = 0, .epsilon = found->epsilon};
  const auto name = std::string("normalization") + (weight ? "+Multiply" : "") + (bias ? "+Add" : "");
  return Match{std::move(found->nodes),
               {found->x},
               std::make_unique<LayerNormalization>(what, 1, weight ? copied(*weight) : Buffer(),
                                                    bias ? copied(*bias) : Buffer(), name)};
}

ValueRef other_input(const Graphlet& graph, int node, int than) {
  return graph.input(node, graph.input(node, 0).node == than ? 1 : 0);
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (graph.type(root) != "MVN") return spelled_out(graph, root);
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank()) return std::nullopt;
  const auto rank = shape.rank();
  const auto axes = constant_axes(graph, graph.input(root, 1), rank);
  const auto count = axes ? trailing_axes(*axes, rank) : 0;
  if (count == 0) return std::nullopt;
  Match match{{root}, {x}, nullptr};
  Buffer weight, bias;
  std::string name = "normalization";
  // A factor and an offset of one number an element of the row.
  const auto take = [&](std::string_view type, Buffer& to) {
    const auto next = graph.only_user({match.nodes.back(), 0});
    if (graph.type(next) != type || count != 1) return;
    const auto* t = of_row(graph, next, other_input(graph, next, match.nodes.back()));
    if (!t) return;
    to = copied(*t);
    match.nodes.push_back(next);
    name += "+" + std::string(type);
  };
  take("Multiply", weight);
  take("Add", bias);
  const auto& attrs = graph.attrs<MvnAttrs>(root);
  const RowNormalization what{.rows = 0,
                              .n = 0,
                              .epsilon = static_cast<float>(attrs.eps),
                              .scale = attrs.normalize_variance,
                              .epsilon_inside = attrs.eps_mode == MvnEps::inside_sqrt};
  match.kernel = std::make_unique<LayerNormalization>(what, count, std::move(weight), std::move(bias), std::move(name));
  return match;
}

constexpr std::string_view kRoots[] = {"MVN", "ReduceMean", "ReduceSum"};

}  // namespace

extern constinit const Pattern pattern{.name = "layer_normalization", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::layer_normalization
