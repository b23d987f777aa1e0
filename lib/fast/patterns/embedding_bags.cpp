// EmbeddingBagOffsets, EmbeddingBagPacked and EmbeddingSegmentsSum of f32.
#include <algorithm>
#include <functional>

#include "fast/kernels/movement/parts.hpp"
#include "fast/kernels/reduction/bag_sums.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/embedding_bags.hpp"

namespace ovir::fast::patterns::embedding_bags {
namespace {

class EmbeddingBags final : public Kernel {
 public:
  /// `ports`: of the operation; `places`: of the same among the inputs of this kernel.
  EmbeddingBags(const Version& version, const BagInputs& ports, const BagInputs& places, BagReduction reduction)
      : version_(&version), ports_(ports), places_(places), reduction_(reduction) {}

  std::string name() const override { return "embedding_bags"; }

  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    if (in[places_.indices].type == ElementType::i64) sum<i64>(in, out[0], runtime.pool());
    else sum<std::int32_t>(in, out[0], runtime.pool());
  }

 private:
  template <class Index>
  void sum(std::span<const View> in, const View& out, ThreadPool& pool) const {
    const auto& table = in[places_.table];
    const auto& indices = in[places_.indices];
    const auto rows = table.dim(0), count = out.dim(0), size = indices.size();
    const auto* index = indices.as<const Index>();
    const auto require_row = [&](int port, i64 row) {
      if (row < 0 || row >= rows) fail_row(*version_, port, row, rows);
    };
    for (i64 i = 0; i < size; ++i) require_row(ports_.indices, index[i]);
    BagSums what{.table = table.as<const float>(),
                 .width = run_bytes(out, 1) / static_cast<i64>(sizeof(float)),
                 .weights = places_.weights < 0 ? nullptr : in[places_.weights].as<const float>(),
                 .mean = reduction_ == BagReduction::mean,
                 .empty = nullptr};
    const auto add = [&](const std::function<BagRange(i64)>& bag) {
      if (places_.default_index >= 0) {
        const i64 row = *in[places_.default_index].as<const Index>();
        bool needed = false;
        for (i64 b = 0; b < count && !needed && row >= 0; ++b) needed = bag(b).last <= bag(b).first;
        if (needed) {
          require_row(ports_.default_index, row);
          what.empty = what.table + row * what.width;
        }
      }
      const auto mean_length = static_cast<double>(size) / static_cast<double>(std::max<i64>(1, count));
      bag_sums(what, index, bag, count, mean_length, out.as<float>(), pool);
    };
    if (places_.segments < 0) {
      const auto length = indices.dim(1);
      return add([length](i64 b) { return BagRange{b * length, (b + 1) * length}; });
    }
    const auto* segments = in[places_.segments].as<const Index>();
    if (ports_.default_index == kOffsetBags.default_index) {
      for (i64 b = 0; b < count; ++b)
        if (segments[b] < 0 || segments[b] > size) fail_offset(*version_, b, segments[b], size);
      return add([=](i64 b) { return BagRange{segments[b], b + 1 < count ? i64{segments[b + 1]} : size}; });
    }
    add([=](i64 b) {
      const auto [first, last] = std::equal_range(segments, segments + size, b);
      return BagRange{first - segments, last - segments};
    });
  }

  const Version* version_;
  BagInputs ports_, places_;
  BagReduction reduction_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto type = graph.type(root);
  const auto& ports = type == "EmbeddingSegmentsSum"           ? kSegmentBags
                      : type.starts_with("EmbeddingBagPacked") ? kPackedBags
                                                               : kOffsetBags;
  if (!is_f32(graph, graph.input(root, ports.table)) || !graph.fact({root, 0}).shape.has_rank()) return std::nullopt;
  std::vector<ValueRef> inputs;
  const auto take = [&](int port) {
    if (port < 0 || graph.input(root, port).node < 0) return -1;
    inputs.push_back(graph.input(root, port));
    return static_cast<int>(inputs.size()) - 1;
  };
  BagInputs places;
  places.table = take(ports.table);
  places.indices = take(ports.indices);
  places.segments = take(ports.segments);
  // How many segments there are, for the size alone.
  if (type == "EmbeddingSegmentsSum" && !graph.constant(graph.input(root, 3))) take(3);
  places.default_index = take(ports.default_index);
  places.weights = take(ports.weights);
  return Match{
      {root},
      std::move(inputs),
      std::make_unique<EmbeddingBags>(*graph.node(root).version, ports, places, graph.attrs<BagAttrs>(root).reduction)};
}

constexpr std::string_view kRoots[] = {"EmbeddingBagOffsets", "EmbeddingBagOffsetsSum", "EmbeddingBagPacked",
                                       "EmbeddingBagPackedSum", "EmbeddingSegmentsSum"};

}  // namespace

extern constinit const Pattern pattern{.name = "embedding_bags", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::embedding_bags
