// Fixing: the changes that are offered can be made, and leave what they promise to leave.
#include "tools/fix.hpp"
#include "fuzz.hpp"
#include "scratch.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  Diagnostics diagnostics;
  const auto path = model_file(input);
  const xml::ReadOptions reading{.weights = weights_file()};
  const auto model = load(path, reading, diagnostics);
  if (!model || diagnostics.all().size() > 40) return;  // every diagnostic costs a few checks
  infer(*model, {}, diagnostics);
  const tools::CheckedModel subject{model->graph->source, reading, {}};
  const auto fixes = tools::find_fixes(*model, subject, diagnostics);
  promise(fixes.edits.disjoint(), "no two changes overlap");
  std::size_t uncovered = 0;
  for (const auto& fix : fixes.list) uncovered += fix.uncovered;
  promise(fixes.errors <= diagnostics.errors() + uncovered, "changes make no new errors");
  const auto after = tools::check(subject, fixes.edits);
  promise(after.errors() == fixes.errors, "the errors that were promised to stay are those that stay");
  if (fixes.list.empty()) return;
  for (const auto& fix : fixes.list)
    promise(fix.diagnostic < diagnostics.all().size() && !fix.edits.empty(),
            "a fix is of a diagnostic, and changes something");
}
