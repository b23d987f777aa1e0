// FakeQuantize-1 that no other kernel takes, onto levels in u8, also after a Multiply by factors of the last axis: for
// Precision::int8.
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"

namespace ovir::fast::patterns::int8_quantize {
namespace {

constexpr double kCost = 0.15;  // nanoseconds an element

/// Rows of the last axis, or blocks of channels.
class U8Quantize final : public Kernel {
 public:
  /// `channels`: 0 where it only takes rows. `from`: what it reads in blocks may be such levels.
  U8Quantize(const Levels& levels, i64 channels, Buffer factors, const std::optional<Levels>& from)
      : quantization_(levels.quantization) {
    if (levels.is_single()) rows_.emplace(levels, std::move(factors));
    if (channels == 0) return;
    table_.emplace(levels, channels);
    if (from) from_.emplace(*from, channels);
  }
  /// Of blocks, after a line by channel.
  U8Quantize(const Levels& levels, i64 channels, const ChannelLines& lines, const std::optional<Levels>& from)
      : quantization_(levels.quantization), table_(std::in_place, levels, channels, &lines), has_lines_(true) {
    if (from) from_.emplace(*from, channels);
  }

  std::string name() const override {
    if (has_lines_) return "int8.normalize+quantize";
    return rows_ && rows_->is_scaled() ? "int8.Multiply+quantize" : "int8.quantize";
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    const auto& x = sizes.in[0];
    const bool is_blocked_u8 = sizes.out[0].type == ElementType::u8 && sizes.out[0].layout == Layout::blocked;
    if (reads_levels(x) && !is_blocked_u8)
      state->wide = state->reserve(x.dim(0) * blocks_of(x.dim(1)) * plane_of(x) * kBlock);
    if (becomes_rows(sizes)) state->plain = state->reserve(x.size());
    else if (!by_rows(sizes) && sizes.out[0].type == ElementType::f32)
      state->levels = state->reserve(x.dim(0) * u8_blocks(x.dim(1)) * plane_of(x) * kBlock);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto x = in[0];
    const auto& y = out[0];
    auto& pool = runtime.pool();
    if (reads_levels(x)) {
      const auto* levels = x.as<const std::uint8_t>();
      if (!state.wide)
        return requantize(levels, from_->scale(), table_->scale(), reinterpret_cast<std::uint8_t*>(y.data), x.dim(0),
                          x.dim(1), plane_of(x), pool);
      from_u8_blocked(levels, from_->scale(), state.floats(state.wide), true, x.dim(0), x.dim(1), plane_of(x), pool);
      x.data = reinterpret_cast<std::byte*>(state.floats(state.wide));
      x.type = ElementType::f32;
    }
    if (state.plain) {
      to_plain(x.as<const float>(), state.floats(state.plain), x.dim(0), x.dim(1), plane_of(x), pool);
      x.data = reinterpret_cast<std::byte*>(state.floats(state.plain));
      x.layout = Layout::plain;
    }
    const std::span<const View> from(&x, 1);
    if (by_rows({from, out})) {
      const auto n = row_of(x);
      return parallel_ranges(pool, x.size() / n, kCost * static_cast<double>(n),
                             [&](i64 begin, i64 end) { run_rows(from, out, begin, end); });
    }
    auto* levels = state.levels ? reinterpret_cast<std::uint8_t*>(state.floats(state.levels))
                                : reinterpret_cast<std::uint8_t*>(y.data);
    to_u8_blocked(x.as<const float>(), x.layout == Layout::blocked, table_->scale(), levels, x.dim(0), x.dim(1),
                  plane_of(x), pool);
    if (state.levels)
      from_u8_blocked(levels, table_->scale(), y.as<float>(), y.layout == Layout::blocked, x.dim(0), x.dim(1),
                      plane_of(x), pool);
  }

  i64 rows(const Sizes& sizes) const override { return by_rows(sizes) ? sizes.out[0].size() / row_of(sizes.in[0]) : 0; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    auto n = row_of(in[0]);
    const auto scale = rows_->scale();
    const auto* x = in[0].as<const float>() + begin * n;
    if (out[0].type != ElementType::f32)
      return rows_to_u8(x, scale, n, end - begin, reinterpret_cast<std::uint8_t*>(out[0].data) + begin * n, n);
    auto part = scale;
    auto* y = out[0].as<float>() + begin * n;
    if (!scale.factors) {  // rows may be short
      n *= end - begin;
      end = begin + 1;
    }
    for (auto i = begin; i < end; ++i)
      for (i64 c = 0; c < n; c += kRun) {
        std::uint8_t levels[kRun];
        const auto now = std::min(kRun, n - c);
        if (scale.factors) part.factors = scale.factors + c;
        rows_to_u8(x, part, now, 1, levels, now);
        from_u8(levels, scale, y, now);
        x += now;
        y += now;
      }
  }

  bool reads(int, Layout layout) const override { return layout == Layout::plain || table_; }
  bool reads_as(int, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::blocked && from_;
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || table_; }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && (layout == Layout::blocked ? table_.has_value() : rows_.has_value());
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override { return quantization_; }

 private:
  static constexpr i64 kRun = 256;
  struct State final : KernelState {
    Scratch levels, plain, wide;
  };
  static bool reads_levels(const View& x) { return x.type == ElementType::u8; }
  static i64 row_of(const View& x) { return x.rank() == 0 ? 1 : x.dim(x.rank() - 1); }
  bool by_rows(const Sizes& sizes) const {
    return rows_ && sizes.in[0].layout == Layout::plain && sizes.out[0].layout == Layout::plain;
  }
  /// Levels lie in rows, what they are made of in blocks.
  static bool becomes_rows(const Sizes& sizes) {
    const auto &x = sizes.in[0], &y = sizes.out[0];
    return x.layout == Layout::blocked && y.layout == Layout::plain && y.type != ElementType::f32;
  }

  std::shared_ptr<const ovir::Quantization> quantization_;
  std::optional<RowLevels> rows_;
  std::optional<U8Table> table_, from_;
  bool has_lines_ = false;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& shape = graph.fact(x).shape;
  if (!is_f32(graph, x) || !shape.is_static()) return std::nullopt;
  const auto levels = levels_of(graph, {root, 0});
  if (!levels) return std::nullopt;
  const bool has_blocks = shape.rank() >= 3 && shape.rank() <= 5;
  // Few channels, as of an image, would leave most of a block empty.
  const bool fills = has_blocks && shape[1].length() >= kBlock / 2;
  if (!fills && !levels->is_single()) return std::nullopt;
  if (levels->is_single() && graph.only_user(x) == root)
    for (const int port : {0, 1}) {
      const auto from = graph.input(x.node, port);
      if (graph.type(x.node) != "Multiply" || !is_f32(graph, from) || graph.constant(from)) continue;
      if (auto factors = column_factors(graph, x.node, from); factors.size() > 0)
        return Match{
            {x.node, root}, {from}, std::make_unique<U8Quantize>(*levels, 0, std::move(factors), std::nullopt)};
    }
  // Multiply and Add by channel, from the first of them on.
  std::optional<ChannelLines> lines;
  auto from = graph.type(x.node) == "Relu" ? graph.input(x.node, 0) : x;
  while (fills && (graph.type(from.node) == "Multiply" || graph.type(from.node) == "Add")) {
    const auto before = graph.input(from.node, graph.constant(graph.input(from.node, 0)) ? 1 : 0);
    if (!is_f32(graph, before) || graph.constant(before) || !(graph.fact(before).shape == shape)) break;
    // What others read as well is not part of it.
    auto longer = graph.only_user(from) < 0 ? std::nullopt
                                            : channel_lines(graph, from.node, before, shape.rank(), shape[1].length());
    if (!longer) break;
    lines = std::move(longer);
    from = before;
  }
  if (lines) {
    auto kernel = std::make_unique<U8Quantize>(*levels, shape[1].length(), *lines, levels_of(graph, from));
    lines->nodes.push_back(root);
    return Match{std::move(lines->nodes), {from}, std::move(kernel)};
  }
  const auto channels = has_blocks ? shape[1].length() : 0;
  return Match{{root}, {x}, std::make_unique<U8Quantize>(*levels, channels, Buffer(), levels_of(graph, x))};
}

constexpr std::string_view kRoots[] = {"FakeQuantize"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_quantize",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_quantize
