// A .spec file as it is written: sections, cases, partial shapes and rejects of operations. The format is in
// ../README.md.
#pragma once
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "diag/codes.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"

namespace ovir::spec {

struct Word {
  std::string text;
  bool quoted = false;
  int line = 0;
  bool is(std::string_view s) const { return !quoted && text == s; }
};

/// `name type[shape]`, perhaps with `= values`.
struct PortText {
  std::string name;
  ElementType type = ElementType::dynamic;
  PartialShape shape;
  bool has_values = false;
  std::vector<Word> values;
  int line = 0;
};

struct TypesLine {
  std::vector<std::string> ports, set;
  int line = 0;
};

/// The body of an If, Loop or TensorIterator: lines that are kept as words.
struct BodyText {
  std::string role;
  std::vector<std::vector<Word>> lines;
  int line = 0;
};

enum class ItemKind { values, shape, reject };

struct Item {
  ItemKind kind{};
  std::string name;
  int line = 0;
  std::vector<PortText> ports;        ///< inputs and, in a case, outputs
  std::vector<PortText> after_arrow;  ///< outputs of a shape or reject; they have no names
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<TypesLine> types;
  std::optional<double> rtol, atol;
  std::vector<std::string> constants;  ///< inputs that are never Parameters
  bool shape_only = false;
  std::vector<BodyText> bodies;
  std::optional<Code> error;
  std::string at;         ///< port or attribute of the fault; empty: not judged
  bool when_run = false;  ///< the check passes, the run fails
};

struct Section {
  std::vector<std::pair<std::string, int>> ops;  ///< type, opset
  std::vector<Item> items;
  std::map<std::string, std::string> exempt;  ///< "values", "shape" or "reject": why
  int line = 0;
};

struct SpecFile {
  std::string path;
  std::vector<Section> sections;
};

/// "file:line: what is wrong with the text".
struct SpecError : std::runtime_error {
  SpecError(const std::string& file, int line, const std::string& what)
      : runtime_error(file + ":" + std::to_string(line) + ": " + what) {}
};

SpecFile parse_spec(const std::string& path);

}  // namespace ovir::spec
