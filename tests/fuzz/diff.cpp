// Two models compared: one that the input is, and one of the tests'. A model is equal to itself.
#include "tools/diff.hpp"
#include "fuzz.hpp"
#include "ovir.hpp"
#include "render/diff.hpp"
#include "scratch.hpp"

using namespace ovir;

namespace {

struct Side {
  std::shared_ptr<const Model> model;
  Facts facts;
  explicit Side(const std::string& path, const xml::ReadOptions& reading = {}) {
    Diagnostics diagnostics;
    model = load(path, reading, diagnostics);
    if (model) facts = infer(*model, {}, diagnostics);
  }
  tools::DiffSide side() const { return {*model, facts}; }
};

void check_changes(const tools::ModelDifference& difference) {
  for (const auto& change : difference.changes) {
    promise(change.a || change.b || change.kind == tools::ModelChange::Kind::order ||
                change.kind == tools::ModelChange::Kind::info,
            "a change is of a layer, or of the model");
    for (const auto& place : {change.a, change.b})
      promise(!place || (place->node >= 0 && place->node < std::ssize(place->model->nodes)), "a layer is one");
  }
  app::diff_text(difference, {});
  app::diff_summary(difference);
  app::json_text(app::diff_json(difference), 2);
}

}  // namespace

void fuzz_one(std::string_view input) {
  static const Side other(OVIR_MODELS "/loop.xml");
  const Side read(model_file(input), {.weights = weights_file()});
  if (!read.model) return;
  promise(tools::diff(read.side(), read.side()).equal(), "a model is equal to itself");
  const auto forwards = tools::diff(read.side(), other.side()), backwards = tools::diff(other.side(), read.side());
  promise(forwards.equal() == backwards.equal(), "what is equal is equal both ways");
  check_changes(forwards);
  check_changes(backwards);
  promise(app::canonical_text(*read.model) == app::canonical_text(*read.model), "a text of a model is always the same");
}
