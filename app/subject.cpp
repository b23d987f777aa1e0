#include "subject.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/text.hpp"
#include "io/files.hpp"
#include "log.hpp"
#include "names.hpp"
#include "reference_files.hpp"
#include "tools/align.hpp"

namespace ovir::app {
namespace {

using tools::TensorPlace;
using tools::Tolerance;

double number(std::string_view flag, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !(*value >= 0))
    throw UsageError(fmt::format("{}: expected a number of at least 0, not '{}'", flag, printable(text)));
  return *value;
}

/// The words of --rtol or --atol: a value for all layers, and those that selectors name.
class PerLayer {
 public:
  PerLayer(const Common& common, std::string_view flag, const std::vector<std::string>& words, const Model& model) {
    for (const auto& word : words) {
      const auto colon = word.rfind(':');
      if (colon == word.npos) {
        all_ = number(flag, word);
        continue;
      }
      const auto value = number(flag, std::string_view(word).substr(colon + 1));
      for (const auto& s : select_layers(common, model, flag, word.substr(0, colon)))
        some_.insert_or_assign(&(*s.model)[s.node], value);
    }
  }
  std::optional<double> at(const Node& node) const {
    const auto found = some_.find(&node);
    return found == some_.end() ? all_ : std::optional(found->second);
  }

 private:
  std::optional<double> all_;
  std::map<const Node*, double> some_;
};

void set_tolerances(Subject& s, const SubjectOptions& options, const Common& common) {
  const auto rtol = std::make_shared<const PerLayer>(common, "--rtol", options.rtol, *s.model);
  const auto atol = std::make_shared<const PerLayer>(common, "--atol", options.atol, *s.model);
  s.tolerance = [=](const TensorPlace& place) {
    Tolerance t;
    t.rtol = rtol->at(place.at()).value_or(t.rtol);
    t.atol = atol->at(place.at());
    return t;
  };
  if (options.rtol.empty() && options.atol.empty()) return;
  s.allowance = [=](const TensorPlace& place, double reference) {
    const double relative = std::isfinite(reference) ? std::abs(reference) : 0;
    return atol->at(place.at()).value_or(0) + rtol->at(place.at()).value_or(0) * relative;
  };
}

/// The subject's inputs for the other model: by name, else in order.
std::vector<Tensor> inputs_for(const Model& other, const Facts& facts, const Subject& s) {
  std::vector<Tensor> inputs(other.parameters.size());
  if (inputs.size() != s.inputs.size())
    fail(Code::E0702, "the models must have the same number of inputs, but the first has {} and the second {}",
         s.inputs.size(), inputs.size());
  for (int k = 0; k < std::ssize(inputs); ++k) {
    const auto named = find_input(other, s.model->parameter_name(k));
    const auto to = named.value_or(k);
    const auto declared = facts.outputs[other.parameters[to]].at(0).type;
    const auto type = exchanged_type(other, declared, true);
    const auto& value = s.inputs[k];
    inputs[to] = type == value.type() || type == ElementType::dynamic || value.type() == ElementType::string
                     ? value
                     : convert(value, type);
  }
  for (int k = 0; k < std::ssize(inputs); ++k)
    if (!inputs[k])
      fail(Code::E0702, "input \"{}\" of the second model has no counterpart in the first",
           printable(other.parameter_name(k)));
  return inputs;
}

void refer_to_model(Subject& s, const std::string& path, const SubjectOptions& options, const Common& common) {
  ModelOptions other;
  other.model = path;
  const auto loaded = load_model(other, common);
  s.reference_model = loaded.model;
  const auto inputs = inputs_for(*loaded.model, loaded.facts, s);
  i64 bytes = 0;
  for (const auto& t : inputs) bytes += t.byte_size();
  auto limited = common;
  limited.budget = limits_of_run(common.budget, *loaded.model->graph, bytes);
  const auto values = reference_run(loaded.model, loaded.facts, inputs, options, limited);
  auto alignment = tools::align(*s.model, *loaded.model);
  if (!alignment.only_first.empty() && !alignment.only_second.empty())
    tools::align_by_values(alignment, reference_run(s.model, s.facts, s.inputs, options, s.limited), values);
  s.reference = tools::moved(values, alignment);
  tools::share_with_results(*s.model, s.reference);
  for (const auto* list : {&alignment.only_first, &alignment.only_second})
    for (const auto& t : *list) s.unaligned.push_back(t.model->path + (*t.model)[t.node].layer->name);
  if (s.reference.tensors().empty())
    fail(Code::E0705, "{}: nothing to compare: no layer has a counterpart in the model", printable(path));
}

bool is_model(const std::string& path) { return lower(path).ends_with(".xml"); }

}  // namespace

void add_subject(Flags& flags, SubjectOptions& o) {
  flags.shapes(o);
  add_inputs(flags, o);
  flags.text("--ref", o.reference, "REF",
             "the reference: an .npz, a folder of tensors (of `ovir run --dump-to`, or .npy and .pb files named after "
             "layers or tensors), or a model; default: the model itself, run on the reference tier");
  flags.text("--map", o.map, "FILE", "lines of NAME IN THE REFERENCE = NAME IN THE MODEL");
  add_execution(flags, o, "kernels of the model that is judged");
}

tools::Reference reference_run(const std::shared_ptr<const Model>& model, const Facts& facts,
                               const std::vector<Tensor>& inputs, const SubjectOptions& options, const Common& common) {
  auto how = compile_options(options, common);
  how.tier = Tier::reference;
  how.precision = Precision::f32;
  auto session = compile(model, facts, how);
  tools::Reference values;
  tools::keep_values(session, inputs, values);
  return values;
}

Subject prepare(const SubjectOptions& options, const Common& common, bool refer) {
  Subject s;
  if (!options.other.empty() && !options.reference.empty())
    throw UsageError("--ref: the second model is the reference already");
  if (!options.map.empty() && (options.reference.empty() || is_model(options.reference)))
    throw UsageError("--map needs --ref with saved tensors");
  auto loaded = load_model(options, common);
  s.model = loaded.model;
  s.facts = std::move(loaded.facts);
  set_tolerances(s, options, common);
  const bool of_model = !options.other.empty() || is_model(options.reference);
  if (!of_model && !options.reference.empty())
    s.reference = saved_reference(common, *s.model, options.reference, options.map);

  Inputs inputs(*s.model, s.facts, options, common.words);
  s.limited = inputs.limited(common, of_model ? 0 : size_on_disk(options.reference));
  const MemoryBudget::Scope budget(std::make_shared<MemoryBudget>(s.limited.budget.memory));
  s.inputs = inputs.step(0);
  for (const auto& text : inputs.take_notes()) note(common, text);
  s.session.emplace(compile(s.model, s.facts, compile_options(options, s.limited)));
  if (!refer) return s;
  if (of_model) {
    s.held_against = options.other.empty() ? options.reference : options.other;
    refer_to_model(s, s.held_against, options, common);
  } else if (options.reference.empty()) {
    s.held_against = "the reference tier";
    s.reference = reference_run(s.model, s.facts, s.inputs, options, s.limited);
  } else {
    s.held_against = options.reference;
  }
  return s;
}

}  // namespace ovir::app
