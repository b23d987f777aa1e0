// ovir: load a model, look at what was inferred, run it.
//
//   ovir::Diagnostics diagnostics;
//   auto model = ovir::load("model.xml", {}, diagnostics);               // parse, resolve
//   auto facts = ovir::infer(*model, {}, diagnostics);                   // check
//   auto session = ovir::compile(model, facts, {});                      // throws Failure where there were errors
//   auto results = session.run({{"image", ovir::Tensor::of<float>(ovir::ElementType::f32, {1, 3, 224, 224}, pixels)}});
//
// A Model, Facts and a Plan are immutable and may be shared by threads; a Session is used by one thread at a time; a
// Runtime may be shared. Whatever is handed out keeps alive what it needs.
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

/// Reads and resolves a model. Null where not even a Graph could be read; otherwise `Model::complete` and the
/// diagnostics say whether it may be run. `extensions`: operations of your own, which must outlive the model. Throws
/// std::invalid_argument where one has no set or version, or an opset's name as its set.
[[nodiscard]] std::shared_ptr<const Model> load(const std::string& path, const xml::ReadOptions& options,
                                                Diagnostics& diagnostics,
                                                std::span<const OpDef* const> extensions = {});
/// The same of a text in memory; its weights lie beside `source->path`.
[[nodiscard]] std::shared_ptr<const Model> load(const std::shared_ptr<const SourceFile>& source,
                                                const xml::ReadOptions& options, Diagnostics& diagnostics,
                                                std::span<const OpDef* const> extensions = {});
/// Judges a model: element types, shapes and small values of every output.
Facts infer(const Model& model, const passes::InferOptions& options, Diagnostics& diagnostics);

/// Whether this processor has instructions for what a plan of that precision computes. Without them bf16 is rounded
/// alike, but takes longer than f32.
bool is_fast(Precision precision);

struct Options {
  Tier tier = Tier::fast;
  Precision precision = Precision::f32;
  /// How often the session will run: packing weights and folding constants pays only over several runs.
  i64 expected_runs = 1;
  /// Passes and patterns to leave out, by name: "fold", "fuse", "choose", "layout", "caches", a file's of
  /// fast/patterns, or "rows": small steps are not run at the same time (Kernel::rows).
  std::vector<std::string> without{};
  /// The last pass to run: to look at a plan that is half made. Empty: all.
  std::string until{};
  RuntimeOptions runtime{};
};

/// The plan of a model, to be shared by sessions. Throws a Failure (E0605) where the model is not complete or its
/// inference had errors, std::invalid_argument where an option names a pass or pattern that does not exist.
[[nodiscard]] std::shared_ptr<const Plan> plan(std::shared_ptr<const Model> model, const Facts& facts,
                                               const Options& options = {});
/// A plan with a session and a runtime of its own.
[[nodiscard]] Session compile(std::shared_ptr<const Model> model, const Facts& facts, const Options& options = {});
/// The same on a runtime that sessions share, whose options count instead of options.runtime.
[[nodiscard]] Session compile(std::shared_ptr<const Model> model, const Facts& facts, const Options& options,
                              std::shared_ptr<Runtime> runtime);

std::string_view version();

}  // namespace ovir
