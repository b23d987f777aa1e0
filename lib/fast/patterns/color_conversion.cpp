// NV12 and I420 to RGB and BGR, of u8 or f32, in one tensor or in planes of their own.
#include "fast/kernels/image/yuv.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::color_conversion {
namespace {

class FromYuv final : public Kernel {
 public:
  /// `planar`: U and V lie apart.
  FromYuv(bool planar, bool bgr) : planar_(planar), bgr_(bgr) {}

  std::string name() const override { return std::string(planar_ ? "i420" : "nv12") + (bgr_ ? ".to_bgr" : ".to_rgb"); }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    for (const auto& v : sizes.in)
      if (v.type != sizes.out[0].type) return nullptr;
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    if (out[0].type == ElementType::u8) convert<std::uint8_t>(in, out[0], runtime.pool());
    else convert<float>(in, out[0], runtime.pool());
  }

 private:
  template <class T>
  void convert(std::span<const View> in, const View& out, ThreadPool& pool) const {
    const auto batch = out.dim(0), height = out.dim(1), width = out.dim(2), pixels = height * width;
    const bool single = in.size() == 1;
    YuvImages images{.batch = batch,
                     .height = height,
                     .width = width,
                     .luma_stride = single ? pixels + pixels / 2 : pixels,
                     .chroma_stride = pixels / (planar_ ? 4 : 2),
                     .chroma_step = planar_ ? 1 : 2,
                     .bgr = bgr_};
    const auto* luma = in[0].as<const T>();
    const auto* u = single ? luma + pixels : in[1].as<const T>();
    const auto* v = planar_ ? u + pixels / 4 : u + 1;
    if (single) images.chroma_stride = images.luma_stride;
    else if (planar_) v = in[2].as<const T>();
    from_yuv(images, luma, u, v, out.as<T>(), pool);
  }

  bool planar_, bgr_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto type = graph.type(root);
  Match match{{root}, {}, std::make_unique<FromYuv>(type.starts_with("I420"), type.ends_with("BGR"))};
  for (const auto& input : graph.node(root).inputs) {
    const auto stored = graph.stored(input);
    if (stored != ElementType::u8 && stored != ElementType::f32) return std::nullopt;
    match.inputs.push_back(input);
  }
  return match;
}

constexpr std::string_view kRoots[] = {"NV12toRGB", "NV12toBGR", "I420toRGB", "I420toBGR"};

}  // namespace

extern constinit const Pattern pattern{.name = "color_conversion", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::color_conversion
