// Nets at which the patterns of the fast tier fire.
#pragma once
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
  Net(ElementType type, bool open) : type_(type), open_(open) {}

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

  ElementType type_;
  bool open_;
  int names_ = 0;
  std::vector<int> layers_;  // that op() has made
};

struct Example {
  std::string_view pattern;
  std::string_view kernel;  ///< by its whole name
  void (*build)(Net& net);
  i64 runs = 100;       ///< Options::expected_runs
  bool open = false;    ///< the batch is unknown before the run
  bool f16 = true;      ///< fires for a model of f16, too
  float error = 5e-6F;  ///< of f32 results, relative to the largest of them
};

/// At least one a pattern.
std::span<const Example> pattern_examples();
/// Those among them that language models are made of.
std::span<const Example> transformer_examples();
/// In which the kernel reads or writes blocked values, and other kernels the rest.
std::span<const Example> blocked_examples();

}  // namespace ovir::testing
