// ScatterUpdate and ScatterElementsUpdate along a known axis. The data are not copied where they may stay.
#include "fast/kernels/movement/along_axis.hpp"
#include "fast/kernels/movement/gather.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/data_index.hpp"

namespace ovir::fast::patterns::scatter_update {
namespace {

/// What both have in common.
class Scatter : public Kernel {
 public:
  Scatter(const Version& version, i64 axis) : version_(&version), axis_(axis) {}

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return fits(sizes) ? std::make_unique<KernelState>() : nullptr;
  }
  bool writes_over(int input) const override { return input == 0; }

 protected:
  static bool fits(const Sizes& sizes) {
    return sizes.in[0].type == sizes.out[0].type && sizes.in[2].type == sizes.out[0].type;
  }
  static void copy_data(const View& data, const View& out, ThreadPool& pool) {
    copy_runs(data.data, 0, out.data, 0, run_bytes(out, 0), 1, pool);
  }
  i64 axis() const { return axis_; }
  template <class Index>
  [[noreturn]] void fail(const View& indices, i64 place, i64 length, bool from_end) const {
    fail_index(*version_, 1, static_cast<i64>(indices.as<Index>()[place]), axis_, length, from_end);
  }

 private:
  const Version* version_;
  i64 axis_;
};

class ScatterUpdate final : public Scatter {
 public:
  using Scatter::Scatter;
  std::string name() const override { return "scatter_update"; }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    if (in[1].type == ElementType::i64) update<i64>(in, out[0], runtime.pool());
    else update<std::int32_t>(in, out[0], runtime.pool());
  }

 private:
  template <class Index>
  void update(std::span<const View> in, const View& out, ThreadPool& pool) const {
    const auto& indices = in[1];
    const auto* index = indices.as<const Index>();
    const auto length = out.dim(axis());
    for (i64 i = 0; i < indices.size(); ++i)
      if (index[i] < 0 || index[i] >= length) fail<Index>(indices, i, length, index[i] >= 0);
    copy_data(in[0], out, pool);
    const Gathering what{.batches = 1,
                         .outer = outer_of(out, axis()),
                         .length = length,
                         .picks = indices.size(),
                         .slice = run_bytes(out, axis() + 1)};
    scatter(what, in[2].data, index, out.data, pool);
  }
};

class ScatterElements final : public Scatter {
 public:
  ScatterElements(const Version& version, i64 axis, const ScatterElementsAttrs& attrs)
      : Scatter(version, axis), attrs_(attrs) {}

  std::string name() const override { return "scatter_elements_update"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    if (!fits(sizes)) return nullptr;
    auto state = std::make_unique<State>();
    if (const auto floats = scatter_scratch_size(sizes.out[0], attrs_.reduction))
      state->counts = state->reserve(floats);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    copy_data(in[0], out[0], runtime.pool());
    const auto outside = scatter_along(in[1], in[2], axis(), attrs_, out[0],
                                       state.counts ? state.floats(state.counts) : nullptr, runtime.pool());
    if (outside < 0) return;
    const auto length = out[0].dim(axis());
    if (in[1].type == ElementType::i64) fail<i64>(in[1], outside, length, true);
    fail<std::int32_t>(in[1], outside, length, true);
  }

 private:
  struct State final : KernelState {
    Scratch counts;
  };
  ScatterElementsAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0), indices = graph.input(root, 1), updates = graph.input(root, 2);
  const auto& shape = graph.fact(data).shape;
  const auto type = graph.stored(data), index = graph.stored(indices);
  if (!shape.has_rank() || !graph.fact(indices).shape.has_rank() || !is_bytes(type) ||
      (index != ElementType::i32 && index != ElementType::i64))
    return std::nullopt;
  const auto axes = constant_axes(graph, graph.input(root, 3), shape.rank());
  if (!axes || axes->size() != 1) return std::nullopt;
  const auto& version = *graph.node(root).version;
  Match match{{root}, {data, indices, updates}, nullptr};
  if (graph.type(root) == "ScatterUpdate") {
    match.kernel = std::make_unique<ScatterUpdate>(version, axes->front());
    return match;
  }
  const auto attrs = version.since >= 12 ? graph.attrs<ScatterElementsAttrs>(root) : ScatterElementsAttrs();
  if (shape.rank() == 0 || shape.rank() > kMaxIndexedDims || !reduces(type, attrs.reduction)) return std::nullopt;
  match.kernel = std::make_unique<ScatterElements>(version, axes->front(), attrs);
  return match;
}

constexpr std::string_view kRoots[] = {"ScatterUpdate", "ScatterElementsUpdate"};

}  // namespace

extern constinit const Pattern pattern{.name = "scatter_update", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::scatter_update
