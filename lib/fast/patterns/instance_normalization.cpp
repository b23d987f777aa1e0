// MVN-6 over all spatial axes in f32 (InstanceNorm), with factors and offsets by channel, and the activation behind it,
// of blocked and of plain values; also as TensorFlow spells it out, and of one image as torch.export decomposes it:
// (x - mean(x)) · (factors / √(mean((x - mean(x))²) + ε)), where each mean may be computed on its own.
#include <algorithm>

#include "fast/kit/group_normalization.hpp"
#include "fast/kit/moments.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/kit/elementwise_attrs.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::instance_normalization {
namespace {

/// The nodes of a decomposed normalization, found from its end.
class Decomposed {
 public:
  Decomposed(const Graphlet& graph, int root) : graph_(graph) { take(root); }

  /// Takes what computes v, a node of this type; -1 where it is none.
  int take(ValueRef v, std::string_view type) {
    if (graph_.type(v.node) != type) return -1;
    take(v.node);
    return v.node;
  }
  /// v before it is reshaped from, or to, [1, channels, 1, …].
  ValueRef apart(ValueRef v) {
    const auto node = take(v, "Reshape");
    return node < 0 ? v : graph_.input(node, 0);
  }
  /// Whether v meets a value of this rank along the channels: [channels] alone would meet the last axis.
  bool lies_by_channel(ValueRef v, i64 rank) const {
    const auto& shape = graph_.fact(v).shape;
    if (!shape.is_static() || shape.rank() > rank || shape.rank() < rank - 1) return false;
    for (i64 i = 0; i < shape.rank(); ++i)
      if (i + rank - shape.rank() != 1 && shape[i].length() != 1) return false;
    return true;
  }
  /// Takes the mean by channel of a value, which it gives; node < 0 where v is none.
  ValueRef of_mean(ValueRef v, i64 rank) {
    const auto node = take(apart(v), "ReduceMean");
    if (node < 0) return {};
    auto axes = constant_axes(graph_, graph_.input(node, 1), rank);
    if (!axes) return {};
    std::sort(axes->begin(), axes->end());
    // The first axis is of one image.
    std::vector<i64> all(static_cast<std::size_t>(rank - 1), 0);
    for (i64 i = 1; i + 1 < rank; ++i) all[i] = i + 1;
    return *axes == all ? graph_.input(node, 0) : ValueRef{};
  }
  /// Takes x - mean(x), which may be x + mean(x) · -1, and gives x.
  ValueRef of_centered(ValueRef v, i64 rank) {
    if (const auto node = take(v, "Subtract"); node >= 0) {
      const auto x = graph_.input(node, 0);
      if (!lies_by_channel(graph_.input(node, 1), rank)) return {};
      return same(of_mean(graph_.input(node, 1), rank), x) ? x : ValueRef{};
    }
    const auto node = take(v, "Add");
    if (node < 0) return {};
    const auto x = graph_.input(node, 0);
    if (!lies_by_channel(graph_.input(node, 1), rank)) return {};
    const auto negative = take(graph_.input(node, 1), "Multiply");
    const bool negates = negative >= 0 && number(graph_, graph_.input(negative, 1)) == -1.0F;
    return negates && same(of_mean(graph_.input(negative, 0), rank), x) ? x : ValueRef{};
  }

  /// In topological order; empty where others read what they compute, but the last one.
  std::vector<int> nodes() const {
    auto all = nodes_;
    std::sort(all.begin(), all.end());
    for (const auto node : std::span(all).first(all.size() - 1))
      for (const auto user : graph_.users({node, 0}))
        if (!std::binary_search(all.begin(), all.end(), user)) return {};
    return all;
  }

 private:
  void take(int node) {
    if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
  }
  const Graphlet& graph_;
  std::vector<int> nodes_;
};

/// From the last product on, backwards.
std::optional<Match> match_decomposed(const Graphlet& graph, int root) {
  const auto& shape = graph.fact({root, 0}).shape;
  if (!is_f32(graph, {root, 0}) || !shape.has_rank() || shape.rank() < 4 || !shape[0].is_static() ||
      shape[0].length() != 1 || !shape[1].is_static() || shape[1].length() == 0)
    return std::nullopt;
  const auto rank = shape.rank(), channels = shape[1].length();
  Decomposed parts(graph, root);
  if (!parts.lies_by_channel(graph.input(root, 1), rank)) return std::nullopt;
  const auto quotient = parts.take(parts.apart(graph.input(root, 1)), "Divide");
  const auto x = quotient < 0 ? ValueRef{} : parts.of_centered(graph.input(root, 0), rank);
  const auto deviation = parts.take(graph.input(quotient, 1), "Sqrt");
  const auto sum = parts.take(graph.input(deviation, 0), "Add");
  const auto epsilon = number(graph, graph.input(sum, 1));
  if (!is_f32(graph, x) || !epsilon || !is_same(graph.fact(x).shape, shape)) return std::nullopt;
  const auto square = parts.of_mean(graph.input(sum, 0), rank);
  const auto product = parts.take(square, "Multiply");
  const auto centered = graph.input(product, 0);
  if (product < 0 || !same(centered, graph.input(product, 1)) || !same(parts.of_centered(centered, rank), x))
    return std::nullopt;
  const auto factors = by_channel(graph, graph.input(quotient, 0), 1, 0, channels);
  Match match{parts.nodes(), {x}, nullptr};
  if (factors.empty() || match.nodes.empty()) return std::nullopt;
  GroupNormalizationForm form("instance_normalization", channels, *epsilon, shape);
  form.weight = Buffer(channels);
  std::copy(factors.begin(), factors.end(), form.weight.data());
  form.take_offsets(graph, match, rank, channels);
  form.take_activation(graph, match);
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

std::optional<Match> match_moments(const Graphlet& graph, int root) {
  auto found = normalization_by_moments(graph, root);
  if (!found) return std::nullopt;
  const auto& shape = graph.fact(found->x).shape;
  if (shape.rank() < 3 || !shape[1].is_static() || shape[1].length() == 0 || !are_of_plane(found->axes, shape.rank()))
    return std::nullopt;
  const auto channels = shape[1].length();
  GroupNormalizationForm form("instance_normalization", channels, found->epsilon, shape);
  if (!form.set_factors(graph, *found, shape.rank(), channels)) return std::nullopt;
  Match match{std::move(found->nodes), {found->x}, nullptr};
  const bool is_bare = found->factor.node < 0 && found->offset.node < 0;
  if (is_bare && shape.rank() == 3) return std::nullopt;  // rows like others
  form.take_activation(graph, match);
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (graph.type(root) == "Multiply") return match_decomposed(graph, root);
  if (graph.type(root) == "ReduceMean") return match_moments(graph, root);
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.has_rank() || shape.rank() < 3 || !shape[1].is_static()) return std::nullopt;
  const auto channels = shape[1].length();
  if (channels == 0 || !is_over_planes(graph, root)) return std::nullopt;
  Match match{{root}, {x}, nullptr};
  GroupNormalizationForm form("instance_normalization", channels, graph.attrs<MvnAttrs>(root).eps, shape);
  form.take_factors(graph, match, shape.rank(), channels);
  form.take_activation(graph, match);
  if (shape.rank() == 3 && match.nodes.size() == 1) return std::nullopt;  // rows like others
  match.kernel = make_group_normalization(std::move(form));
  return match;
}

constexpr std::string_view kRoots[] = {"MVN", "Multiply", "ReduceMean"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "instance_normalization", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::instance_normalization
