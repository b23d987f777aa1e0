// show: the model's layers, with whatever is known of them.
#include "command.hpp"
#include "render/diagnostics.hpp"
#include "render/graph.hpp"

namespace ovir::app::commands::show {
namespace {

struct Options : ModelOptions {
  std::string format = "text", select;
};

int show(const Options& options, const Common& common) {
  Diagnostics diagnostics;
  const auto model = load(options.model, {options.weights, options.no_weights}, diagnostics);
  if (!model) return report(diagnostics, options.model, common);
  const auto facts = ovir::infer(*model, infer_options(options, *model), diagnostics);
  View view{*model, facts, {}, options.model};
  try {
    if (!model->nodes.empty()) view.selected = tools::select(*model, options.select.empty() ? "*" : options.select);
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("--select: {}", error.what()));
  }
  if (options.format == "json") print(graph_json(view));
  else if (options.format == "dot") print(graph_dot(view));
  else if (options.format == "mermaid") print(graph_mermaid(view));
  else if (options.format == "html") print(graph_html(view));
  else print(graph_text(view, common.out));
  // A faulty model can still be looked at.
  if (diagnostics.errors() > 0 && !common.quiet)
    fmt::print(stderr, "{} {}; run 'ovir check {}' for details\n", common.err(Paint::note, "note:"),
               count(diagnostics.errors(), "error"), shell_word(options.model));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  flags.text("--select", o.select, "SELECTOR", "only these layers");
  flags.format(o.format, "text json dot mermaid html");
  return [options](const Common& common) { return show(*options, common); };
}

}  // namespace

extern constinit const Command command{"show",
                                       CommandGroup::inspect,
                                       "list the model's layers, one per line, or draw them",
                                       "ovir show model.xml --select 'to:conv1'\n"
                                       "ovir show model.xml --format dot | dot -Tsvg >model.svg",
                                       {2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::show
