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
    if (widened || form_.reads_rows || (x.layout == Layout::blocked) != computes_blocked(y.layout))
      state->in = state->reserve(x.size());
    if (computes_blocked(y.layout) && y.layout == Layout::plain) state->out = state->reserve(y.size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto &x = in[0], &y = out[0];
    const auto batch = x.dim(0), channels = form_.reads_rows ? x.dim(x.rank() - 1) : x.dim(1);
    const auto plane = x.size() / (batch * channels);
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
                               reinterpret_cast<std::uint16_t*>(y.data), pool);
    const bool blocked = computes_blocked(y.layout);
    const auto* from = reinterpret_cast<const float*>(x.data);
    if (state.in) {
      auto* brought = state.floats(state.in);
      if (x.type == ElementType::bf16)
        from_bf16_blocked(reinterpret_cast<const Word*>(x.data), brought, blocked, batch, channels, plane, pool);
      else if (form_.reads_rows) rows_to_blocked(from, brought, batch, channels, plane, pool);
      else (blocked ? to_blocked : to_plain)(from, brought, batch, channels, plane, pool, 1);
      from = brought;
    }
    if (!blocked) return normalize_rows(rows(what), from, y.as<float>(), pool);
    if (y.type == ElementType::bf16)
      return normalize_blocked(what, from, reinterpret_cast<std::uint16_t*>(y.data), pool);
    auto* to = state.out ? state.floats(state.out) : y.as<float>();
    normalize_blocked(what, from, to, pool);
    if (!state.out) return;
    if (form_.writes_rows) blocked_to_rows(to, y.as<float>(), batch, channels, plane, pool);
    else to_plain(to, y.as<float>(), batch, channels, plane, pool);
  }

  bool writes_over(int input) const override { return input == 0; }
  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || (input == 0 && form_.blocked && !form_.reads_rows);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || (form_.blocked && !form_.writes_rows); }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && reads(input, layout) && !form_.writes_rows &&
           can_normalize_bf16(form_.activation);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && writes(layout);
  }

 private:
  struct State final : KernelState {
    Scratch in, out;
  };

  bool computes_blocked(Layout written) const {
    return written == Layout::blocked || form_.reads_rows || form_.writes_rows;
  }
  static RowNormalization rows(const BlockedNormalization& what) {
    RowNormalization rows;
    rows.rows = what.batch * what.groups;
    rows.n = what.channels / what.groups * what.plane;
    rows.epsilon = what.epsilon;
    rows.weight = what.weight;
    rows.bias = what.bias;
    rows.per_channel = what.plane;
    rows.channel_rows = what.groups;
    rows.activation = what.activation;
    return rows;
  }

  GroupNormalizationForm form_;
};

}  // namespace

GroupNormalizationForm::GroupNormalizationForm(std::string_view name, i64 groups, double epsilon,
                                               const PartialShape& shape)
    : name(name), groups(groups), epsilon(static_cast<float>(epsilon)) {
  blocked = shape.has_rank() && shape.rank() >= 2 && shape.rank() <= 5 && shape[1].is_static() &&
            can_normalize_blocked(shape[1].length(), groups);
}

bool GroupNormalizationForm::set_factors(const Graphlet& graph, const MomentsNormalization& found, i64 rank,
                                         i64 channels, i64 axis, i64 axes) {
  const auto set = [&](ValueRef v, float otherwise, std::string_view type, Buffer& to) {
    const auto given = v.node < 0 ? std::vector<float>(static_cast<std::size_t>(channels), otherwise)
                                  : by_channel(graph, v, rank, axis, channels, axes);
    if (given.empty()) return false;
    to = Buffer(channels);
    std::copy(given.begin(), given.end(), to.data());
    if (v.node >= 0) name += type;
    return true;
  };
  return set(found.factor, 1, "+Multiply", weight) && set(found.offset, 0, "+Add", bias);
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

bool are_of_plane(const std::vector<i64>& axes, i64 rank) {
  if (axes.empty() || std::ssize(axes) != rank - 2) return false;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<i64>(i) + 2) return false;
  return true;
}

bool is_over_planes(const Graphlet& graph, int mvn) {
  const auto& attrs = graph.attrs<MvnAttrs>(mvn);
  const auto& shape = graph.fact(graph.input(mvn, 0)).shape;
  if (!attrs.normalize_variance || attrs.eps_mode != MvnEps::inside_sqrt || !shape.has_rank()) return false;
  auto axes = constant_axes(graph, graph.input(mvn, 1), shape.rank());
  if (!axes) return false;
  std::sort(axes->begin(), axes->end());
  return are_of_plane(*axes, shape.rank());
}

std::unique_ptr<const Kernel> make_group_normalization(GroupNormalizationForm form) {
  return std::make_unique<GroupNormalization>(std::move(form));
}

}  // namespace ovir::fast
