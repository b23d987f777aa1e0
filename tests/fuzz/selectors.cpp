// Selectors, on a model with a body.
#include <set>

#include "fuzz.hpp"
#include "ovir.hpp"
#include "tools/select.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  static const auto model = [] {
    Diagnostics diagnostics;
    const auto read = load(OVIR_MODELS "/loop.xml", {}, diagnostics);
    promise(read && diagnostics.errors() == 0, "the model is sound");
    return read;
  }();
  try {
    const auto selected = tools::select(*model, input);
    promise(!selected.empty(), "what selects nothing is refused");
    for (const auto& s : selected)
      promise(s.model && s.node >= 0 && static_cast<std::size_t>(s.node) < s.model->nodes.size(),
              "a selected node is one of the model");
    for (std::size_t i = 1; i < selected.size(); ++i)
      promise(!(selected[i] == selected[i - 1]), "no layer comes twice");
  } catch (const tools::SelectorError& error) {
    promise(*error.what() != '\0', "a refusal has a message");
  }
}
