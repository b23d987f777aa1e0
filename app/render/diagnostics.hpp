// Diagnostics in the formats of `ovir check`.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "render/json.hpp"
#include "render/style.hpp"

namespace ovir::app {

/// Turns places into lines and columns, with one index a file however many places are asked for.
class Places {
 public:
  /// `model`: the file to name where a diagnostic has no place of its own.
  explicit Places(std::string model) : model_(std::move(model)) {}
  struct Place {
    std::string file;
    std::size_t line = 0, column = 0;  ///< 0: the file as a whole
    std::size_t end_column = 0;        ///< behind what is meant of this line
  };
  Place operator()(const SourceLoc&);
  /// "toy.xml:77:4", or "toy.xml" for a file as a whole.
  std::string text(const SourceLoc&);

 private:
  std::string model_;
  std::map<const SourceFile*, LineIndex> indices_;
};

/// "layer 5 "model.22/dfl/Reshape" (Reshape-1)"
std::string describe(const LayerRef&);
/// "input port 0 "data""; names the file's own port id where it differs from the position.
std::string describe(const PortRef&);

struct ReportOptions {
  std::string model;           ///< path of the model, as given
  std::size_t max_errors = 0;  ///< 0: all
};

/// One diagnostic as rustc would write it: headline, place, snippet with caret, notes.
std::string human(const Diagnostic&, Places&, const Style&);
/// All of them, without the closing line.
std::string human(const Diagnostics&, const ReportOptions&, const Style&);
std::string short_form(const Diagnostics&, const ReportOptions&, const Style&);
/// What was found in one of several models.
struct ModelReport {
  Diagnostics diagnostics;
  ReportOptions options;
};
std::string json(const ModelReport&);
/// The list "diagnostics" of such a document.
Json diagnostics_json(const ModelReport&);
/// One document, with the documents of all models under "models".
std::string json(const std::vector<ModelReport>&);
/// One run with the results of all models.
std::string sarif(const std::vector<ModelReport>&);
std::string github(const Diagnostics&, const ReportOptions&);
/// "1 error; 4 layers depend on it and were not checked", "ok: 12 layers". `no_weights`: the .bin was left out.
std::string closing_line(const Diagnostics&, std::size_t layers, const Style&, bool no_weights = false);

}  // namespace ovir::app
