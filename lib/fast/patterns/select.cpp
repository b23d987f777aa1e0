// Select, as masks are applied to scores, by rows.
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/elementwise/broadcast_rows.hpp"
#include "fast/kernels/movement/parts.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::select {
namespace {

constexpr i64 kPiece = 8192;  // of a row

/// y[i] = mask[i] ? a[i] : b[i] of elements that are such words.
template <class Word>
void choose(const unsigned char* mask, i64 mask_step, const std::byte* a, i64 a_step, const std::byte* b, i64 b_step,
            std::byte* y, i64 n) {
  const auto* x = reinterpret_cast<const Word*>(a);
  const auto* z = reinterpret_cast<const Word*>(b);
  auto* to = reinterpret_cast<Word*>(y);
  // Without branches, so that it is vectorized, and takes no longer where the mask changes often.
  const auto each = [&](auto left, auto right) {
    for (i64 i = 0; i < n; ++i) {
      const auto chosen = static_cast<Word>(-static_cast<Word>(mask[i] != 0));
      to[i] = static_cast<Word>((x[left(i)] & chosen) | (z[right(i)] & ~chosen));
    }
  };
  const auto along = [](i64 i) { return i; };
  const auto same = [](i64) { return 0; };
  if (!mask_step) {
    const auto* from = *mask ? x : z;
    if ((*mask ? a_step : b_step) == 0) std::fill_n(to, n, *from);
    else if (from != to) std::copy_n(from, n, to);
  } else if (a_step && b_step) {
    each(along, along);
  } else if (a_step) {
    each(along, same);
  } else if (b_step) {
    each(same, along);
  } else {
    each(same, same);
  }
}

class Select final : public Kernel {
 public:
  std::string name() const override { return "select"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& to = sizes.out[0];
    for (const auto& v : sizes.in)
      if (v.rank() > to.rank()) return nullptr;
    return std::make_unique<State>(BroadcastRows<3>({sizes.in[0].dims, sizes.in[1].dims, sizes.in[2].dims}, to.dims));
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& rows = static_cast<State&>(prepared).rows;
    const auto* mask = reinterpret_cast<const unsigned char*>(in[0].data);
    const auto width = byte_width(out[0].type);
    const auto [mask_step, a_step, b_step] = rows.steps();
    constexpr double kNanoseconds = 0.1, kRow = 5;
    const auto cost = kRow + kNanoseconds * static_cast<double>(std::min(rows.length(), kPiece));
    parallel_ranges(runtime.pool(), rows.pieces(kPiece), cost, [&](i64 begin, i64 end) {
      rows.each(kPiece, begin, end, [&](const BroadcastRows<3>::Places& from, i64 to, i64 n) {
        const auto* m = mask + from[0];
        const auto *a = in[1].data + from[1] * width, *b = in[2].data + from[2] * width;
        auto* y = out[0].data + to * width;
        switch (width) {
          case 1: return choose<std::uint8_t>(m, mask_step, a, a_step, b, b_step, y, n);
          case 2: return choose<std::uint16_t>(m, mask_step, a, a_step, b, b_step, y, n);
          case 8: return choose<std::uint64_t>(m, mask_step, a, a_step, b, b_step, y, n);
          default: return choose<std::uint32_t>(m, mask_step, a, a_step, b, b_step, y, n);
        }
      });
    });
  }

  /// An element is read before its place is written, and operands of as many bytes lie as the output does; not the
  /// mask, of other bytes.
  bool writes_over(int input) const override { return input > 0; }

 private:
  struct State final : KernelState {
    explicit State(BroadcastRows<3> r) : rows(std::move(r)) {}
    BroadcastRows<3> rows;
  };
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto mask = graph.input(root, 0), a = graph.input(root, 1), b = graph.input(root, 2);
  const auto& out = graph.fact({root, 0}).shape;
  const auto type = graph.stored({root, 0});
  if (!aligns_by_numpy(graph, root) || !out.has_rank() || out.rank() == 0 ||
      graph.stored(mask) != ElementType::boolean || !is_bytes(type) || graph.stored(a) != type ||
      graph.stored(b) != type)
    return std::nullopt;
  return Match{{root}, {mask, a, b}, std::make_unique<Select>()};
}

constexpr std::string_view kRoots[] = {"Select"};

}  // namespace

extern constinit const Pattern pattern{.name = "select", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::select
