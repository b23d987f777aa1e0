// Single elements of tensors: where they are, what they are called, and which elements of a layer's operands an element
// of its output was computed from.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// The index of element `at` in row-major order.
Shape index_of(const Shape& shape, i64 at);
/// The element in row-major order that an index names.
i64 offset_of(const Shape& shape, const Shape& index);

/// One element, of any type but string.
double element(const Tensor& t, i64 at);
/// As it is printed: "1.5", "-inf", "17", "true".
std::string element_text(const Tensor& t, i64 at);

/// The largest finite f16, and the least magnitudes that f16 and bf16 round to infinity.
inline constexpr double kLargestF16 = 65504, kBeyondF16 = 65520, kBeyondBf16 = 3.3961775292304601e38;

/// The first element of each kind in a tensor of floats, in row-major order; -1: there is none.
struct Unusual {
  i64 nan = -1, infinite = -1, beyond_f16 = -1, beyond_bf16 = -1;
  bool finite() const { return nan < 0 && infinite < 0; }
};
Unusual find_unusual(const Tensor& t);
/// The elements, in order, that are NaN or infinite.
std::vector<i64> not_finite(const Tensor& t);

/// What a layer computes from: its node and the operands of one run.
struct Call {
  const Node* node = nullptr;
  std::span<const Tensor> in;
};

/// Convert or ConvertLike.
bool is_cast(const Node& node);

/// An element of an operand.
struct OperandElement {
  int port = 0;
  i64 at = 0;
};

/// The operands' elements that an element-wise layer computes element `at` of output 0 from, by input port; nothing for
/// layers that are not element-wise. `out` is the output.
std::optional<std::vector<OperandElement>> elementwise_operands(const Call& call, const Tensor& out, i64 at);

/// The element that a layer which only moves data (Transpose, Gather, Concat, a cast) put at `at` of output `port`;
/// nothing where it comes from nowhere, as padding does, or the layer computes.
std::optional<OperandElement> moved_from(const Call& call, int port, const Shape& out, i64 at);

/// A small set of operand elements that make element `at` of output `port` `bad`: with 1 in place of all others it
/// still is. Found with the reference kernel, within a second or two; empty where nothing small was found.
std::vector<OperandElement> blamed(const Call& call, int port, i64 at, const std::function<bool(double)>& bad);

/// The outputs of the reference kernel for other operands; empty where it refuses them.
std::vector<Tensor> outputs_for(const Call& call, std::span<const Tensor> in);

}  // namespace ovir::tools
