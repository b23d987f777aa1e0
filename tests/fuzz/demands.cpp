// The words of `--simulate`, `--limits`, `--trap` and `cost --assert`, on a model with a body.
#include <set>
#include <stdexcept>

#include "cli.hpp"
#include "fuzz.hpp"
#include "limits.hpp"
#include "ovir.hpp"
#include "tools/cost.hpp"
#include "tools/simulate.hpp"
#include "tools/traps.hpp"

using namespace ovir;

namespace {

struct Example {
  std::shared_ptr<const Model> model;
  Facts facts;
  Example() {
    Diagnostics diagnostics;
    model = load(OVIR_MODELS "/loop.xml", {}, diagnostics);
    if (model) facts = infer(*model, {}, diagnostics);
    promise(model && diagnostics.errors() == 0, "the model is sound");
  }
};

/// Calls `work`; a sentence for users is the one exception that it may throw.
template <class Refusal, class Work>
void refuses(Work&& work) {
  try {
    work();
  } catch (const Refusal& error) {
    promise(*error.what() != '\0', "a refusal has a message");
  }
}

}  // namespace

void fuzz_one(std::string_view input) {
  static const Example example;
  refuses<tools::SelectorError>([&] {
    const auto rounded = tools::parse_roundings(*example.model, example.facts, input);
    promise(!rounded.empty() || input.empty(), "what means no layer is refused");
    std::set<const Node*> nodes;
    for (const auto& r : rounded) {
      promise(is_float(r.type), "layers are rounded to a float type");
      promise(nodes.insert(&(*r.model)[r.node]).second, "no layer comes twice");
    }
  });
  refuses<std::invalid_argument>([&] {
    for (const auto& demand : tools::parse_demands(input)) demand.holds({});
  });
  refuses<std::invalid_argument>([&] { tools::parse_traps(input); });
  refuses<app::UsageError>([&] {
    const auto limits = app::parse_limits(input);
    promise(limits.memory >= 0 && limits.work >= 0, "a limit is not negative");
    promise(!limits.time || limits.time->count() >= 0, "nor is a time");
  });
}
