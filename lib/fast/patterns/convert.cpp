// Convert between numbers of 8 to 64 bits and booleans.
#include "fast/kernels/elementwise/convert.hpp"

#include "fast/kernels/chunks.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::patterns::convert {
namespace {

constexpr i64 kFew = 512;  // elements that the reference kernel converts as fast

class Convert final : public Kernel {
 public:
  explicit Convert(ElementType to) : to_(to) {}

  std::string name() const override { return "convert"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.out[0].size() < kFew ? nullptr : std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto from = in[0].type, kept = out[0].type;
    const auto* x = in[0].data;
    auto* y = out[0].data;
    constexpr double kNanoseconds = 0.15;
    parallel_ranges(runtime.pool(), out[0].size(), kNanoseconds, [&](i64 begin, i64 end) {
      const auto* part = x + begin * byte_width(from);
      auto* to = y + begin * byte_width(kept);
      if (from == kept)
        round_elements(reinterpret_cast<const float*>(part), to_, reinterpret_cast<float*>(to), end - begin);
      else convert_elements(from, part, kept, to, end - begin);
    });
  }

 private:
  ElementType to_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto& out = graph.fact({root, 0});
  const auto from = graph.stored(x), to = out.type, kept = graph.stored({root, 0});
  // A result that is kept in another type is f32, rounded to fewer bits, which codes of 8 bits need not be.
  const bool narrow = kept == ElementType::f32 && (to == ElementType::f16 || to == ElementType::bf16);
  const bool exact = from == ElementType::u8 || from == ElementType::i8;
  if (!contains(kConverted, from) || !contains(kConverted, to) || from == to ||
      !(kept == to || (narrow && (from == kept || exact))) || out.shape.element_count().max < kFew)
    return std::nullopt;
  return Match{{root}, {x}, std::make_unique<Convert>(to)};
}

constexpr std::string_view kRoots[] = {"Convert", "ConvertLike"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "convert", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::convert
