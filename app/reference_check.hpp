// --ref of `run`: the outputs of each step against saved tensors.
#pragma once
#include <string>
#include <vector>

#include "cli.hpp"
#include "render/json.hpp"
#include "tools/reference.hpp"

namespace ovir::app {

class ReferenceCheck {
 public:
  /// `path`: of the tensors, with {step}; those of step 0 are read at once. Empty: there are none. Throws Failure
  /// (E0001, E0705).
  ReferenceCheck(const Common& common, const Model& model, std::string path);

  struct Told {
    Json json;
    std::string text;
  };
  /// Throws Failure (E0705) where no output of the model has a tensor.
  Told compare(i64 step, const std::vector<Tensor>& outputs);
  /// Whether all that was compared is within the tolerance.
  bool within() const { return within_; }

 private:
  void read(i64 step);

  const Common& common_;
  const Model& model_;
  std::string path_;
  tools::Reference reference_;
  bool within_ = true;
};

}  // namespace ovir::app
