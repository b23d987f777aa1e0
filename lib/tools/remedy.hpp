// From a remedy, which speaks of layers, ports and attributes, to the changes of the files that make it so.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "tools/fix.hpp"

namespace ovir::tools {

class Remedies {
 public:
  explicit Remedies(const Model& model);
  /// The changes that `remedy` of `d` means. Nothing where it cannot be done: what it speaks of is not there.
  std::optional<Edits> edits_of(const Diagnostic& d, const Remedy& remedy) const;

  struct Place {
    const Model* model = nullptr;
    const Node* node = nullptr;
  };

 private:
  const Model& model_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Place>
      places_;  ///< by path, id and name of the layer

  void collect(const Model& model);
};

/// The changed value of a Constant. Nothing where its value is not known. Throws Failure E0705 where `values` do not
/// fit its type and number of elements.
std::optional<ConstantChange> change_constant(const Model& model, const Node& node, std::string_view values);

}  // namespace ovir::tools
