// Reduce: the smallest part of a model that still fails, with what reaches it from outside as constants of the values
// that it had.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/extract.hpp"
#include "tools/reference.hpp"

namespace ovir::tools {

/// A part of a model, cut out.
struct Candidate {
  SubModel text;
  std::shared_ptr<const Model> model;            ///< null where it could not be read
  Facts facts;                                   ///< not sound where the check refuses what it could read
  const Model* part = nullptr;                   ///< of the whole model
  std::vector<int> nodes;                        ///< of `part`, which the candidate keeps, in order
  std::vector<std::pair<i64, ValueRef>> frozen;  ///< ids of the new constants, and the values of `part` that they are
};
/// Whether a candidate still fails.
using Fails = std::function<bool(const Candidate&)>;

struct ReduceInput {
  const Model& whole;
  const Facts& facts;
  const Model* part = nullptr;    ///< `whole`, or the body that the failure is in
  std::vector<i64> iterations{};  ///< of the loops around that body
  std::optional<int> suspect{};   ///< the node of `part` that fails, where it is known
  const Reference& values;        ///< of a run, to take the place of layers that go
};

struct ReducedModel {
  std::optional<Candidate> smallest;  ///< nothing where the whole model does not fail either
  int tried = 0;                      ///< candidates
};

/// From the suspect, with the layers before it as far as the failure needs them; or, where it is not known or that does
/// not fail, from the whole model by halving it from behind, from the front, and in between.
ReducedModel reduce(const ReduceInput& input, const Fails& fails);

/// Other names for layers and tensors, no <rt_info>; then other numbers in constants, one by one, while the failure is
/// still there. `numbers`: whether to try that.
Candidate anonymized(const Candidate& candidate, bool numbers, const Fails& fails);

/// What a reference of the whole model is for a candidate: its layers keep their ids.
Reference reference_for(const Candidate& candidate, const Reference& reference, const std::vector<i64>& iterations);

/// Layers other than Constants, Parameters and Results; and Constants.
std::pair<std::size_t, std::size_t> count_reduced(const Model& model);

}  // namespace ovir::tools
