// show: the model's layers, with whatever is known of them.
#include "commands/commands.hpp"
#include "render/diagnostics.hpp"
#include "render/graph.hpp"

namespace ovir::app {

int show(const ShowOptions& options, const Common& common) {
  Diagnostics said;
  const auto model = load(options.model, {options.weights, options.no_weights}, said);
  if (!model) return report(said, options.model, common);
  const auto facts = ovir::infer(*model, infer_options(options, *model), said);
  View view{*model, facts, {}, options.model};
  try {
    view.selected = tools::select(*model, options.select.empty() ? "*" : options.select);
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("--select: {}", error.what()));
  }
  if (options.format == "json") print(graph_json(view));
  else if (options.format == "dot") print(graph_dot(view));
  else if (options.format == "mermaid") print(graph_mermaid(view));
  else if (options.format == "html") print(graph_html(view));
  else print(graph_text(view, common.out));
  // A faulty model can still be looked at.
  if (said.errors() > 0 && !common.quiet)
    fmt::print(stderr, "{} the model has {}; `ovir check` tells which\n", common.err(Paint::note, "note:"),
               count(said.errors(), "error"));
  return kOk;
}

}  // namespace ovir::app
