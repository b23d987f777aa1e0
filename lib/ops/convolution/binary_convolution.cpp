// BinaryConvolution: a convolution of bits, 0 standing for -1.
// Spec: operation-sets/operation-specs/convolution/binary-convolution-1
#include "op/kit/window.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::binary_convolution {
namespace {

enum class Mode : std::uint8_t { xnor_popcount };
constexpr auto words(Mode) { return std::to_array<Word<Mode>>({{"xnor-popcount", Mode::xnor_popcount}}); }

enum Input { data, filters };

struct Attrs {
  std::vector<i64> strides, pads_begin, pads_end, dilations;
  AutoPad auto_pad = AutoPad::given;
  Mode mode{};
  float pad_value = 0;

  Window window(std::size_t axis, i64 kernel) const {
    return {.kernel = kernel,
            .stride = strides[axis],
            .dilation = dilations[axis],
            .pad_begin = nth_or(pads_begin, axis, 0),
            .pad_end = nth_or(pads_end, axis, 0),
            .auto_pad = auto_pad};
  }
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_rank(data, 4);
  c.require_rank(filters, 4);
  require_geometry(c, "strides", a.strides, 2, 1);
  require_geometry(c, "dilations", a.dilations, 2, 1);
  require_geometry(c, "pads_begin", a.pads_begin, 2, 0);
  require_geometry(c, "pads_end", a.pads_end, 2, 0);
  const auto &x = c.shape(data), &w = c.shape(filters);
  c.require_same_dim(x.dim(1), w.dim(1), data, "the number of channels of \"data\"", "that of \"filters\"");
  PartialShape out{x.dim(0), w.dim(0)};
  for (i64 i = 0; i < 2; ++i) {
    out.push_back(require_windows(c, a.window(i, 1), x.dim(2 + i), w.dim(2 + i), i, data, filters));
  }
  c.output(0, std::move(out));
}

/// The weights as -1 and 1. Files hold these bits with the least significant one first, unlike other u1 constants: see
/// NOTES.md.
std::vector<int> signs(const Tensor& t) {
  const auto packed = t.packed() ? t : pack(t);
  std::vector<int> list(t.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = (static_cast<unsigned>(packed.bytes()[i / 8]) >> (i % 8) & 1u) != 0 ? 1 : -1;
  return list;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& x = c.in(data);
  const auto& w = c.stored(filters);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  const auto weights = signs(w);
  const auto channels = x.dim(1), height = x.dim(2), width = x.dim(3), kh = w.dim(2), kw = w.dim(3), rows = out.dim(2),
             columns = out.dim(3);
  const auto v = a.window(0, kh).resolved(height), h = a.window(1, kw).resolved(width);
  dispatch(out.type(), Numbers{}, [&]<class T>() {
    auto* to = out.mutable_data<T>();
    for (i64 n = 0; n < x.dim(0); ++n)
      for (i64 o = 0; o < w.dim(0); ++o)
        for (i64 row = 0; row < rows; ++row)
          for (i64 column = 0; column < columns; ++column) {
            // 2 * popcount(xnor) - bits is the sum of the products of the signs; the padding counts as pad_value.
            double sum = 0;
            const auto* weight = weights.data() + o * channels * kh * kw;
            for (i64 ch = 0; ch < channels; ++ch)
              for (i64 k = 0; k < kh * kw; ++k, ++weight) {
                const auto i = row * v.stride - v.pad_begin + k / kw * v.dilation,
                           j = column * h.stride - h.pad_begin + k % kw * h.dilation;
                const bool inside = i >= 0 && i < height && j >= 0 && j < width;
                const auto value = !inside ? static_cast<double>(a.pad_value)
                                   : x.data<T>()[((n * channels + ch) * height + i) * width + j] == T{} ? -1.0
                                                                                                        : 1.0;
                sum += value * *weight;
              }
            *to++ = static_cast<T>(sum);
          }
  });
}

/// Every output element takes a filter.
i64 macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  return saturating_mul(saturating_count(out[0]), saturating_count(in[filters], 1));
}

using A = Attrs;
constexpr TypeVar T{"T1", kNumeric}, TBits{"T2", set_of(ElementType::u1)};
constexpr PortDef kInputs[] = {{"data", T}, {"filters", TBits}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs =
    attributes<A, Attr<"strides", &A::strides, kRequired>, Attr<"pads_begin", &A::pads_begin, kRequired>,
               Attr<"pads_end", &A::pads_end, kRequired>, Attr<"dilations", &A::dilations, kRequired>,
               Attr<"mode", &A::mode, kRequired>, Attr<"pad_value", &A::pad_value, kRequired>,
               Attr<"auto_pad", &A::auto_pad>>;
constexpr Version kVersions[] = {
    {.since = 1, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs, .infer = infer, .eval = eval, .macs = macs}};

}  // namespace

extern constinit const OpDef def{
    .type = "BinaryConvolution", .spec = "convolution/binary-convolution", .versions = kVersions};

}  // namespace ovir::ops::binary_convolution
