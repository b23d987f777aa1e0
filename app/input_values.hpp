// What an input VALUE of the command line says, as a tensor that fits the input.
#pragma once
#include <optional>
#include <string>

#include "io/generate.hpp"
#include "io/image.hpp"
#include "ovir.hpp"

namespace ovir::app {

/// An input of the model and what it takes.
struct InputPort {
  const Model* model = nullptr;
  int index = 0;                             ///< among the Parameters, in file order
  ElementType type = ElementType::dynamic;   ///< as inferred
  ElementType given = ElementType::dynamic;  ///< in which a user gives it (IR 10: f32 for f16)
  PartialShape shape;

  InputPort(const Model& m, const Facts& facts, int k);
  const Layer& layer() const;
  std::string name() const;  ///< printable
  /// Throws a Failure that points at the layer.
  [[noreturn]] void fail(Code code, std::string message, std::string help = {}) const;
};

struct ValueOptions {
  bool cast = false;
  io::ImageOptions image;
};

struct InputValue {
  Tensor tensor;
  std::string from;  ///< "x.npy", "stdin", "the value"
  bool image = false;
  std::string note;  ///< what --cast changed; empty: nothing
};

/// Reads a file, an image, stdin or a literal; `value` is no generator. Throws Failure (E0001, E0702 to E0705).
InputValue read_value(const InputPort& port, const std::string& value, const ValueOptions& options);

/// The file or archive member (`all.npz:key`) that holds this input in a folder or an archive of all inputs.
std::optional<std::string> find_member(const InputPort& port, const std::string& path);
/// `unknown element type "f99"` where a value begins like a literal, "2x3xf99=", but with a type that does not exist.
std::optional<std::string> unknown_type(std::string_view value);
bool is_npz(const std::string& path);

}  // namespace ovir::app
