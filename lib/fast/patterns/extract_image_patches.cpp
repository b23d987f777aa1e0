// ExtractImagePatches-3 of elements of 32 bits whose zero has no bits: rows of patches are parts of rows of the image.
#include "op/kit/extract_image_patches_attrs.hpp"

#include "fast/kernels/chunks.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::extract_image_patches {
namespace {

using Word = std::uint32_t;

/// What an axis of places q of a patch reads: q · stride + first.
struct Places {
  i64 first, stride, length;

  /// The places [begin, end) of `count` that lie in the image.
  std::pair<i64, i64> inside(i64 count) const {
    const auto begin = std::clamp<i64>(ceil_div(std::max<i64>(-first, 0), stride), 0, count);
    const auto end = first < length ? std::clamp<i64>(ceil_div(length - first, stride), begin, count) : begin;
    return {begin, end};
  }
};

void read_row(const Word* x, const Places& places, Word* y, i64 count) {
  const auto [begin, end] = places.inside(count);
  std::fill_n(y, begin, 0);
  x += places.first;
  if (places.stride == 1) std::copy_n(x + begin, end - begin, y + begin);
  else
    for (auto q = begin; q < end; ++q) y[q] = x[q * places.stride];
  std::fill_n(y + end, count - end, 0);
}

class ExtractImagePatches final : public Kernel {
 public:
  explicit ExtractImagePatches(ExtractImagePatchesAttrs attrs) : attrs_(std::move(attrs)) {}

  std::string name() const override { return "extract_image_patches"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.in[0].rank() == 4 ? std::make_unique<KernelState>() : nullptr;
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &from = in[0], &to = out[0];
    const auto& [sizes, strides, rates, pad] = attrs_;
    const auto channels = from.dim(1), height = from.dim(2), width = from.dim(3);
    const auto rows = to.dim(2), columns = to.dim(3);
    const i64 before[] = {attrs_.before(0, height, rows), attrs_.before(1, width, columns)};
    const auto* x = reinterpret_cast<const Word*>(from.data);
    auto* y = reinterpret_cast<Word*>(to.data);
    // The depth of the output runs over rows and columns of the patch, then channels.
    const auto planes = to.dim(0) * to.dim(1);
    const auto cost = 5 * static_cast<double>(rows) + static_cast<double>(rows * columns) / 4;
    parallel_ranges(runtime.pool(), planes, cost, [&](i64 begin, i64 end) {
      for (auto plane = begin; plane < end; ++plane) {
        const auto channel = plane % channels, column = plane / channels % sizes[1],
                   row = plane / channels / sizes[1] % sizes[0], batch = plane / to.dim(1);
        const Places down{row * rates[0] - before[0], strides[0], height};
        const Places across{column * rates[1] - before[1], strides[1], width};
        const auto* image = x + (batch * channels + channel) * height * width;
        auto* patch = y + plane * rows * columns;
        const auto [first, last] = down.inside(rows);
        std::fill_n(patch, first * columns, 0);
        for (auto r = first; r < last; ++r)
          read_row(image + (r * down.stride + down.first) * width, across, patch + r * columns, columns);
        std::fill_n(patch + last * columns, (rows - last) * columns, 0);
      }
    });
  }

 private:
  ExtractImagePatchesAttrs attrs_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  const auto type = graph.stored(x);
  if (type != ElementType::f32 && type != ElementType::i32 && type != ElementType::u32) return std::nullopt;
  return Match{{root}, {x}, std::make_unique<ExtractImagePatches>(graph.attrs<ExtractImagePatchesAttrs>(root))};
}

constexpr std::string_view kRoots[] = {"ExtractImagePatches"};

}  // namespace

extern constinit const Pattern pattern{.name = "extract_image_patches", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::extract_image_patches
