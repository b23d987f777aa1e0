#include "ovir.hpp"

#include <algorithm>
#include <stdexcept>

#include "exec/shape_plans.hpp"
#include "fast/isa/narrow.hpp"
#include "fast/patterns.hpp"
#include "ops/registry.hpp"

namespace ovir {

const Registry& operations() {
  static const Registry registry{ops::all()};
  return registry;
}

namespace {

Registry registry_with(std::span<const OpDef* const> extensions) {
  for (const auto* op : extensions)
    if (op->set.empty() || op->set.starts_with("opset") || op->versions.empty())
      throw std::invalid_argument(
          fmt::format("extension {} must have a version and a set that is not an opset", op->type));
  return {operations().ops, extensions};
}

template <class Source>
std::shared_ptr<const Model> load_from(const Source& source, const xml::ReadOptions& options, Diagnostics& diagnostics,
                                       std::span<const OpDef* const> extensions) {
  const auto registry = registry_with(extensions);
  const auto before = diagnostics.errors();
  auto graph = xml::read(source, options, diagnostics);
  if (!graph) return nullptr;
  auto model = passes::resolve(std::move(graph), registry, diagnostics);
  if (diagnostics.errors() == before) return model;
  auto incomplete = std::make_shared<Model>(*model);
  incomplete->complete = false;
  return incomplete;
}

}  // namespace

std::shared_ptr<const Model> load(const std::string& path, const xml::ReadOptions& options, Diagnostics& diagnostics,
                                  std::span<const OpDef* const> extensions) {
  return load_from(path, options, diagnostics, extensions);
}

std::shared_ptr<const Model> load(const std::shared_ptr<const SourceFile>& source, const xml::ReadOptions& options,
                                  Diagnostics& diagnostics, std::span<const OpDef* const> extensions) {
  return load_from(source, options, diagnostics, extensions);
}

Facts infer(const Model& model, const passes::InferOptions& options, Diagnostics& diagnostics) {
  return passes::infer(model, options, diagnostics);
}

bool is_fast(Precision precision) { return precision != Precision::bf16 || fast::narrow_isa().has_bf16; }

namespace {

bool is_pattern(std::string_view name) {
  // The module of oneDNN's need not be installed.
  if (name.starts_with("onednn.")) return true;
  const auto all = fast::patterns::all();
  return std::any_of(all.begin(), all.end(), [&](const Pattern* p) { return p->name == name; });
}

void require_names(const std::vector<std::string>& without) {
  for (const auto& name : without)
    if (!is_optional_pass(name) && !is_pattern(name))
      throw std::invalid_argument(fmt::format("no pass or pattern to leave out is named \"{}\"", name));
}

void require_sound(const Model* model, const Facts& facts) {
  if (!model || !model->complete || !facts.sound || facts.outputs.size() != model->nodes.size())
    fail(Code::E0605, "the model cannot be run: loading or checking it has found errors");
}

/// Of what is sound. `pool`: packs weights; null: the caller alone. `made`: shared with other plans of the model.
std::shared_ptr<const Plan> plan_by(ThreadPool* pool, std::shared_ptr<const Model> model, const Facts& facts,
                                    const Options& options, const std::shared_ptr<MadeOfConstants>& made = nullptr) {
  require_names(options.without);
  PlanOptions plan_options;
  plan_options.tier = options.tier;
  plan_options.precision = options.precision;
  plan_options.expected_runs = options.expected_runs;
  plan_options.without = options.without;
  plan_options.until = options.until;
  plan_options.pool = pool;
  plan_options.made = made;
  if (options.tier == Tier::fast) plan_options.patterns = fast::patterns_for(plan_options);
  auto plan = make_plan(std::move(model), std::make_shared<const Facts>(facts), plan_options);
  if (made) made->forget_unused();
  return plan;
}

/// What packs weights as a plan is made; a plan for a single run in f32 packs few, and starts no threads for them.
ThreadPool* packers(const Options& options, Runtime& runtime) {
  const bool packs = options.expected_runs > 1 || options.precision != Precision::f32;
  return options.tier == Tier::fast && packs ? &runtime.pool() : nullptr;
}

/// Empty where the plan for all shapes serves as well.
PlanFor plan_for_shapes(const std::shared_ptr<const Model>& model, const Facts& facts, const Options& options,
                        const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<MadeOfConstants>& made) {
  if (options.tier != Tier::fast || !options.until.empty() || !ShapePlans::serve(*model, facts)) return {};
  return [model, options, runtime, made](std::span<const Shape> shapes) -> std::shared_ptr<const Plan> {
    passes::InferOptions given;
    given.compare_declared = false;
    for (int k = 0; k < std::ssize(shapes); ++k) given.shapes.emplace(k, PartialShape(shapes[k]));
    Diagnostics unused;
    const auto facts = passes::infer(*model, given, unused);
    return facts.sound ? plan_by(packers(options, *runtime), model, facts, options, made) : nullptr;
  };
}

}  // namespace

std::shared_ptr<const Plan> plan(std::shared_ptr<const Model> model, const Facts& facts, const Options& options) {
  require_sound(model.get(), facts);
  return plan_by(nullptr, std::move(model), facts, options);
}

Session compile(std::shared_ptr<const Model> model, const Facts& facts, const Options& options,
                std::shared_ptr<Runtime> runtime) {
  if (!runtime) throw std::invalid_argument("a session needs a runtime");
  require_sound(model.get(), facts);
  const MemoryBudget::Scope scope(runtime->memory());
  const auto made = std::make_shared<MadeOfConstants>();
  auto plan_for = plan_for_shapes(model, facts, options, runtime, made);
  auto for_all = options;
  // Plans for the shapes of a run pack weights; who cannot have one does without.
  if (plan_for) for_all.expected_runs = 1;
  auto plan = plan_by(packers(for_all, *runtime), std::move(model), facts, for_all, made);
  return Session(std::move(runtime), std::move(plan), std::move(plan_for));
}

Session compile(std::shared_ptr<const Model> model, const Facts& facts, const Options& options) {
  return compile(std::move(model), facts, options, std::make_shared<Runtime>(options.runtime));
}

std::string_view version() { return OVIR_VERSION; }

}  // namespace ovir
