// The inputs of `run`: which VALUE belongs to which input, and data for those that have none.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/int.hpp"
#include "flags.hpp"
#include "input_values.hpp"

namespace ovir::app {

/// The flags that give a model its inputs.
struct InputOptions : ModelOptions {
  std::vector<std::string> inputs, layouts, means, scales;
  std::string resize;
  i64 seed = 0;
  bool random = false, cast = false, reverse_channels = false;
};
/// Declares -i/--input, --random, --cast and the image flags, and describes the input values in the help page.
void add_inputs(Flags& flags, InputOptions& options);

/// -i words, bound to the Parameters of a model.
class Inputs {
 public:
  /// Throws UsageError, or Failure with one of E0701, E0702, E0706.
  Inputs(const Model& model, const Facts& facts, const InputOptions& options);
  /// The inputs of a step, in file order. What has no {step} in it is read once. Throws UsageError where image flags
  /// are given for what is no image.
  std::vector<Tensor> step(i64 number);
  /// What was made up or changed since the last call, for the user to know.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  struct Source {
    std::string value;                         ///< of -i; empty: random data
    std::optional<io::Generator> generator{};  ///< what `value` says, where it is a generator
    std::optional<InputValue> kept{};
  };
  const Model& model_;
  const InputOptions& options_;
  std::vector<InputPort> ports_;
  std::vector<ValueOptions> reading_;  ///< by Parameter
  std::vector<std::optional<Source>> sources_;
  const Facts& facts_;
  std::vector<std::string> notes_;

  void bind(const std::string& word);
  bool bind_all(const std::string& word, const std::string& path);
  void give(std::size_t k, std::string value);
  std::map<int, Shape> read_given(i64 step);
  std::vector<Shape> shapes_to_fill(const std::map<int, Shape>& given) const;
  void make_up(int k, const Shape& shape);
  void check_image_flags() const;
  [[noreturn]] void report_missing(const std::map<int, Shape>& given) const;
  std::optional<std::string> example(const std::map<int, Shape>& given) const;
};

/// `{step}` replaced by the number.
std::string with_step(std::string_view path, i64 number);

}  // namespace ovir::app
