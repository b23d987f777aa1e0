// GroupNormalization-12 in f32, of values in f32 or bf16, and the activation behind it.
#include "fast/kernels/convolution/bf16.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/normalization/blocked.hpp"
#include "fast/kernels/normalization/rows.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/group_normalization_attrs.hpp"

namespace ovir::fast::patterns::group_normalization {
namespace {

class GroupNormalization final : public Kernel {
 public:
  /// `blocked`: blocks and groups fit into each other.
  GroupNormalization(const GroupNormalizationAttrs& attrs, bool blocked, Unary activation, std::string name)
      : attrs_(attrs), blocked_(blocked), activation_(activation), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& x = sizes.in[0];
    auto state = std::make_unique<State>();
    const auto& y = sizes.out[0];
    const bool widened = x.type == ElementType::bf16 && y.type == ElementType::f32;
    if (widened || x.layout != y.layout) state->in = state->reserve(x.size());
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto &x = in[0], &y = out[0];
    const auto batch = x.dim(0), channels = x.dim(1), plane = x.size() / (batch * channels);
    const auto *weight = in[1].as<const float>(), *bias = in[2].as<const float>();
    const auto epsilon = static_cast<float>(attrs_.epsilon);
    const BlockedNormalization what{batch, channels, plane, attrs_.num_groups, epsilon, weight, bias, activation_};
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
    rows.rows = batch * attrs_.num_groups;
    rows.n = x.size() / rows.rows;
    rows.epsilon = epsilon;
    rows.weight = weight;
    rows.bias = bias;
    rows.per_channel = plane;
    rows.channel_rows = attrs_.num_groups;
    rows.activation = activation_;
    normalize_rows(rows, from, y.as<float>(), runtime.pool());
  }

  bool writes_over(int input) const override { return input == 0; }
  bool reads(int input, Layout layout) const override { return layout == Layout::plain || (input == 0 && blocked_); }
  bool writes(Layout layout) const override { return layout == Layout::plain || blocked_; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && input == 0 && blocked_ &&
           can_normalize_bf16(activation_);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::blocked && blocked_;
  }

 private:
  struct State final : KernelState {
    Scratch in;
  };

  GroupNormalizationAttrs attrs_;
  bool blocked_;
  Unary activation_;
  std::string name_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), scale = graph.input(root, 1), bias = graph.input(root, 2);
  if (!is_f32(graph, x) || !is_f32(graph, scale) || !is_f32(graph, bias)) return std::nullopt;
  Match match{{root}, {x, scale, bias}, nullptr};
  const auto next = graph.only_user({root, 0});
  const auto activation = next < 0 ? std::nullopt : function_of(graph, next);
  std::string name = "group_normalization";
  if (activation) {
    match.nodes.push_back(next);
    name += "+" + std::string(graph.type(next));
  }
  const auto& attrs = graph.attrs<GroupNormalizationAttrs>(root);
  const auto& shape = graph.fact(x).shape;
  const bool blocked = shape.has_rank() && shape.rank() >= 2 && shape[1].is_static() &&
                       can_normalize_blocked(shape[1].length(), attrs.num_groups);
  match.kernel = std::make_unique<GroupNormalization>(attrs, blocked, activation.value_or(Unary{}), std::move(name));
  return match;
}

constexpr std::string_view kRoots[] = {"GroupNormalization"};

}  // namespace

extern constinit const Pattern pattern{.name = "group_normalization", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::group_normalization
