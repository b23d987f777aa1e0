// Running: a model and made-up inputs, in every way to run; the .bin follows the model's </net>, else it is of small
// numbers. What is run ends alike in every way, and within what was inferred.
#include "agree.hpp"
#include "fuzz.hpp"
#include "scratch.hpp"
#include "values.hpp"

using namespace ovir;

namespace {

constexpr i64 kLargest = 1 << 16;  // elements of an input

/// What is known to be computed must be little.
bool small_enough(const Facts& facts) {
  double elements = 0;
  for (const auto& node : facts.outputs)
    for (const auto& fact : node)
      for (double n = 1; const auto& dim : fact.shape) elements += n *= static_cast<double>(dim.min);
  return elements < 1 << 22;
}

}  // namespace

void fuzz_one(std::string_view input) {
  const ModelWithWeights given(input);
  Diagnostics diagnostics;
  const auto model = load(model_file(given.xml), {.weights = given.weights()}, diagnostics);
  if (!model || !model->complete) return;
  const auto facts = infer(*model, {}, diagnostics);
  if (diagnostics.errors() > 0 || !small_enough(facts)) return;

  fuzz::Choices choices(given.bin.empty() ? input.substr(0, 64) : given.bin.substr(given.bin.size() / 2));
  std::vector<Tensor> inputs;
  for (const auto node : model->parameters) {
    const auto& fact = facts.outputs[static_cast<std::size_t>(node)].at(0);
    const auto shape = fuzz::some_shape(fact.shape, kLargest, choices);
    if (!shape || fact.type == ElementType::dynamic) return;
    inputs.push_back(fuzz::filled(fact.type, *shape, static_cast<fuzz::Fill>(choices.below(5)), choices));
  }
  std::optional<fuzz::Outcome> first;
  for (const auto& way : testing::kWays) {
    auto o = fuzz::outcome(model, facts, way, false, inputs);
    if (o.cut) return;
    for (std::size_t k = 0; k < o.results.size(); ++k) {
      const auto& result = (*model)[model->results[k]];
      promise(facts.of(result.inputs.at(0)).shape.contains(o.results[k].shape()),
              "the inferred shape holds the actual one");
    }
    if (!first) first = o;
    const auto wrong = fuzz::difference(*first, o, false);
    if (!wrong.empty()) broken(fmt::format("{} ends as the reference tier: {}", way.name, wrong));
  }
}
