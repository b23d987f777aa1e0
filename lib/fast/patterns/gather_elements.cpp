// GatherElements. Of constant places, as relative positions of attention become, it is known when the plan is made
// where each element comes from.
#include <cstdint>
#include <limits>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/movement/along_axis.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/data_index.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::gather_elements {
namespace {

using Places = std::vector<std::int32_t>;

class PlacedElements final : public Kernel {
 public:
  /// `places`: of the elements in the data, which have `size` of them.
  PlacedElements(Places places, i64 size) : places_(std::move(places)), size_(size) {}

  std::string name() const override { return "gather_elements"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &from = sizes.in[0], &to = sizes.out[0];
    return from.type == to.type && from.size() == size_ && to.size() == std::ssize(places_)
               ? std::make_unique<KernelState>()
               : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    switch (byte_width(out[0].type)) {
      case 1: return gather<std::uint8_t>(in[0], out[0], runtime.pool());
      case 2: return gather<std::uint16_t>(in[0], out[0], runtime.pool());
      case 4: return gather<std::uint32_t>(in[0], out[0], runtime.pool());
      default: return gather<std::uint64_t>(in[0], out[0], runtime.pool());
    }
  }

 private:
  template <class Word>
  void gather(const View& in, const View& out, ThreadPool& pool) const {
    const auto* from = reinterpret_cast<const Word*>(in.data);
    auto* to = reinterpret_cast<Word*>(out.data);
    constexpr double kNanoseconds = 0.6;  // an element
    parallel_ranges(pool, std::ssize(places_), kNanoseconds, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) to[i] = from[places_[i]];
    });
  }

  Places places_;
  i64 size_;
};

/// Nothing where an index lies outside of the data.
std::optional<Places> places_of(const Shape& data, const Tensor& indices, i64 axis) {
  const auto index = to_i64(indices);
  i64 inner = 1;
  for (auto i = axis + 1; i < data.rank(); ++i) inner *= data[i];
  const auto length = data[axis], run = indices.dim(axis) * inner;
  Places places(index.size());
  for (i64 i = 0; i < std::ssize(index); ++i) {
    const auto at = index[i] < 0 ? index[i] + length : index[i];
    if (at < 0 || at >= length) return std::nullopt;
    places[i] = static_cast<std::int32_t>((i / run * length + at) * inner + i % inner);
  }
  return places;
}

class GatherElements final : public Kernel {
 public:
  GatherElements(const Version& version, i64 axis) : version_(&version), axis_(axis) {}

  std::string name() const override { return "gather_elements"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].type == sizes.out[0].type ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &data = in[0], &indices = in[1];
    const auto outside = gather_along(data, indices, axis_, out[0], runtime.pool());
    if (outside < 0) return;
    const auto index =
        indices.type == ElementType::i64 ? indices.as<i64>()[outside] : i64{indices.as<std::int32_t>()[outside]};
    fail_index(*version_, 1, index, axis_, data.dim(axis_), true);
  }

 private:
  const Version* version_;
  i64 axis_;
};

std::optional<Match> match_computed(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0), indices = graph.input(root, 1);
  const auto& shape = graph.fact(data).shape;
  const auto type = graph.stored(indices);
  if (!shape.has_rank() || shape.rank() > kMaxIndexedDims || !graph.fact(indices).shape.has_rank() ||
      (type != ElementType::i32 && type != ElementType::i64))
    return std::nullopt;
  const auto axis = graph.attrs<GatherElementsAttrs>(root).axis;
  const auto& version = *graph.node(root).version;
  return Match{
      {root}, {data, indices}, std::make_unique<GatherElements>(version, axis < 0 ? axis + shape.rank() : axis)};
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0);
  const auto* indices = graph.constant(graph.input(root, 1));
  const auto& shape = graph.fact(data).shape;
  const auto type = graph.stored(data);
  if (!is_bytes(type) || byte_width(type) > 8) return std::nullopt;
  if (!indices || indices->size() == 0 || !shape.is_static()) return match_computed(graph, root);
  const auto from = shape.to_shape();
  if (from.count() > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  const auto axis = graph.attrs<GatherElementsAttrs>(root).axis;
  auto places = places_of(from, *indices, axis < 0 ? axis + from.rank() : axis);
  if (!places) return std::nullopt;
  return Match{{root}, {data}, std::make_unique<PlacedElements>(std::move(*places), from.count())};
}

constexpr std::string_view kRoots[] = {"GatherElements"};

}  // namespace

extern constinit const Pattern pattern{.name = "gather_elements", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::gather_elements
