#include "fast/kit/group_normalization.hpp"

#include <algorithm>

#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/normalization/blocked.hpp"
#include "fast/kernels/normalization/rows.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

class GroupNormalization final : public Kernel {
 public:
  explicit GroupNormalization(GroupNormalizationForm form) : form_(std::move(form)) {}

  std::string name() const override { return form_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    auto state = std::make_unique<State>();
    const bool widened = x.type == ElementType::bf16 && y.type == ElementType::f32;
    if (widened || x.layout != y.layout) state->in = state->reserve(x.size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &x = in[0], &y = out[0];
    const auto batch = x.dim(0), channels = x.dim(1), plane = x.size() / (batch * channels);
    const BlockedNormalization what{
        .batch = batch,
        .channels = channels,
        .plane = plane,
        .groups = form_.groups,
        .epsilon = form_.epsilon,
        .weight = form_.weight.size() ? form_.weight.data() : in[1].as<const float>(),
        .bias = form_.bias.size() ? form_.bias.data() : in[2].as<const float>(),
        .activation = form_.activation,
    };
    if (x.type == ElementType::bf16 && y.type == ElementType::bf16)
      return normalize_blocked(what, reinterpret_cast<const std::uint16_t*>(x.data),
                               reinterpret_cast<std::uint16_t*>(y.data), runtime.pool());
    const auto* from = reinterpret_cast<const float*>(x.data);
    if (x.type == ElementType::bf16) {
      from_bf16_blocked(reinterpret_cast<const Word*>(x.data), state.floats(state.in), y.layout == Layout::blocked,
                        batch, channels, plane, runtime.pool());
      from = state.floats(state.in);
    } else if (state.in) {
      const auto reorder = y.layout == Layout::blocked ? to_blocked : to_plain;
      reorder(from, state.floats(state.in), batch, channels, plane, runtime.pool(), 1);
      from = state.floats(state.in);
    }
    if (y.layout == Layout::blocked) {
      if (y.type == ElementType::f32) return normalize_blocked(what, from, y.as<float>(), runtime.pool());
      return normalize_blocked(what, from, reinterpret_cast<std::uint16_t*>(y.data), runtime.pool());
    }
    RowNormalization rows;
    rows.rows = batch * what.groups;
    rows.n = x.size() / rows.rows;
    rows.epsilon = what.epsilon;
    rows.weight = what.weight;
    rows.bias = what.bias;
    rows.per_channel = plane;
    rows.channel_rows = what.groups;
    rows.activation = what.activation;
    normalize_rows(rows, from, y.as<float>(), runtime.pool());
  }

  bool writes_over(int input) const override { return input == 0; }
  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || (input == 0 && form_.blocked);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || form_.blocked; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && input == 0 && form_.blocked &&
           can_normalize_bf16(form_.activation);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && form_.blocked;
  }

 private:
  struct State final : KernelState {
    Scratch in;
  };

  GroupNormalizationForm form_;
};

}  // namespace

GroupNormalizationForm::GroupNormalizationForm(std::string_view name, i64 groups, double epsilon,
                                               const PartialShape& shape)
    : name(name), groups(groups), epsilon(static_cast<float>(epsilon)) {
  blocked = shape.has_rank() && shape.rank() >= 2 && shape.rank() <= 5 && shape[1].is_static() &&
            can_normalize_blocked(shape[1].length(), groups);
}

void GroupNormalizationForm::take_factors(const Graphlet& graph, Match& match, i64 rank, i64 channels) {
  const auto before = match.nodes.size();
  weight = take_by_channel(graph, match, "Multiply", rank, channels, 1);
  if (match.nodes.size() > before) name += "+Multiply";
  take_offsets(graph, match, rank, channels);
}

void GroupNormalizationForm::take_offsets(const Graphlet& graph, Match& match, i64 rank, i64 channels) {
  const auto before = match.nodes.size();
  bias = take_by_channel(graph, match, "Add", rank, channels, 0);
  if (match.nodes.size() > before) name += "+Add";
}

void GroupNormalizationForm::take_activation(const Graphlet& graph, Match& match) {
  const auto found = activation_after(graph, match.nodes.back());
  if (!found) return;
  activation = found->function;
  name += found->name;
  match.nodes.insert(match.nodes.end(), found->nodes.begin(), found->nodes.end());
}

bool is_over_planes(const Graphlet& graph, int mvn) {
  const auto& attrs = graph.attrs<MvnAttrs>(mvn);
  const auto& shape = graph.fact(graph.input(mvn, 0)).shape;
  if (!attrs.normalize_variance || attrs.eps_mode != MvnEps::inside_sqrt || !shape.has_rank()) return false;
  auto axes = constant_axes(graph, graph.input(mvn, 1), shape.rank());
  if (!axes || axes->empty() || std::ssize(*axes) != shape.rank() - 2) return false;
  std::sort(axes->begin(), axes->end());
  for (std::size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != static_cast<i64>(i) + 2) return false;
  return true;
}

std::unique_ptr<const Kernel> make_group_normalization(GroupNormalizationForm form) {
  return std::make_unique<GroupNormalization>(std::move(form));
}

}  // namespace ovir::fast
