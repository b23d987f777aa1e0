// Selectors: which layers, or which of their outputs, a user means.
//
//   relu1              a layer by name ("loop1/body/relu" in a body), or an output by its tensor name
//   */attn/*           glob: * any text, ? any character
//   /conv[0-9]+/       a regular expression that matches somewhere in the name
//   type:MatMul        by type, without regard to letter case
//   id:42  id:10..20   by the file's layer id, a range includes both ends
//   tensor:conv1:0     output port 0 of a layer, or an output by its tensor name
//   from:A  to:B       A and all that depends on it; B and all that it depends on
//   ...@it=3           only in iteration 3 of the loop around it
//   a,b  !c            either; all that was selected (or everything) but c
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// One node of a model or of a body within, and perhaps one of its ports, in perhaps one iteration.
struct Selected {
  const Model* model = nullptr;
  int node = -1;
  std::optional<int> port;
  std::optional<i64> iteration;

  bool operator==(const Selected&) const = default;
};

/// A selector that cannot be understood, or that means nothing in this model: says so in one sentence.
struct SelectorError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Whether a part of a selector that means constants and other layers alike (`*`, `to:A`) means the constants as well.
enum class Constants : std::uint8_t { selected, spared };

/// What `selector` means, in topological order, bodies after the layers of the model around them; no layer twice.
/// With `part`, the model or a body within it, a part of the selector means layers of one model or body where it can:
/// of `part`, else of a body and not of those within it.
/// Throws SelectorError where the text is faulty or it, or a part of it, selects nothing.
std::vector<Selected> select(const Model& model, std::string_view selector, Constants constants = Constants::selected,
                             const Model* part = nullptr);

/// The names in `selector` that several layers have, each as a sentence about them: such a name means all of them.
std::vector<std::string> shared_names(const Model& model, std::string_view selector);

/// `pattern` with * and ?; the whole of `text` must match.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace ovir::tools
