#include "reference_check.hpp"

#include "base/text.hpp"
#include "reference_files.hpp"
#include "render/comparison.hpp"
#include "run_inputs.hpp"

namespace ovir::app {

ReferenceCheck::ReferenceCheck(const Common& common, const Model& model, std::string path)
    : common_(common), model_(model), path_(std::move(path)) {
  if (!path_.empty()) read(0);
}

void ReferenceCheck::read(i64 step) { reference_ = saved_reference(common_, model_, with_step(path_, step)); }

ReferenceCheck::Told ReferenceCheck::compare(i64 step, const std::vector<Tensor>& outputs) {
  if (step > 0) read(step);
  const auto comparison = tools::compare_outputs(model_, outputs, reference_);
  if (comparison.outputs.empty())
    fail(Code::E0705, "{}: nothing to compare: it holds no output of the model", printable(with_step(path_, step)));
  within_ = within_ && comparison.within;
  const auto columns = parse_metrics("max_abs,max_rel,cosine");
  const ComparisonView view{comparison, reference_, {}, columns, true};
  return {comparison_json(view), comparison_text(view, common_.out)};
}

}  // namespace ovir::app
