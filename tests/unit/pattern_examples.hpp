// Nets at which the patterns of the fast tier fire.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "small_model.hpp"

namespace ovir::testing {

/// A model whose floats are of one type, and whose first axes may be unknown.
class Net {
 public:
  /// `open`: the first axis of every input is unknown before the run.
  Net(ElementType type, bool open) : type_(type), batch_(open ? std::optional(Dim()) : std::nullopt) {}
  /// `batch`: the first axis of every input.
  Net(ElementType type, Dim batch) : type_(type), batch_(batch) {}

  /// Before anything is added: inputs and results are rolled by steps of their own, so that what lies between can be
  /// written over.
  void roll_ends() { rolls_ends_ = true; }

  int input(PartialShape shape);
  /// Floats between -0.5 and 0.5.
  int weights(const Shape& shape, float scale = 1);
  int numbers(std::initializer_list<float> values, const Shape& shape);
  int indices(std::initializer_list<i64> values) { return constant(Tensor::vector(values)); }
  int index(i64 value) { return constant(Tensor::scalar(value)); }
  int constant(const Tensor& value) { return model.graph.constant(next_name(), value); }
  /// A layer of so many outputs; its inputs are the first outputs of layers.
  int op(std::string_view operation, const std::vector<int>& inputs, const spec::AttributeTexts& attributes = {},
         int outputs = 1);
  void result(int layer, int port = 0);

  ElementType type() const { return type_; }
  const std::vector<int>& layers() const { return layers_; }

  SmallModel model;

 private:
  std::string next_name() { return "n" + std::to_string(names_++); }
  int rolled(int x) { return op("Roll-7", {x, indices({1}), indices({-1})}); }

  ElementType type_;
  std::optional<Dim> batch_;
  bool rolls_ends_ = false;
  int names_ = 0;
  std::vector<int> layers_;  // that op() has made
};

constexpr i64 kOnce = 1, kOften = 100;
constexpr bool kOpen = true, kFixed = false, kF32Only = false;

struct Example {
  std::string_view kernel;  ///< by its whole name
  void (*build)(Net& net);
  i64 runs = kOften;    ///< Options::expected_runs
  bool open = kFixed;   ///< the batch is unknown before the run
  bool f16 = true;      ///< fires for a model of f16, too
  float error = 5e-6F;  ///< of f32 results, relative to the largest of them
  Precision precision = Precision::f32;
};

/// Of one pattern, by its name.
struct Examples {
  std::string_view pattern;
  std::span<const Example> list;
};
namespace patterns {
/// tests/unit/patterns/<name>.cpp, with _ for the dots of a pattern's name, and what is too long for one file in others
/// that begin with it.
std::span<const Examples* const> all();
}  // namespace patterns

/// In which the kernel reads or writes blocked values, and other kernels the rest.
std::span<const Example> blocked_examples();

// --- what several patterns take

using Texts = spec::AttributeTexts;

/// Attributes for `axes` spatial axes, the same along each.
Texts windows(int axes, int stride = 1, int pad = 0, int dilation = 1);
int convolution(Net& n, int x, const Shape& filters, const Texts& attributes);
int biased(Net& n, int x, i64 channels);
/// A normalization as converters leave it that fold nothing: x − mean, · scale, + shift.
int normalized(Net& n, int x, i64 channels);
int relu(Net& n, int x);
/// x where it is greater than 0, else x · slopes, spelled out.
int sloped(Net& n, int x, int slopes);
/// A value that nothing else uses: a sum with it may be written over it where it is not the model's result.
int passing(Net& n, int x);
int softmax(Net& n, int x);
Texts pooled(Texts more);
int matmul(Net& n, int a, int b, bool transposed_b = false);
int lengths(Net& n);
/// FakeQuantize onto levels that are 1/64 apart, as the inputs of the tests are.
int quantized(Net& n, int x);
/// Levels of each channel of an image, of which 0 is another one in each; where they are `positive`, in few.
int quantized_by_channel(Net& n, int x, i64 channels, bool positive);
/// Weights of f16 or bf16 that a Convert makes f32.
int narrow_weights(Net& n, const Shape& shape, ElementType type = ElementType::f16);
/// Integers of 8 bits times a step, or times those of the first axis.
int stepped(Net& n, const Shape& shape, std::initializer_list<float> steps = {1.0F / 256});
/// A Convert where floats are of another type.
int as_f32(Net& n, int x);
/// (codes - zero) · scale by group, as [rows][96], or as several of these.
int decompressed(Net& n, ElementType codes, i64 rows, bool grouped, bool zero, i64 matrices = 0, i64 group = 32);

void direct_residual(Net& n);
void direct_row(Net& n);
void small_plane(Net& n);
void computed_filters(Net& n);
void pointwise(Net& n);
void depthwise(Net& n);
void product(Net& n);
void product_gelu(Net& n);
void product_rows(Net& n);
void product_residual(Net& n);
void product_few_residual(Net& n);

}  // namespace ovir::testing
