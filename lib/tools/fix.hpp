// Fixes: changes of a model's files that cure its faults. None is offered that was not tried: the model is checked anew
// with it, in memory.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/int.hpp"
#include "ovir.hpp"

namespace ovir::tools {

/// The value that a Constant is to have: of its element type and shape.
struct ConstantChange {
  std::string path;    ///< of the body that the layer is in, "" of the whole
  i64 id = 0;          ///< of the layer
  std::string name;    ///< of the layer, without the path
  std::string values;  ///< as text: "-1,4,64"
  Tensor value, before;
};

/// Changes that are made together.
struct Edits {
  std::vector<Replacement> texts;
  std::vector<ConstantChange> constants;
  bool empty() const { return texts.empty() && constants.empty(); }
  void append(const Edits& other);
  /// No two of them change one place.
  bool disjoint() const;
};

/// `text` with all replacements.
std::string apply(std::string_view text, std::vector<Replacement> replacements);

/// A new value for the Constant called `name` (with its path, where it is in a body). Throws SelectorError where
/// there is none, Failure E0705 where the values do not fit its type and number of elements.
ConstantChange change_constant(const Model& model, std::string_view name, std::string_view values);

/// Other shapes for Parameters, by index in file order, and for all ports whose inferred shapes change with them.
Edits reshape(const Model& model, const std::map<int, PartialShape>& shapes);

/// A model as `check` was asked to judge it.
struct CheckedModel {
  std::shared_ptr<const SourceFile> source;
  xml::ReadOptions reading;
  passes::InferOptions inferring;
  std::string release{};  ///< that must read the model (E0606); empty: none is asked for
};
/// What `check` says of it with the changes made.
Diagnostics check(const CheckedModel& subject, const Edits& edits);

/// The tried and proven cure of one diagnostic.
struct Fix {
  std::size_t diagnostic = 0;  ///< its index
  Remedy remedy;
  Edits edits;
  std::vector<std::size_t> also;  ///< other diagnostics that went with it
  std::size_t uncovered = 0;      ///< errors that come with it, of layers that could not be judged before
};
struct Fixes {
  std::vector<Fix> list;
  Edits edits;                     ///< of them all, after those that there were before
  std::size_t errors = 0;          ///< that stay when all are made
  std::size_t contradictions = 0;  ///< declared shapes and types that contradict then
};
/// Tries the remedies of `diagnostics`, which is what check() says of `model` and `subject` with the edits `before`. A
/// remedy is taken where the diagnostic then goes and no other error, and no other contradiction to what is declared,
/// comes; of several the one that leaves the fewest of both. Where there is none, one that only uncovers errors of
/// layers that could not be judged is taken, unless it sets a constant. A new value for a constant may leave ports that
/// declare the old shapes, as long as no error is left.
Fixes find_fixes(const Model& model, const CheckedModel& subject, const Diagnostics& diagnostics,
                 const Edits& before = {});

}  // namespace ovir::tools
