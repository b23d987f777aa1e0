#include "op/kit/window.hpp"

#include <algorithm>

namespace ovir {

Window ConvolutionAttrs::window(std::size_t axis, i64 kernel) const {
  return {.kernel = kernel,
          .stride = nth_or(strides, axis, 1),
          .dilation = nth_or(dilations, axis, 1),
          .pad_begin = nth_or(pads_begin, axis, 0),
          .pad_end = nth_or(pads_end, axis, 0),
          .auto_pad = auto_pad};
}

bool ConvolutionAttrs::crops() const {
  const auto is_negative = [](i64 pad) { return pad < 0; };
  return auto_pad == AutoPad::given &&
         (std::ranges::any_of(pads_begin, is_negative) || std::ranges::any_of(pads_end, is_negative));
}

Window PoolAttrs::window(std::size_t i) const {
  return {.kernel = kernel[i],
          .stride = nth_or(strides, i, 1),
          .dilation = nth_or(dilations, i, 1),
          .pad_begin = nth_or(pads_begin, i, 0),
          .pad_end = nth_or(pads_end, i, 0),
          .auto_pad = auto_pad,
          .rounding = rounding_type};
}

Window Window::resolved(i64 length) const {
  Window w = *this;
  if (auto_pad == AutoPad::given) return w;
  w.pad_begin = w.pad_end = 0;
  w.auto_pad = AutoPad::given;
  if (auto_pad == AutoPad::valid || length == 0) return w;
  // "same": as many windows as strides fit; an odd pad goes to the end (upper) or the beginning (lower).
  const auto windows = (length - 1) / stride + 1;
  const auto total = std::max<i64>(0, (windows - 1) * stride + extent() - length);
  w.pad_begin = auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
  w.pad_end = total - w.pad_begin;
  return w;
}

Window Window::fitted(i64 length, i64 added, std::optional<i64> wanted) const {
  Window w = *this;
  if (!wanted && auto_pad == AutoPad::given) return w;
  // "pads_begin and pads_end are ignored, and auto_pad defines how to distribute padding amount": what the full output
  // has more than was asked for.
  const auto total = wanted ? std::max<i64>(0, (length - 1) * stride + extent() + added - *wanted) : 0;
  w.pad_begin = auto_pad == AutoPad::same_upper ? total - total / 2 : total / 2;
  w.pad_end = total - w.pad_begin;
  w.auto_pad = AutoPad::given;
  return w;
}

i64 Window::count(i64 length) const {
  if (same() && length == 0) return 0;
  const auto w = resolved(length);
  const auto slack = std::max<i64>(0, length + w.pad_begin + w.pad_end - w.extent());
  auto windows = (rounding == Rounding::floor ? slack : slack + stride - 1) / stride + 1;
  // "ceil_torch does not allow the last pooling to start in the padding area."
  if (rounding == Rounding::ceil_torch && windows > 1 && (windows - 1) * stride >= length + w.pad_begin) --windows;
  return windows;
}

Dim window_count(Window window, Dim length, Dim kernel) {
  constexpr i64 kHuge = i64{1} << 61;
  const auto with = [&](i64 k, i64 n) {
    window.kernel = std::clamp<i64>(k, 1, kMaxGeometry);
    return window.count(n);
  };
  // More windows along a longer axis, fewer for a longer kernel.
  const auto low = with(kernel.max, std::min(length.min, kHuge));
  const auto high = length.max > kHuge ? Dim::kUnbounded : with(kernel.min, length.max);
  const bool kept = window.stride == 1 && window.same();
  return Dim(std::min(low, high), high, kept ? length.symbol : 0);
}

Dim require_windows(const InferContext& c, Window window, Dim length, Dim kernel, i64 i, int data_port,
                    int kernel_port) {
  c.require(kernel.max >= 1, kernel_port, Code::E0506,
            "the kernel of {} must have an element or more along spatial axis {}", c.op().type, i);
  c.require(kernel.min <= kMaxGeometry, kernel_port, Code::E0506,
            "the kernel of {0} must have 2^31-1 elements or fewer along spatial axis {1}, but has {2}", c.op().type, i,
            kernel.min);
  if (length.is_static() && kernel.is_static() && length.length() < kMaxGeometry && !window.same()) {
    window.kernel = kernel.length();
    const auto w = window.resolved(length.length());
    const bool begin = w.pad_begin <= w.pad_end;  // the one that takes away more
    const auto pad = begin ? w.pad_begin : w.pad_end, left = length.length() + w.pad_begin + w.pad_end;
    if (w.extent() > left && w.extent() <= left - pad)
      c.fail_attr(begin ? "pads_begin" : "pads_end",
                  fmt::format("must leave {} of \"{}\" for the kernel along spatial axis {}, but {} leaves {} of {}",
                              counted(w.extent(), "element"), c.port_name(data_port), i, pad, std::max<i64>(0, left),
                              length.length()),
                  Code::E0403, i);
    c.require(w.extent() <= length.length() + w.pad_begin + w.pad_end, data_port, Code::E0506,
              "{0} kernel is larger than its padded input along spatial axis {2} ({1} > {3})", c.op().type, w.extent(),
              i, length.length() + w.pad_begin + w.pad_end);
  }
  return window_count(window, length, kernel);
}

void require_geometry(const InferContext& c, std::string_view attribute, const std::vector<i64>& list, i64 spatial,
                      i64 min) {
  c.require_attr(std::ssize(list) == spatial, attribute, "must hold {}, one per spatial axis of \"{}\", but holds {}",
                 counted(spatial, "number"), c.port_name(0), list.size());
  c.require_each(
      list, [&](i64 n) { return min <= n && n <= kMaxGeometry; }, attribute,
      "must hold numbers in {1}..{2}, but holds {0}", min, kMaxGeometry);
}

}  // namespace ovir
