// Checking: whatever the model says, load and infer come back; a model that is not complete has an error that says why.
#include "fuzz.hpp"
#include "ovir.hpp"
#include "scratch.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  Diagnostics diagnostics;
  const auto model = load(model_file(input), {.weights = weights_file()}, diagnostics);
  if (!model) return promise(diagnostics.errors() > 0, "a model that is refused has an error");
  promise(model->complete || diagnostics.errors() > 0, "an incomplete model has an error");
  const auto facts = infer(*model, {}, diagnostics);
  promise(facts.outputs.size() == model->nodes.size(), "every node has facts");
  for (std::size_t i = 0; i < facts.outputs.size(); ++i)
    for (const auto& fact : facts.outputs[i])
      for (const auto& dim : fact.shape) promise(dim.min >= 0 && dim.min <= dim.max, "a dim is an interval of lengths");
}
