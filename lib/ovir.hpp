// ovir: the whole public surface. Load a model, look at what was inferred, run it.
//
//   ovir::Diagnostics said;
//   auto model = ovir::load("model.xml", {}, said);          // parse, resolve
//   auto facts = ovir::infer(*model, {}, said);              // check
//   if (said.errors() == 0) { auto session = ovir::compile(model, facts, {}); auto results = session.run(inputs); }
#pragma once
#include "diag/diagnostic.hpp"
#include "exec/session.hpp"
#include "graph/graph.hpp"
#include "model/model.hpp"
#include "passes/passes.hpp"
#include "tensor/tensor.hpp"
#include "xml/read.hpp"

namespace ovir {

/// The operations built in, sorted by type.
const Registry& operations();
/// The kernels of the fast tier that this build has.
std::span<const FastKernel> fast_kernels();

/// Reads and resolves a model. Null where not even a Graph could be read; otherwise `Model::complete` and the
/// diagnostics say whether it may be run.
std::shared_ptr<const Model> load(const std::string& path, const xml::ReadOptions& options, Diagnostics& diagnostics);
/// The same of a text in memory; its weights lie beside `source->path`.
std::shared_ptr<const Model> load(const std::shared_ptr<const SourceFile>& source, const xml::ReadOptions& options,
                                  Diagnostics& diagnostics);
Facts infer(const Model& model, const passes::InferOptions& options, Diagnostics& diagnostics);

struct CompileOptions {
  passes::Tier tier = passes::Tier::fast;
  bool observed = false;  ///< an observer will ask for layers that no result depends on
  bool repeated = false;  ///< run() will be called more than once
};
/// The model must be complete and inferred without errors.
Session compile(std::shared_ptr<const Model> model, const Facts& facts, const CompileOptions& options = {});

std::string_view version();

}  // namespace ovir
