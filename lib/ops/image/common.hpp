// Conversions between colors in one plane of pixels and YUV in planes of their own (NV12, I420).
#pragma once
#include "op/op.hpp"

namespace ovir::ops::image {

enum class Order : std::uint8_t { rgb, bgr };
/// Where the chroma samples lie: U and V side by side in one plane, or each in a plane of its own.
enum class Chroma : std::uint8_t { interleaved, planar };

/// All planes in one tensor [N, 3/2 H, W, 1], or the luma [N, H, W, 1] with its chroma planes -> [N, H, W, 3].
void infer_from_yuv(InferContext& c, Chroma chroma);
void convert_from_yuv(EvalContext& c, Chroma chroma, Order order);

struct Nv12Attrs {
  bool single_plane = true;
};
inline constexpr auto kNv12Attrs = attributes<Nv12Attrs, Attr<"single_plane", &Nv12Attrs::single_plane>>;
void infer_to_nv12(InferContext& c);
void convert_to_nv12(EvalContext& c, Order order);

inline constexpr TypeVar T{"T", set_of(ElementType::u8) | kFloat};
inline constexpr PortDef kColors[] = {{"output", T}};
inline constexpr PortDef kNv12[] = {{"Y", T}, {"UV", T, Arity::optional}};
inline constexpr PortDef kI420[] = {{"Y", T}, {"U", T, Arity::optional}, {"V", T, Arity::optional}};
inline constexpr PortDef kImage[] = {{"image", T}};

}  // namespace ovir::ops::image
