// The equation of Einsum; the fast tier reads it too.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ovir {

struct EinsumEquation {
  /// A letter an axis, and kEllipsis for what "..." covers.
  using Subscript = std::string;
  static constexpr char kEllipsis = '.';

  std::string text;
  std::vector<Subscript> inputs;
  Subscript output;

  /// Throws AttributeError.
  static EinsumEquation parse(std::string_view text);
  std::string print() const { return text; }
};

struct EinsumAttrs {
  EinsumEquation equation;
};

}  // namespace ovir
