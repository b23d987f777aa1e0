// GatherND of any type.
#include "fast/kernels/movement/gather.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/data_index.hpp"
#include "op/kit/movement_attrs.hpp"

namespace ovir::fast::patterns::gather_nd {
namespace {

class GatherNd final : public Kernel {
 public:
  GatherNd(const Version& version, i64 batch_dims) : version_(&version), batch_dims_(batch_dims) {}

  std::string name() const override { return "gather_nd"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].type == sizes.out[0].type ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    if (in[1].type == ElementType::i64) gather<i64>(in[0], in[1], out[0], runtime.pool());
    else gather<std::int32_t>(in[0], in[1], out[0], runtime.pool());
  }

 private:
  template <class Index>
  void gather(const View& data, const View& indices, const View& out, ThreadPool& pool) const {
    const auto tuple = indices.dim(indices.rank() - 1), batches = outer_of(data, batch_dims_);
    const TupleGathering what{.batches = batches,
                              .picks = indices.size() / (batches * tuple),
                              .slice = run_bytes(data, batch_dims_ + tuple),
                              .lengths = data.dims.subspan(batch_dims_, tuple)};
    const auto* index = indices.as<const Index>();
    const auto outside = gather_tuples(what, data.data, index, out.data, pool);
    if (outside < 0) return;
    const auto axis = batch_dims_ + outside % tuple;
    fail_index(*version_, 1, static_cast<i64>(index[outside]), axis, data.dim(axis), true);
  }

  const Version* version_;
  i64 batch_dims_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0), indices = graph.input(root, 1);
  const auto type = graph.stored(indices);
  if (!is_bytes(graph.stored(data)) || !graph.fact(data).shape.has_rank() || !graph.fact(indices).shape.has_rank() ||
      (type != ElementType::i32 && type != ElementType::i64))
    return std::nullopt;
  const auto& version = *graph.node(root).version;
  return Match{{root}, {data, indices}, std::make_unique<GatherNd>(version, graph.attrs<GatherAttrs>(root).batch_dims)};
}

constexpr std::string_view kRoots[] = {"GatherND"};

}  // namespace

extern constinit const Pattern pattern{.name = "gather_nd", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::gather_nd
