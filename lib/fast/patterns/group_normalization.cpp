// GroupNormalization-12 in f32, and the activation behind it.
#include "op/kit/group_normalization_attrs.hpp"

#include "fast/kernels/normalization/rows.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::group_normalization {
namespace {

class GroupNormalization final : public Kernel {
 public:
  GroupNormalization(const GroupNormalizationAttrs& attrs, Unary activation, std::string name)
      : attrs_(attrs), activation_(activation), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].size() > 0 ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& x = in[0];
    RowNormalization what;
    what.rows = x.dim(0) * attrs_.num_groups;
    what.n = x.size() / what.rows;
    what.epsilon = static_cast<float>(attrs_.epsilon);
    what.weight = in[1].as<const float>();
    what.bias = in[2].as<const float>();
    what.per_channel = x.size() / (x.dim(0) * x.dim(1));
    what.channel_rows = attrs_.num_groups;
    what.activation = activation_;
    normalize_rows(what, x.as<const float>(), out[0].as<float>(), runtime.pool());
  }

  bool writes_over(int input) const override { return input == 0; }

 private:
  GroupNormalizationAttrs attrs_;
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
  match.kernel = std::make_unique<GroupNormalization>(graph.attrs<GroupNormalizationAttrs>(root),
                                                      activation.value_or(Unary{}), std::move(name));
  return match;
}

constexpr std::string_view kRoots[] = {"GroupNormalization"};

}  // namespace

extern constinit const Pattern pattern{.name = "group_normalization", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::group_normalization
