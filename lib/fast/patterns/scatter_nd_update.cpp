// ScatterNDUpdate at constant places in rising order, as slices that are assigned to become: runs of neighbors are
// copied. What replaces all of the data is not copied where it may stay.
#include <algorithm>
#include <cstring>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::scatter_nd_update {
namespace {

/// Elements of the updates that lie together in the output, too.
struct Run {
  i64 from, to, length;
};

class ScatterNDUpdate final : public Kernel {
 public:
  /// `size`, `updates`: elements of the output and of what is put there. If these are as many, they alone are read.
  ScatterNDUpdate(std::vector<Run> runs, i64 size, i64 updates)
      : runs_(std::move(runs)), size_(size), updates_(updates) {}

  std::string name() const override { return "scatter_nd_update"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &updates = sizes.in.back(), &to = sizes.out[0];
    const bool same_type = sizes.in[0].type == to.type && updates.type == to.type;
    return same_type && sizes.in[0].size() == size_ && updates.size() == updates_ && to.size() == size_
               ? std::make_unique<KernelState>()
               : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &updates = in.back(), &to = out[0];
    const auto width = byte_width(to.type);
    auto& pool = runtime.pool();
    if (updates_ < size_) copy_runs(in[0].data, 0, to.data, 0, size_ * width, 1, pool);
    if (runs_.size() == 1) {
      const auto& all = runs_.front();
      return copy_runs(updates.data, 0, to.data + all.to * width, 0, all.length * width, 1, pool);
    }
    constexpr double kBytesPerNanosecond = 8, kStart = 5;
    const auto count = std::ssize(runs_);
    const auto mean = static_cast<double>(updates_ * width) / static_cast<double>(count);
    parallel_ranges(pool, count, kStart + mean / kBytesPerNanosecond, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i)
        std::memcpy(to.data + runs_[i].to * width, updates.data + runs_[i].from * width, runs_[i].length * width);
    });
  }

  bool writes_over(int input) const override { return input == 0; }

 private:
  std::vector<Run> runs_;
  i64 size_, updates_;
};

/// Where updates of `length` elements go, one for each tuple of indices; nothing where one lies outside of the data, or
/// before the end of the one before it.
std::optional<std::vector<Run>> runs_of(const Shape& data, const Tensor& indices, i64 tuple, i64 length) {
  const auto index = to_i64(indices);
  std::vector<Run> runs;
  for (i64 first = 0, source = 0; first < std::ssize(index); first += tuple, source += length) {
    i64 place = 0;
    for (i64 k = 0; k < tuple; ++k) {
      const auto i = index[first + k] < 0 ? index[first + k] + data[k] : index[first + k];
      if (i < 0 || i >= data[k]) return std::nullopt;
      place = place * data[k] + i;
    }
    place *= length;
    const auto end = runs.empty() ? 0 : runs.back().to + runs.back().length;
    if (place < end) return std::nullopt;
    if (!runs.empty() && place == end) runs.back().length += length;
    else runs.push_back({source, place, length});
  }
  return runs;
}

std::optional<Match> match(const Graphlet& graph, int root) {
  if (graph.node(root).version->since != 4) return std::nullopt;  // later ones may reduce
  const auto from = graph.input(root, 0), updates = graph.input(root, 2);
  const auto* indices = graph.constant(graph.input(root, 1));
  const auto &shape = graph.fact(from).shape, &given = graph.fact(updates).shape;
  if (!indices || indices->size() == 0 || !shape.is_static() || !given.is_static() || !is_bytes(graph.stored(from)))
    return std::nullopt;
  const auto data = shape.to_shape();
  const auto tuple = indices->dim(indices->rank() - 1);
  const auto length = Shape(data.begin() + tuple, data.end()).count(), put = given.to_shape().count();
  if (length == 0 || put % length != 0 || put / length != indices->size() / tuple) return std::nullopt;
  auto runs = runs_of(data, *indices, tuple, length);
  if (!runs) return std::nullopt;
  const auto size = data.count();
  return Match{{root},
               put < size ? std::vector{from, updates} : std::vector{updates},
               std::make_unique<ScatterNDUpdate>(std::move(*runs), size, put)};
}

constexpr std::string_view kRoots[] = {"ScatterNDUpdate"};

}  // namespace

extern constinit const Pattern pattern{.name = "scatter_nd_update", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::scatter_nd_update
