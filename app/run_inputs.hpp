// The inputs of `run`: which VALUE belongs to which input, and what a VALUE says.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flags.hpp"

namespace ovir::app {

/// The flags that give a model its inputs.
struct InputOptions : ModelOptions {
  std::vector<std::string> inputs, layouts, means, scales;
  std::string resize;
  std::int64_t seed = 0;
  bool random = false, cast = false, reverse_channels = false;
};
/// Declares -i/--input, --random, --cast and the image flags, and describes the input values in the help page.
void add_inputs(Flags& flags, InputOptions& options);

/// -i words, bound to the Parameters of a model. Nothing is read before a step asks for it.
class Inputs {
 public:
  /// Throws UsageError, or Failure with one of E0701, E0702, E0706.
  Inputs(const Model& model, const Facts& facts, const InputOptions& options);
  /// The inputs of a step, in file order. What has no {step} in it is read once.
  std::vector<Tensor> step(std::int64_t number);

 private:
  struct Source {
    std::string value;     ///< empty: made up at random
    bool by_name = false;  ///< VALUE is a folder or an .npz of all inputs: NAME picks from it
    std::optional<Tensor> kept;
  };
  const Model& model_;
  const Facts& facts_;
  const InputOptions& options_;
  std::vector<std::optional<Source>> sources_;

  void bind(const std::string& word);
  void give(int k, std::string value, bool by_name);
  [[noreturn]] void missing() const;
  Tensor read(int k, const Source& source, std::int64_t number) const;
  Tensor fit(int k, Tensor value, const std::string& from) const;
};

/// `{step}` replaced by the number.
std::string with_step(std::string_view path, std::int64_t number);

}  // namespace ovir::app
