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
#include "tools/step_shapes.hpp"

namespace ovir::app {

/// The flags that give a model its inputs.
struct InputOptions : ModelOptions {
  std::vector<std::string> inputs, layouts, means, scales;
  std::string resize;
  i64 seed = 0;
  bool random = false, cast = false, reverse_channels = false;
};
/// Declares -i/--input, --random, --cast and the image flags, and describes the input values in the help page. `fills`:
/// the command makes up what is missing also without --random.
void add_inputs(Flags& flags, InputOptions& options, bool fills = false);

/// -i words, bound to the Parameters of a model.
class Inputs {
 public:
  /// `words`: the command line, which an offered one repeats. Throws UsageError, or Failure with one of E0701, E0702,
  /// E0706.
  Inputs(const Model& model, const Facts& facts, const InputOptions& options, const std::vector<std::string>& words);
  /// The inputs of a step, in file order. What has no {step} in it is read once. Throws UsageError where image flags
  /// are given for what is no image.
  std::vector<Tensor> step(i64 number);
  /// Shapes of the states that step 0 begins with, by variable; masks that are made up cover them.
  void begin_with(std::map<std::string, PartialShape> states) { step_shapes_.begin_with(std::move(states)); }
  /// The limits of runs with these inputs: of those that are made up only such count whose shapes are given. `beside`:
  /// bytes of what else the user has given.
  Common limited(Common common, i64 beside = 0);
  /// What was made up or changed since the last call, for the user to know.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  struct Source {
    std::string value;                         ///< of -i; empty: random data
    std::optional<io::Generator> generator{};  ///< what `value` says, where it is a generator
    std::optional<InputValue> kept{};
    bool changes = false;  ///< it is made up anew for other shapes, as was said
  };
  const Model& model_;
  const InputOptions& options_;
  std::vector<InputPort> ports_;
  std::vector<ValueOptions> reading_;  ///< by Parameter
  std::vector<std::optional<Source>> sources_;
  const Facts& facts_;
  tools::StepShapes step_shapes_;
  std::vector<std::string> notes_;

  void bind(const std::string& word);
  bool bind_all(const std::string& word, const std::string& path);
  void give(std::size_t k, std::string value);
  std::map<int, Shape> read_given(i64 step);
  std::vector<Shape> shapes_to_fill(const std::map<int, Shape>& given) const;
  std::map<int, Dim> masks_to_fill(const std::map<int, Shape>& given) const;
  void make_up(int k, const Shape& shape, i64 step);
  void check_image_flags() const;
  [[noreturn]] void report_missing(const std::map<int, Shape>& given, const std::vector<std::string>& words) const;
  std::optional<std::string> example(const std::map<int, Shape>& given, const std::vector<std::string>& words) const;
};

/// `{step}` replaced by the number.
std::string with_step(std::string_view path, i64 number);

}  // namespace ovir::app
