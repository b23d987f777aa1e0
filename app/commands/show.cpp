// show: the model's layers, with whatever is known of them.
#include "base/text.hpp"
#include "command.hpp"
#include "execution.hpp"
#include "plan/print.hpp"
#include "render/diagnostics.hpp"
#include "render/graph.hpp"

namespace ovir::app::commands::show {
namespace {

struct Options : ModelOptions {
  std::string format = "text", select, plan_after;
  ExecutionOptions execution;
  i64 steps = 1;
  bool plan = false;
};

/// The plan that `run` would make.
int show_plan(Options& options, const Common& common) {
  settle_precision(options.execution.precision, common);
  const auto loaded = load_model(options, common);
  auto how = compile_options(options.execution, common, options.steps);
  how.until = options.plan_after;
  print(to_text(*plan(loaded.model, loaded.facts, how)));
  return kOk;
}

/// A flag that would have no effect is an error: something else was meant.
void check_usage(const Options& o, bool plan) {
  if (plan && !o.select.empty()) throw UsageError("--select does not apply to --plan");
  if (plan && o.format != "text")
    throw UsageError(fmt::format("--format {} does not apply to --plan, which is text", o.format));
  if (!plan && o.steps != 1) throw UsageError("--steps needs --plan");
  if (!plan && o.execution.precision != ExecutionOptions().precision) throw UsageError("--precision needs --plan");
}

int show(Options& options, const Common& common) {
  const bool plan = options.plan || !options.plan_after.empty();
  check_usage(options, plan);
  if (plan) return show_plan(options, common);
  Diagnostics diagnostics;
  const auto model = load(options.model, {options.weights, options.no_weights}, diagnostics);
  // Without its .bin a model can be looked at, but not with one that is not there.
  const bool no_weights = model && !model->graph->weights && !options.weights.empty() && diagnostics.errors() > 0;
  if (!model || no_weights) throw Refused(std::move(diagnostics), options.model);
  const auto facts = ovir::infer(*model, infer_options(options, *model), diagnostics);
  GraphView view{*model, facts, {}, options.model};
  if (!model->nodes.empty())
    view.selected = select_layers(common, *model, "--select", options.select.empty() ? "*" : options.select);
  if (options.format == "json") print(graph_json(view));
  else if (options.format == "dot") print(graph_dot(view));
  else if (options.format == "mermaid") print(graph_mermaid(view));
  else if (options.format == "html") print(graph_html(view));
  else print(graph_text(view, common.out));
  // A faulty model can still be looked at.
  if (diagnostics.errors() > 0) note_details(common, counted(diagnostics.errors(), "error"), options.model);
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  flags.selector("--select", o.select, "only these layers");
  flags.toggle("--plan", o.plan,
               "instead: the steps that run would take, their kernels and the layers that each computes");
  const auto passes = pass_names();
  flags.choice("--plan-after", o.plan_after, {passes.begin(), passes.end()}, "PASS",
               "the plan as it stands after this pass");
  flags.number("--steps", o.steps, "N", "with --plan: for so many runs", 1);
  add_precision(flags, o.execution.precision);
  flags.format(o.format, "text json dot mermaid html");
  return [options](const Common& common) { return show(*options, common); };
}

}  // namespace

extern constinit const Command command{"show",
                                       CommandGroup::inspect,
                                       "list the model's layers, one per line, or draw them",
                                       "ovir show model.xml --select 'to:conv1'\n"
                                       "ovir show model.xml --plan --steps 100\n"
                                       "ovir show model.xml --format dot | dot -Tsvg >model.svg",
                                       {2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::show
