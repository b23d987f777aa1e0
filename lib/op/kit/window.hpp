// Windows that slide over the spatial axes of a tensor [N, C, …]: what convolutions and poolings have in common.
// Spec: operation-specs/pooling/pooling_shape_rules
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "op/attributes.hpp"
#include "op/infer_context.hpp"

namespace ovir {

enum class AutoPad : std::uint8_t { given, same_upper, same_lower, valid };
constexpr auto words(AutoPad) {
  return std::to_array<Word<AutoPad>>({{"explicit", AutoPad::given},
                                       {"same_upper", AutoPad::same_upper},
                                       {"same_lower", AutoPad::same_lower},
                                       {"valid", AutoPad::valid}});
}

enum class Rounding : std::uint8_t { floor, ceil, ceil_torch };
constexpr auto words(Rounding) {
  return std::to_array<Word<Rounding>>(
      {{"floor", Rounding::floor}, {"ceil", Rounding::ceil}, {"ceil_torch", Rounding::ceil_torch}});
}

/// A window along one axis.
struct Window {
  i64 kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  AutoPad auto_pad = AutoPad::given;
  Rounding rounding = Rounding::floor;

  /// As many windows as there are strides, whatever the kernel.
  bool same() const { return auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower; }
  /// From the first tap to the last.
  i64 extent() const { return (kernel - 1) * dilation + 1; }
  /// The same with the padding that `auto_pad` means for an axis of `length`.
  Window resolved(i64 length) const;
  /// Of a transposed convolution, with the padding that it has where its output shall be so long, `added` of which is
  /// output_padding; without such a wish, where `auto_pad` has nothing to fit to.
  Window fitted(i64 length, i64 added, std::optional<i64> wanted) const;
  /// How many windows an axis of `length` has; `length` must not be negative.
  i64 count(i64 length) const;
};

/// Of Convolution, GroupConvolution and their BackpropData; the fast tier reads it too.
struct ConvolutionAttrs {
  std::vector<i64> strides, pads_begin, pads_end, dilations, output_padding;
  AutoPad auto_pad = AutoPad::given;

  /// Along spatial axis `axis`, its padding as the attributes give it.
  Window window(std::size_t axis, i64 kernel) const;
  /// Whether pads are negative: they take away from the data.
  bool crops() const;
};

/// Of MaxPool and AvgPool in all versions.
struct PoolAttrs {
  std::vector<i64> strides, dilations, pads_begin, pads_end, kernel;
  Rounding rounding_type = Rounding::floor;
  AutoPad auto_pad = AutoPad::given;
  bool exclude_pad = false;
  ElementType index_element_type = ElementType::i64;
  i64 axis = 0;

  /// Along spatial axis `i`, its padding as the attributes give it.
  Window window(std::size_t i) const;
};

/// Geometry beyond this is refused, so that the sums below cannot overflow.
inline constexpr i64 kMaxGeometry = std::numeric_limits<std::int32_t>::max();

/// The number of windows for an axis and kernel known as intervals.
Dim window_count(Window window, Dim length, Dim kernel);

/// The same for spatial axis `i` of an operation, once a kernel without elements or one longer than the padded data is
/// refused. `window` needs no kernel. The ports are those that a fault is laid to.
Dim require_windows(const InferContext& c, Window window, Dim length, Dim kernel, i64 i, int data_port,
                    int kernel_port);

/// `list` has one number, `min` or more, for each of the `spatial` axes; absent lists may be allowed.
void require_geometry(const InferContext& c, std::string_view attribute, const std::vector<i64>& list, i64 spatial,
                      i64 min);

/// list[i], or `otherwise` where the list was left out.
inline i64 nth_or(const std::vector<i64>& list, std::size_t i, i64 otherwise) {
  return i < list.size() ? list[i] : otherwise;
}

}  // namespace ovir
