// Root mean square normalization as models spell it out, over the last axis in f32: x · (1 / √(mean(x²) + ε)) · weight,
// in this order, or with the weight first.
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/normalization/rows.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::rms_normalization {
namespace {

class RmsNormalization final : public Kernel {
 public:
  RmsNormalization(float epsilon, Buffer weight) : epsilon_(epsilon), weight_(std::move(weight)) {}

  std::string name() const override { return weight_.size() ? "rms_normalization+Multiply" : "rms_normalization"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    if (x.rank() == 0 || x.size() != sizes.out[0].size()) return nullptr;
    if (weight_.size() && weight_.size() != x.dim(x.rank() - 1)) return nullptr;
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    normalize_rows(what(in[0]), in[0].as<const float>(), out[0].as<float>(), runtime.pool());
  }

  i64 rows(const Sizes& sizes) const override { return what(sizes.in[0]).rows; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    normalize_rows(what(in[0]), in[0].as<const float>(), out[0].as<float>(), begin, end);
  }

  bool writes_over(int) const override { return true; }

 private:
  RowNormalization what(const View& x) const {
    const auto n = x.dim(x.rank() - 1);
    return {.rows = n ? x.size() / n : 0,
            .n = n,
            .epsilon = epsilon_,
            .center = false,
            .weight = weight_.size() ? weight_.data() : nullptr};
  }

  float epsilon_;
  Buffer weight_;
};

/// From the squares on.
std::optional<Match> match(const Graphlet& graph, int root) {
  const auto squared = squared_by(graph, root);
  if (!squared) return std::nullopt;
  const auto x = *squared;
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() == 0) return std::nullopt;
  const auto rank = shape.rank();
  const auto mean = mean_from(graph, graph.only_user({root, 0}));
  if (!mean || mean->axes != std::vector<i64>{rank - 1}) return std::nullopt;
  auto kept = shape;
  kept[rank - 1] = Dim(1);
  const auto laid = laid_as(graph, mean->nodes.back(), kept);
  if (!laid) return std::nullopt;
  Match match{{root}, {x}, nullptr};
  match.nodes.insert(match.nodes.end(), mean->nodes.begin(), mean->nodes.end());
  match.nodes.insert(match.nodes.end(), laid->begin(), laid->end());
  const auto add = followed_by(graph, match.nodes.back(), "Add");
  const auto epsilon = add ? number(graph, graph.input(add->first, 1 - add->second)) : std::nullopt;
  if (!epsilon || !(*epsilon >= 0)) return std::nullopt;
  const auto inverse = inverse_root_after(graph, add->first);
  if (!inverse) return std::nullopt;
  match.nodes.push_back(add->first);
  match.nodes.insert(match.nodes.end(), inverse->nodes.begin(), inverse->nodes.end());
  Buffer weight;
  const auto take_weight = [&] {
    const auto factor = followed_by(graph, match.nodes.back(), "Multiply");
    const auto& last = shape[rank - 1];
    if (!factor || !last.is_static() || weight.size() || !aligns_by_numpy(graph, factor->first)) return;
    const auto* t = per_channel(graph, graph.input(factor->first, 1 - factor->second), rank, rank - 1, last.length());
    if (!t) return;
    weight = Buffer(t->size());
    std::copy_n(t->data<float>(), t->size(), weight.data());
    match.nodes.push_back(factor->first);
  };
  if (inverse->divides) {
    if (!same(graph.input(match.nodes.back(), 0), x)) return std::nullopt;
  } else {
    take_weight();  // before or after x
    const auto scaled = followed_by(graph, match.nodes.back(), "Multiply");
    if (!scaled || !same(graph.input(scaled->first, 1 - scaled->second), x)) return std::nullopt;
    match.nodes.push_back(scaled->first);
  }
  take_weight();
  for (const auto node : match.nodes)
    if (!is_f32(graph, {node, 0})) return std::nullopt;
  match.kernel = std::make_unique<RmsNormalization>(*epsilon, std::move(weight));
  return match;
}

constexpr std::string_view kRoots[] = {"Power", "Multiply"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "rms_normalization", .roots = kRoots, .match = match, .groups_only = true};

}  // namespace ovir::fast::patterns::rms_normalization
