// What the convolutions share: reading their geometry, the shape of the output, the padded frame.
#pragma once
#include "op/kit/window.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::convolution {

enum Input { data, filters, output_shape };

inline constexpr TypeVar T{"T", kNumeric};
inline constexpr PortDef kInputs[] = {{"data", T}, {"filters", T}};
inline constexpr PortDef kOutputs[] = {{"output", T}};
inline constexpr AttributeTable kForwardAttrs =
    attributes<ConvolutionAttrs, Attr<"strides", &ConvolutionAttrs::strides, kRequired>,
               Attr<"pads_begin", &ConvolutionAttrs::pads_begin, kRequired>,
               Attr<"pads_end", &ConvolutionAttrs::pads_end, kRequired>,
               Attr<"dilations", &ConvolutionAttrs::dilations, kRequired>,
               Attr<"auto_pad", &ConvolutionAttrs::auto_pad>>;
inline constexpr TypeVar TShape{"T2", kInteger};
inline constexpr PortDef kBackpropInputs[] = {{"data", T}, {"filters", T}, {"output_shape", TShape, Arity::optional}};
inline constexpr AttributeTable kBackpropAttrs =
    attributes<ConvolutionAttrs, Attr<"strides", &ConvolutionAttrs::strides, kRequired>,
               Attr<"pads_begin", &ConvolutionAttrs::pads_begin>, Attr<"pads_end", &ConvolutionAttrs::pads_end>,
               Attr<"dilations", &ConvolutionAttrs::dilations, kRequired>,
               Attr<"auto_pad", &ConvolutionAttrs::auto_pad>,
               Attr<"output_padding", &ConvolutionAttrs::output_padding>>;

/// Checks ranks and attribute lengths; the number of spatial axes, or nothing where no input and no attribute tells.
/// `outer` is how many axes of the filters come before the spatial ones: 2, or 3 with groups.
i64 require_spatial(const InferContext& c, i64 outer);

/// Shape inference of the forward convolutions ([O, I, …] or [G, O, I, …] filters) and of the backward ones ([I, O, …],
/// [G, I, O, …]).
void infer_forward(InferContext& c, bool grouped);
void infer_backprop(InferContext& c, bool grouped);

/// A convolution in numbers, every one seen as 3D: axes that are missing have length 1.
struct Problem {
  i64 batch, groups, in_channels, out_channels;  ///< channels within a group
  i64 in[3], out[3];
  Window axis[3];  ///< padding resolved
  i64 taps() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
  i64 in_plane() const { return in[0] * in[1] * in[2]; }
  i64 out_plane() const { return out[0] * out[1] * out[2]; }
};
Problem forward_problem(const ConvolutionAttrs& a, const Shape& data, const Shape& filters, const Shape& output,
                        bool grouped);
Problem backprop_problem(const ConvolutionAttrs& a, const Shape& data, const Shape& filters, const Shape& output,
                         bool grouped, bool shape_given);

/// The most products that one output element is the sum of: `kept` are the axes of the filters that make output
/// channels and groups.
i64 products(const Shape& filters, std::initializer_list<int> kept);

/// Every output element takes a filter, every input element of a backward convolution goes through one: the filters'
/// axes from `first`.
template <i64 first>
i64 forward_macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  return saturating_mul(saturating_count(out[0]), saturating_count(in[filters], first));
}
template <i64 first>
i64 backprop_macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape>) {
  return saturating_mul(saturating_count(in[data]), saturating_count(in[filters], first));
}

void eval_forward(EvalContext& c, bool grouped);
void eval_backprop(EvalContext& c, bool grouped);

}  // namespace ovir::ops::convolution
