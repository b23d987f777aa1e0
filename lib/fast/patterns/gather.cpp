// Gather of any type along any axis. Rows of a constant of f16 or bf16 become f32 as they are picked, the others never.
#include "fast/kernels/movement/gather.hpp"

#include <algorithm>
#include <cstdint>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/movement_attrs.hpp"

namespace ovir::fast::patterns::gather {
namespace {

class NarrowGather final : public Kernel {
 public:
  explicit NarrowGather(Tensor table)
      : table_(std::move(table)), rows_(table_.dim(0)), columns_(table_.size() / rows_) {}

  std::string name() const override { return "narrow.gather"; }

  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    auto* y = out[0].as<float>();
    if (in[1].type == ElementType::i64) pick(in[1].as<const i64>(), in[1].size(), y, runtime.pool());
    else pick(in[1].as<const std::int32_t>(), in[1].size(), y, runtime.pool());
  }

  bool holds(int input) const override { return input == 0; }

 private:
  template <class Index>
  void pick(const Index* index, i64 count, float* y, ThreadPool& pool) const {
    parallel_ranges(pool, count, static_cast<double>(columns_) / 8, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        const auto row = index[i] < 0 ? index[i] + rows_ : static_cast<i64>(index[i]);
        auto* const to = y + i * columns_;
        if (row < 0 || row >= rows_) std::fill_n(to, columns_, 0.0f);
        else read(row * columns_, to);
      }
    });
  }

  void read(i64 first, float* to) const {
    const auto* from = table_.source() + 2 * first;
    if (reinterpret_cast<std::uintptr_t>(from) % 2 == 0)
      return NarrowWeights{table_.type(), from}.read(0, columns_, to);
    // At an address at which no element may lie.
    constexpr i64 kPart = 512;
    alignas(64) std::byte part[2 * kPart];
    for (i64 k = 0; k < columns_; k += kPart) {
      const auto count = std::min(kPart, columns_ - k);
      std::copy_n(from + 2 * k, 2 * count, part);
      NarrowWeights{table_.type(), part}.read(0, count, to + k);
    }
  }

  Tensor table_;
  i64 rows_, columns_;
};

class GatherKernel final : public Kernel {
 public:
  /// `table`: the data, where they are a constant; read as they lie in the file, at any address.
  GatherKernel(i64 axis, i64 batch_dims, Tensor table)
      : axis_(axis), batch_dims_(batch_dims), table_(std::move(table)) {}

  std::string name() const override { return "gather"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].type == sizes.out[0].type ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &data = in[0], &indices = in[1];
    const auto batch = batch_dims_ < 0 ? batch_dims_ + indices.rank() : batch_dims_;
    Gathering what{.batches = 1,
                   .outer = outer_of(data, axis_),
                   .length = data.dim(axis_),
                   .picks = indices.size(),
                   .slice = run_bytes(data, axis_ + 1)};
    for (i64 i = 0; i < batch; ++i) what.batches *= data.dim(i);
    what.outer /= what.batches;
    what.picks /= what.batches;
    const auto* x = table_ ? table_.source() : data.data;
    auto* y = out[0].data;
    if (indices.type == ElementType::i64) fast::gather(what, x, indices.as<const i64>(), y, runtime.pool());
    else fast::gather(what, x, indices.as<const std::int32_t>(), y, runtime.pool());
  }

  bool holds(int input) const override { return input == 0 && table_; }

 private:
  i64 axis_, batch_dims_;
  Tensor table_;
};

std::optional<Match> match_plain(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0), indices = graph.input(root, 1);
  const auto& shape = graph.fact(data).shape;
  const auto type = graph.stored(indices);
  if (!shape.has_rank() || !graph.fact(indices).shape.has_rank() || !is_bytes(graph.stored(data)) ||
      (type != ElementType::i32 && type != ElementType::i64))
    return std::nullopt;
  const auto axis = graph.input(root, 2);
  const auto axes = constant_axes(graph, axis, shape.rank());
  if (!axes || axes->size() != 1) return std::nullopt;
  const auto since = graph.node(root).version->since;
  const auto batch_dims = since == 1 ? 0 : graph.attrs<GatherAttrs>(root).batch_dims;
  const auto* constant = graph.constant(data);
  const bool as_it_lies = constant && constant->type() == graph.stored(data) && !constant->packed();
  return Match{{root},
               {data, indices, axis},
               std::make_unique<GatherKernel>(axes->front(), batch_dims, as_it_lies ? *constant : Tensor())};
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto table = graph.input(root, 0), indices = graph.input(root, 1), axis = graph.input(root, 2);
  const auto* constant = graph.narrow_constant(table);
  if (!constant) return match_plain(graph, root);
  const auto axes = constant_axes(graph, axis, constant->rank());
  const auto type = graph.stored(indices);
  // Along the first axis there are no batch dims.
  if (constant->size() == 0 || !axes || *axes != std::vector<i64>{0} || !graph.fact(indices).shape.has_rank() ||
      (type != ElementType::i32 && type != ElementType::i64))
    return match_plain(graph, root);
  Match match{{root}, {table, indices, axis}, nullptr};
  match.kernel = std::make_unique<NarrowGather>(*constant);
  return match;
}

constexpr std::string_view kRoots[] = {"Gather"};

}  // namespace

extern constinit const Pattern pattern{.name = "gather", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::gather
