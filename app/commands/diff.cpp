// diff: what differs between two models, layer by layer.
#include <cstdio>

#include "base/text.hpp"
#include "command.hpp"
#include "render/diagnostics.hpp"
#include "render/diff.hpp"

namespace ovir::app::commands::diff {
namespace {

struct Options {
  std::string first, second, format;
  bool no_weights = false, textconv = false;
};

/// A model as far as it could be read: faults in it are no hindrance, but where its weights are missing.
struct Side {
  std::shared_ptr<const Model> model;
  Facts facts;
};

/// What hinders goes to `refused`.
Side read(const std::string& path, bool no_weights, bool notes, const Common& common, Diagnostics& refused) {
  Side side;
  Diagnostics diagnostics;
  xml::ReadOptions reading;
  reading.no_weights = no_weights;
  side.model = load(path, reading, diagnostics);
  bool weights_missing = false;
  for (const auto& d : diagnostics.all()) weights_missing |= d.code == Code::E0301 || d.code == Code::E0304;
  if (!side.model || weights_missing) {
    for (const auto& d : diagnostics.all()) refused.add(d);
    return side;
  }
  side.facts = ovir::infer(*side.model, {}, diagnostics);
  if (diagnostics.errors() > 0 && notes)
    note_details(common, fmt::format("{} in {}", counted(diagnostics.errors(), "error"), printable(path)), path);
  return side;
}

int diff(const Options& options, const Common& common) {
  if (options.textconv != options.second.empty())
    throw UsageError(options.textconv ? "--textconv: expected one model"
                                      : "diff: expected two models, MODEL and OTHER");
  Diagnostics refused;
  if (options.textconv) {
    const auto side = read(options.first, true, false, common, refused);
    if (refused.errors() > 0) throw Refused(std::move(refused), options.first);
    print(canonical_text(*side.model));
    return kOk;
  }
  const auto a = read(options.first, options.no_weights, true, common, refused);
  const bool first = refused.errors() > 0;
  const auto b = read(options.second, options.no_weights, true, common, refused);
  if (refused.errors() > 0) throw Refused(std::move(refused), first ? options.first : options.second);
  const auto difference = tools::diff({*a.model, a.facts}, {*b.model, b.facts});
  if (options.format == "json") {
    print(json_text(diff_json(difference), 2));
  } else {
    print(diff_text(difference, common.out));
    if (!common.quiet) print(diff_summary(difference) + "\n");
  }
  if (difference.not_compared > 0 && !options.no_weights)
    note(common, fmt::format("the values of {} could not be compared", counted(difference.not_compared, "constant")));
  return difference.equal() ? kOk : kDiffers;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.argument("MODEL", o.first, "the first model's .xml file").required();
  flags.argument("OTHER", o.second, "the second model's .xml file");
  flags.toggle("--no-weights", o.no_weights, "do not read the .bin files");
  flags.toggle(
      "--textconv", o.textconv,
      "instead: print one model as text that git can compare; in .gitattributes '*.xml diff=ir', then 'git config "
      "diff.ir.textconv \"ovir diff --textconv\"'");
  flags.format(o.format, "human json");
  return [options](const Common& common) { return diff(*options, common); };
}

}  // namespace

extern constinit const Command command{"diff",
                                       CommandGroup::inspect,
                                       "compare the layers, edges and weights of two models",
                                       "ovir diff model.xml model_fp16.xml\n"
                                       "ovir diff --textconv model.xml",
                                       {1, 2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::diff
