// What compare, bisect and reduce share: a model that is judged, its inputs, and the reference that it is held against.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execution.hpp"
#include "run_inputs.hpp"
#include "tools/compare.hpp"

namespace ovir::app {

struct SubjectOptions : InputOptions, ExecutionOptions {
  std::string other;      ///< the second model of the command line
  std::string reference;  ///< --ref
  std::string map;
  std::vector<std::string> rtol, atol;
};
void add_subject(Flags& flags, SubjectOptions& options);

struct Subject {
  std::shared_ptr<const Model> model;
  Facts facts;
  std::optional<Session> session;
  Common limited;  ///< with the limits of its runs
  std::vector<Tensor> inputs;
  tools::Reference reference;
  std::string held_against;                      ///< for people: "dump/", "b.xml", "the reference tier"
  std::shared_ptr<const Model> reference_model;  ///< where it is a model
  std::vector<std::string> unaligned;            ///< layers of the two models that have no counterpart

  std::function<tools::Tolerance(const tools::TensorPlace&)> tolerance;
  tools::Allowance allowance;  ///< empty unless --rtol or --atol is given
};

/// Loads, plans, reads the inputs, and reads or computes the reference. Throws UsageError, and Failure (E0705) where
/// nothing of the reference belongs to the model. `refer`: false where no reference is wanted.
Subject prepare(const SubjectOptions& options, const Common& common, bool refer = true);
/// The values of a model on the reference tier, in f32.
tools::Reference reference_run(const std::shared_ptr<const Model>& model, const Facts& facts,
                               const std::vector<Tensor>& inputs, const SubjectOptions& options, const Common& common);

}  // namespace ovir::app
