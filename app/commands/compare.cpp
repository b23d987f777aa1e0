// compare: a run against a reference: saved tensors, another model, or the reference tier.
#include <algorithm>

#include "command.hpp"
#include "progress.hpp"
#include "render/comparison.hpp"
#include "subject.hpp"

namespace ovir::app::commands::compare {
namespace {

struct Options : SubjectOptions {
  std::string format, metrics = "max_abs,max_rel,cosine", select;
  bool per_layer = false, fail_fast = false;
};

/// The places that a selector names; empty: all.
std::function<bool(const tools::TensorPlace&)> selected(const Common& common, const Model& model,
                                                        const std::string& selector) {
  if (selector.empty()) return {};
  return [chosen = select_layers(common, model, "--select", selector)](const tools::TensorPlace& place) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const tools::Selected& s) {
      return s.model == place.model && s.node == place.node && (!s.port || *s.port == place.port) &&
             (!s.iteration || (!place.iterations.empty() && place.iterations.back() == *s.iteration));
    });
  };
}

int run(const Options& options, const Common& common) {
  const auto columns = parse_metrics(options.metrics);
  auto subject = prepare(options, common);

  tools::CompareOptions how;
  how.tolerance = subject.tolerance;
  how.allowance = subject.allowance;
  how.wants = selected(common, *subject.model, options.select);
  how.fail_fast = options.fail_fast;
  for (const auto& column : columns)
    if (column.metric == Metric::top) how.top.push_back(column.k);
  const auto comparison = with_progress(
      common, "compare", [&] { return tools::compare(*subject.session, subject.inputs, subject.reference, how); });
  if (comparison.layers.empty() && comparison.outputs.empty())
    fail(Code::E0705, "nothing to compare: no tensor of {} was computed in the run", printable(subject.held_against));

  const ComparisonView view{comparison, subject.reference, subject.unaligned, columns, options.per_layer};
  print(options.format == "json" ? json_text(comparison_json(view), 2) : comparison_text(view, common.out));
  return comparison.within ? kOk : kDiffers;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.argument("REFERENCE", o.other, "a model to compare with, run on the same inputs");
  add_subject(flags, o);
  constexpr auto comparing = "Comparison";
  flags.list("--rtol", o.rtol, "[LAYER:]V", "relative tolerance; default 1e-3").group(comparing);
  flags
      .list("--atol", o.atol, "[LAYER:]V",
            "absolute tolerance; default: 1e-5 of the largest magnitude in the reference's tensor, and 0 for integers")
      .group(comparing);
  flags.text("--metric", o.metrics, "LIST", "columns: max_abs, max_rel, ulp, rmse, cosine, psnr, nan, inf, topK")
      .group(comparing);
  flags.selector("--select", o.select, "compare only these layers").group(comparing);
  flags.toggle("--per-layer", o.per_layer, "list every layer, not only outputs and layers that differ")
      .group(comparing);
  flags.toggle("--fail-fast", o.fail_fast, "stop at the first layer that is not within the tolerance").group(comparing);
  flags.format(o.format, "human json");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

extern constinit const Command command{"compare",
                                       CommandGroup::run,
                                       "compare a run with a reference, layer by layer",
                                       "ovir compare model.xml -i x=@x.npy --ref reference.npz\n"
                                       "ovir compare fp16.xml fp32.xml -i x=@x.npy --per-layer\n"
                                       "ovir compare model.xml --random --precision declared --rtol 1e-2",
                                       {1, 2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::compare
