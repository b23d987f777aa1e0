// GroupNormalization-12 in f32.
#include "op/kit/group_normalization_attrs.hpp"

#include "fast/kernels/normalization/rows.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::group_normalization {
namespace {

class GroupNormalization final : public Kernel {
 public:
  explicit GroupNormalization(const GroupNormalizationAttrs& attrs) : attrs_(attrs) {}

  std::string name() const override { return "group_normalization"; }

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
    normalize_rows(what, x.as<const float>(), out[0].as<float>(), runtime.pool());
  }

  bool writes_over(int input) const override { return input == 0; }

 private:
  GroupNormalizationAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0), scale = graph.input(root, 1), bias = graph.input(root, 2);
  if (!is_f32(graph, x) || !is_f32(graph, scale) || !is_f32(graph, bias)) return std::nullopt;
  return Match{
      {root}, {x, scale, bias}, std::make_unique<GroupNormalization>(graph.attrs<GroupNormalizationAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"GroupNormalization"};

}  // namespace

extern constinit const Pattern pattern{.name = "group_normalization", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::group_normalization
