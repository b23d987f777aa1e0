#include "ovir.hpp"

#include "fast/kernels.hpp"
#include "ops/registry.hpp"

namespace ovir {

const Registry& operations() {
  static const Registry registry{ops::all()};
  return registry;
}

std::span<const FastKernel> fast_kernels() { return fast::kernels(); }

namespace {

template <class Source>
std::shared_ptr<const Model> load_from(const Source& source, const xml::ReadOptions& options,
                                       Diagnostics& diagnostics) {
  const auto before = diagnostics.errors();
  auto graph = xml::read(source, options, diagnostics);
  if (!graph) return nullptr;
  auto model = passes::resolve(std::move(graph), operations(), diagnostics);
  if (diagnostics.errors() == before) return model;
  auto incomplete = std::make_shared<Model>(*model);
  incomplete->complete = false;
  return incomplete;
}

}  // namespace

std::shared_ptr<const Model> load(const std::string& path, const xml::ReadOptions& options, Diagnostics& diagnostics) {
  return load_from(path, options, diagnostics);
}

std::shared_ptr<const Model> load(const std::shared_ptr<const SourceFile>& source, const xml::ReadOptions& options,
                                  Diagnostics& diagnostics) {
  return load_from(source, options, diagnostics);
}

Facts infer(const Model& model, const passes::InferOptions& options, Diagnostics& diagnostics) {
  return passes::infer(model, options, diagnostics);
}

Session compile(std::shared_ptr<const Model> model, const Facts& facts, const CompileOptions& options) {
  return Session(
      passes::plan(std::move(model), facts, {options.tier, fast_kernels(), options.observed, options.repeated}),
      options.repeated);
}

std::string_view version() { return OVIR_VERSION; }

}  // namespace ovir
